import { useMutation } from '@tanstack/react-query';
import { Link, useLocation } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { createPortal } from 'react-dom';

import { Button, buttonStyle } from '../ui/button.tsx';
import { base, environment } from '../ui/environment.ts';
import { Empty, failureText } from '../ui/feedback.tsx';
import { SelectField } from '../ui/field.tsx';
import { ACCOUNT, Frame, type Entry } from '../ui/frame.tsx';
import { Polled, type Live } from '../ui/live.tsx';
import { Page } from '../ui/page.tsx';
import { ROLES } from '../ui/role-text.ts';
import { useShortcuts } from '../ui/shortcuts.ts';
import { text as kit } from '../ui/text.ts';
import { Find } from './find.tsx';
import { headers } from './headers.ts';
import { HOME } from './home.ts';
import { useMember } from './member.ts';
import { call, useRead } from './routes.ts';
import { text } from './text.ts';

type MemberEntry = Entry & {
  /** undefined: for everybody. */
  permission?: string;
  /** What live needs for it: by default a verified merchant and the person's two factors. */
  liveNeeds?: 'nothing' | 'twoFactor';
};

/** The sidebar: screens of which the person may see something. */
const GROUPS: readonly { title: string; entries: readonly MemberEntry[] }[] = [
  {
    title: text.start,
    entries: [
      {
        to: '/get-started',
        label: text.getStarted,
        icon: 'flag',
        permission: 'transactions:read',
        liveNeeds: 'nothing',
      },
    ],
  },
  {
    title: text.payments,
    entries: [
      { to: '/overview', label: text.overview, icon: 'chart', permission: 'transactions:read' },
      { to: '/transactions', label: text.transaction, icon: 'list', permission: 'transactions:read' },
      { to: '/refunds', label: text.refunds, icon: 'back', permission: 'refunds:read' },
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
      { to: '/keys', label: text.keysOfApi, icon: 'key', permission: 'keys:read', liveNeeds: 'nothing' },
      { to: '/webhooks', label: text.webhooks, icon: 'link', permission: 'webhooks:read' },
      { to: '/events', label: text.events, icon: 'send', permission: 'webhooks:read' },
      { to: '/requests', label: text.requestLog, icon: 'terminal', permission: 'requests:read' },
    ],
  },
  {
    title: text.business,
    entries: [
      { to: '/channels', label: text.channels, icon: 'switch', permission: 'channels:read' },
      { to: '/verification', label: text.verification, icon: 'shield', permission: 'kyc:read', liveNeeds: 'twoFactor' },
      { to: '/bank-account', label: text.bankAccount, icon: 'bank', permission: 'bank:read', liveNeeds: 'twoFactor' },
      { to: '/team', label: text.team, icon: 'people', permission: 'team:read', liveNeeds: 'nothing' },
      { to: '/audit', label: text.audit, icon: 'history', permission: 'audit:read', liveNeeds: 'nothing' },
    ],
  },
  ACCOUNT,
];

const KEYS = [
  ['/ Ctrl-K', text.keySearch],
  ['n', text.keyNewPayment],
] as const;

const LIVE: Live = {
  address: '/api/portal/stream',
  headers,
  paths: {
    transaction: ['/api/checkout/txns', '/api/checkout/refunds', '/api/portal/own-requests'],
    withdrawal: ['/api/checkout/withdrawal', '/api/portal/own-requests'],
    settlement: ['/api/checkout/settlement'],
    event: ['/api/checkout/webhooks/events'],
  },
};

const isLive = environment === 'live';
const MAILS_READ_EVERY_MS = 15_000;

/** The frame of every screen. */
export function Shell() {
  const { merchant, user, role, may, apiUrl } = useMember();
  const groups = GROUPS.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ permission }) => permission === undefined || may(permission)),
  }));
  return (
    <Frame
      name={merchant.name}
      groups={groups}
      home={HOME}
      keys={KEYS}
      docsUrl={`${apiUrl}/docs`}
      search={<Search screens={groups.flatMap(({ entries }) => entries)} />}
      notice={
        <>
          <Polled live={LIVE} />
          <LocalMails />
        </>
      }
      user={user}
      role={role ? ROLES[role] : ''}
      choices={<MerchantChoice />}
      closed={useClosed()}
    />
  );
}

