import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useState } from 'react';

import { Note } from '../ui/badge.tsx';
import { Button, buttonStyle, IconButton } from '../ui/button.tsx';
import { Empty } from '../ui/feedback.tsx';
import { Icon, type IconName } from '../ui/icon.tsx';
import { useShortcuts } from '../ui/shortcuts.ts';
import { Toasts } from '../ui/toast.tsx';
import { environment, otherBase } from './environment.ts';
import { Help } from './help.tsx';
import { LanguageChoice } from './language-choice.tsx';
import { useMember } from './member.ts';
import { PersonMenu } from './person-menu.tsx';
import { StepUp } from './step-up-dialog.tsx';
import { text } from './text.ts';

/** `permission`: undefined for everybody. */
type Entry = { to: string; label: string; icon: IconName; permission?: string };

/** The sidebar: screens of which the person may see something. */
const GROUPS: readonly { title: string; entries: readonly Entry[] }[] = [
  {
    title: text.start,
    entries: [{ to: '/get-started', label: text.getStarted, icon: 'flag', permission: 'transactions:read' }],
  },
  {
    title: text.payments,
    entries: [
      { to: '/overview', label: text.overview, icon: 'chart', permission: 'transactions:read' },
      { to: '/transactions', label: text.transaction, icon: 'list', permission: 'transactions:read' },
    ],
  },
  {
    title: text.money,
    entries: [
      { to: '/balance', label: text.balance, icon: 'wallet', permission: 'balance:read' },
      { to: '/withdrawals', label: text.withdrawals, icon: 'out', permission: 'withdrawals:read' },
      { to: '/settlements', label: text.settlements, icon: 'bank', permission: 'settlements:read' },
      { to: '/reports', label: text.reports, icon: 'download', permission: 'reports:read' },
    ],
  },
  {
    title: text.developers,
    entries: [
      { to: '/keys', label: text.keysOfApi, icon: 'key', permission: 'keys:read' },
      { to: '/webhooks', label: text.webhooks, icon: 'link', permission: 'webhooks:read' },
      { to: '/events', label: text.events, icon: 'send', permission: 'webhooks:read' },
    ],
  },
  {
    title: text.business,
    entries: [
      { to: '/channels', label: text.channels, icon: 'switch', permission: 'channels:read' },
      { to: '/verification', label: text.verification, icon: 'shield', permission: 'kyc:read' },
      { to: '/bank-account', label: text.bankAccount, icon: 'bank', permission: 'bank:read' },
      { to: '/team', label: text.team, icon: 'people', permission: 'team:read' },
    ],
  },
  {
    title: text.person,
    entries: [
      { to: '/security', label: text.security, icon: 'lock' },
      { to: '/profile', label: text.profile, icon: 'person' },
    ],
  },
];

const isLive = environment === 'live';

/** The frame of every screen: top bar, environment, sidebar. */
export function Shell() {
  /** The path at which the menu of a narrow screen was opened: another one closes it. */
  const [menuPath, setMenuPath] = useState<string | null>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { pathname } = useLocation();
  const isMenuOpen = menuPath === pathname;
  useShortcuts({ '?': () => setHelpOpen(true) });
  const { merchant, twoFactor } = useMember();
  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#content" className="sr-only focus:not-sr-only focus:p-2">
        {text.skip}
      </a>
      <div className="top-0 z-10 flex flex-col lg:sticky lg:h-(--frame-height)">
        <TopBar
          onMenu={() => setMenuPath(isMenuOpen ? null : pathname)}
          isMenuOpen={isMenuOpen}
          onHelp={() => setHelpOpen(true)}
        />
        <EnvironmentBar />
      </div>
      <div className="flex flex-1 max-lg:flex-col">
        <Sidebar isOpen={isMenuOpen} />
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 p-3 sm:p-5">
          {isLive && twoFactor.requiredForLive && !twoFactor.enabled && (
            <div className="mb-4">
              <Note tone="warn">
                {text.twoFactorNeeded}{' '}
                <Link to="/security" className="underline">
                  {text.security}
                </Link>
              </Note>
            </div>
          )}
          {isLive && !merchant.liveEnabled && (
            <div className="mb-4">
              <Note tone="warn">
                {text.liveNotEnabled}{' '}
                <a href="/test/get-started" className="underline">
                  {text.getStarted}
                </a>
              </Note>
            </div>
          )}
          <Outlet />
        </main>
      </div>
      {isHelpOpen && <Help onClose={() => setHelpOpen(false)} />}
      <StepUp />
      <Toasts />
    </div>
  );
}

