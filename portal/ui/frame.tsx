import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useRef, useState, type ReactNode } from 'react';

import { IconButton } from './button.tsx';
import { environment, otherBase } from './environment.ts';
import { text } from './frame-text.ts';
import { Help, type KeyHelp } from './help.tsx';
import { Icon, type IconName } from './icon.tsx';
import { LanguageChoice } from './language-choice.tsx';
import { Owner } from './page.tsx';
import { PersonMenu } from './person-menu.tsx';
import { SessionEnded } from './session-ended.tsx';
import { useShortcuts } from './shortcuts.ts';
import { StepUp } from './step-up-dialog.tsx';
import { Toasts } from './toast.tsx';

/** A screen in the sidebar. */
export type Entry = { to: string; label: string; icon: IconName };
/** Screens under one heading; one without screens is left out. */
export type Group = { title: string; entries: readonly Entry[] };

type Props = {
  /** Whose pages these are. */
  name: string;
  groups: readonly Group[];
  /** The screen that a change of the environment leads to. */
  home: `/${string}`;
  keys: readonly KeyHelp[];
  /** Where the API is described. */
  docsUrl?: string;
  /** In the top bar. */
  search?: ReactNode;
  /** The signed-in person. */
  user: { name: string; email: string };
  role: string;
  /** In the menu of the person. */
  choices?: ReactNode;
  /** Beside the environment. */
  notice?: ReactNode;
  /** In place of the screen, where it cannot be used. */
  closed?: ReactNode;
  /** Above the screen. */
  children?: ReactNode;
};

/** The screens of a person's own account. */
export const ACCOUNT: Group = {
  title: text.person,
  entries: [
    { to: '/security', label: text.security, icon: 'lock' },
    { to: '/profile', label: text.profile, icon: 'person' },
  ],
};

const isLive = environment === 'live';

/** The frame of every screen: top bar, environment, sidebar. */
export function Frame(props: Props) {
  const { name, groups, home, keys, docsUrl, search, user, role, choices, notice, closed, children } = props;
  /** The path at which the menu of a narrow screen was opened: another one closes it. */
  const [menuPath, setMenuPath] = useState<string | null>(null);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const { pathname } = useLocation();
  const isMenuOpen = menuPath === pathname;
  const menuButton = useRef<HTMLButtonElement>(null);
  const closeMenu = (): void => {
    setMenuPath(null);
    menuButton.current?.focus();
  };
  useShortcuts({ '?': () => setHelpOpen(true), ...(isMenuOpen && { Escape: closeMenu }) });
  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#content" className="sr-only focus:not-sr-only focus:p-2">
        {text.skip}
      </a>
      <div className="top-0 z-10 flex flex-col lg:sticky lg:h-(--frame-height)">
        <header className="flex flex-1 items-center gap-1 border-b border-line bg-surface px-2 py-1 sm:px-4">
          <IconButton
            ref={menuButton}
            icon="menu"
            label={text.menu}
            className="lg:hidden"
            aria-expanded={isMenuOpen}
            aria-controls="sidebar"
            onClick={() => setMenuPath(isMenuOpen ? null : pathname)}
          />
          <Icon name="bolt" className="size-5 text-brand max-sm:hidden" />
          <span className="min-w-0 flex-1 truncate ps-1 text-base font-semibold max-sm:has-[~search]:hidden">
            {name}
          </span>
          {search}
          <div className="max-sm:hidden">
            <LanguageChoice />
          </div>
          <IconButton icon="help" label={text.help} onClick={() => setHelpOpen(true)} />
          <PersonMenu user={user} role={role}>
            {choices}
          </PersonMenu>
        </header>
        <EnvironmentBar home={home}>{notice}</EnvironmentBar>
      </div>
      <div className="flex flex-1 max-lg:flex-col">
        <Sidebar isOpen={isMenuOpen} groups={groups} />
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 p-3 sm:p-5">
          {children}
          <Owner value={name}>{closed ?? <Outlet />}</Owner>
          <StepUp />
          <SessionEnded />
        </main>
      </div>
      {isHelpOpen && <Help more={keys} docsUrl={docsUrl} onClose={() => setHelpOpen(false)} />}
      <Toasts />
    </div>
  );
}

/** Which environment this is, and the way to the other one. */
function EnvironmentBar({ home, children }: { home: string; children: ReactNode }) {
  return (
    <section
      aria-label={isLive ? text.live : text.test}
      className={`flex flex-wrap items-center justify-center gap-x-3 px-3 py-1 text-white ${isLive ? 'bg-live' : 'bg-test'}`}
    >
      <strong className="rounded bg-white px-2 font-bold tracking-wide text-[#14211b]">
        {isLive ? text.live : text.test}
      </strong>
      <span className="max-sm:sr-only">{isLive ? text.liveData : text.testData}</span>
      <a href={otherBase + home} className="underline">
        {isLive ? text.switchToTest : text.switchToLive}
      </a>
      {children}
    </section>
  );
}

function Sidebar({ isOpen, groups }: { isOpen: boolean; groups: readonly Group[] }) {
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