/** Why a screen shows nothing: the person's role, or what live needs, with the step that opens it. undefined: it is open. */
function useClosed(): ReactNode {
  const { merchant, twoFactor, whyNot } = useMember();
  const { pathname } = useLocation();
  const entry = GROUPS.flatMap(({ entries }) => entries).find(({ to }) => `${pathname}/`.startsWith(`${to}/`));
  const needs = entry?.liveNeeds;
  const ofRole = entry?.permission && whyNot(entry.permission);
  if (entry && ofRole) return <Closed title={entry.label} why={kit.notPermitted} help={ofRole} />;
  if (!isLive || !entry || ACCOUNT.entries.includes(entry) || needs === 'nothing') return undefined;
  if (!merchant.liveEnabled && needs !== 'twoFactor') {
    return (
      <Closed title={entry.label} why={kit.liveNotOpen} help={text.liveNotOpenHelp}>
        <a href="/test/get-started" className={buttonStyle('primary')}>
          {text.seeMissing}
        </a>
      </Closed>
    );
  }
  if (!twoFactor.requiredForLive || twoFactor.enabled) return undefined;
  return (
    <Closed title={entry.label} why={text.twoFactorNeeded} help={text.twoFactorNeededHelp}>
      <Link to="/security" className={buttonStyle('primary')}>
        {text.setUpTwoFactor}
      </Link>
    </Closed>
  );
}

type ClosedProps = { title: string; why: string; help: string; children?: ReactNode };

const Closed = ({ title, why, help, children }: ClosedProps) => (
  <Page title={title}>
    <div className="card">
      <Empty title={why}>
        <p>{help}</p>
        {children}
      </Empty>
    </div>
  </Page>
);

/** The merchants of a person who belongs to several. Changing it loads the page afresh, so that their data never mixes. */
function MerchantChoice() {
  const { merchant, memberships } = useMember();
  const change = useMutation({
    mutationFn: (merchantId: string) => call('POST /api/portal/switch', { body: { merchantId } }),
    onSuccess: () => location.assign(base + HOME),
  });
  if (memberships.length < 2) return null;
  return (
    <SelectField
      label={text.merchant}
      choices={memberships.map(({ merchantId, name }) => [merchantId, name] as const)}
      value={(change.isError ? undefined : change.variables) ?? merchant.merchantId}
      disabled={change.isPending || change.isSuccess}
      error={change.error === null ? undefined : failureText(change.error)}
      onChange={({ target }) => change.mutate(target.value)}
    />
  );
}

/** The search is part of the first script: letters that follow its key at once would be lost while it is loaded. */
function Search({ screens }: { screens: readonly Entry[] }) {
  const [isOpen, setOpen] = useState(false);
  const open = (): void => setOpen(true);
  useShortcuts({ '/': open, 'Ctrl+k': open });
  return (
    <>
      <Button icon="search" onClick={open} aria-keyshortcuts="/ Control+K">
        <span className="max-sm:sr-only">{text.search}</span>
        <kbd
          aria-hidden="true"
          className="ms-4 rounded border border-line px-1 font-mono text-xs text-quiet max-sm:hidden"
        >
          /
        </kbd>
      </Button>
      {isOpen &&
        createPortal(
          // Outside of the top bar, which is a landmark.
          <Find screens={screens} onClose={() => setOpen(false)} />,
          document.body,
        )}
    </>
  );
}

/** The mails of a local installation, which sends none. */
function LocalMails() {
  const { mailCount } = useMember();
  const me = useRead('GET /api/portal/me', {}, { everyMs: MAILS_READ_EVERY_MS, enabled: mailCount !== undefined });
  if (mailCount === undefined) return null;
  return (
    <a href="/dev/mail" className="underline">
      {text.mails(me.data?.data.mailCount ?? mailCount)}
    </a>
  );
}