type TopBarProps = { onMenu: () => void; isMenuOpen: boolean; onHelp: () => void };

function TopBar({ onMenu, isMenuOpen, onHelp }: TopBarProps) {
  const { merchant } = useMember();
  return (
    <header className="flex flex-1 items-center gap-1 border-b border-line bg-surface px-2 py-1 sm:px-4">
      <IconButton
        icon="menu"
        label={text.menu}
        className="lg:hidden"
        aria-expanded={isMenuOpen}
        aria-controls="sidebar"
        onClick={onMenu}
      />
      <Icon name="bolt" className="size-5 text-brand max-sm:hidden" />
      <span className="min-w-0 flex-1 truncate ps-1 text-base font-semibold">{merchant.name}</span>
      <div className="max-sm:hidden">
        <LanguageChoice />
      </div>
      <IconButton icon="help" label={text.help} onClick={onHelp} />
      <PersonMenu />
    </header>
  );
}

/** Which environment this is, and the way to the other one. */
function EnvironmentBar() {
  return (
    <section
      aria-label={isLive ? text.live : text.test}
      className={`flex flex-wrap items-center justify-center gap-x-3 px-3 py-1 text-white ${isLive ? 'bg-live' : 'bg-test'}`}
    >
      <strong className="rounded bg-white px-2 font-bold tracking-wide text-[#14211b]">
        {isLive ? text.live : text.test}
      </strong>
      <span className="max-sm:sr-only">{isLive ? text.liveData : text.testData}</span>
      <a href={`${otherBase}/transactions`} className="underline">
        {isLive ? text.switchToTest : text.switchToLive}
      </a>
    </section>
  );
}

function Sidebar({ isOpen }: { isOpen: boolean }) {
  const { may } = useMember();
  const groups = GROUPS.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ permission }) => permission === undefined || may(permission)),
  }));
  return (
    <nav
      id="sidebar"
      aria-label={text.mainNavigation}
      className={`border-line bg-surface max-lg:border-b lg:w-56 lg:border-e ${isOpen ? '' : 'max-lg:hidden'}`}
    >
      <div className="top-(--frame-height) p-3 lg:sticky lg:max-h-[calc(100dvh-var(--frame-height))] lg:overflow-y-auto">
        {groups
          .filter(({ entries }) => entries.length > 0)
          .map(({ title, entries }) => (
            <div key={title} className="mb-4">
              <p className="px-2 pb-1 text-xs font-semibold text-quiet">{title}</p>
              <ul>
                {entries.map(({ to, label, icon }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      className="flex min-h-9 items-center gap-2 rounded-md px-2 font-medium hover:bg-sunken"
                      activeProps={{ className: 'bg-brand-soft text-brand' }}
                    >
                      <Icon name={icon} />
                      {label}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          ))}
      </div>
    </nav>
  );
}

/** A page that does not exist. */
export function NotFound() {
  return (
    <Empty title={text.notFound}>
      <Link to="/transactions" className={buttonStyle('primary')}>
        {text.toTransactions}
      </Link>
    </Empty>
  );
}

/** A page whose code failed. */
export function Broken() {
  return (
    <Empty title={text.broken}>
      <Button onClick={() => location.reload()}>{text.reload}</Button>
    </Empty>
  );
}
