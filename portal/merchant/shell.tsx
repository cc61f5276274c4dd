import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { createPortal } from 'react-dom';

import { Note } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { base, environment } from '../ui/environment.ts';
import { failureText } from '../ui/feedback.tsx';
import { SelectField } from '../ui/field.tsx';
import { text as frame } from '../ui/frame-text.ts';
import { ACCOUNT, Frame, type Entry } from '../ui/frame.tsx';
import { Polled, type Live } from '../ui/live.tsx';
import { ROLES } from '../ui/role-text.ts';
import { useShortcuts } from '../ui/shortcuts.ts';
import { Find } from './find.tsx';
import { headers } from './headers.ts';
import { HOME } from './home.ts';
import { useMember } from './member.ts';
import { call, useRead } from './routes.ts';
import { text } from './text.ts';

/** `permission`: undefined for everybody. */
type MemberEntry = Entry & { permission?: string };

/** The sidebar: screens of which the person may see something. */
const GROUPS: readonly { title: string; entries: readonly MemberEntry[] }[] = [
  {
    title: text.start,
    entries: [{ to: '/get-started', label: text.getStarted, icon: 'flag', permission: 'transactions:read' }],
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
      { to: '/keys', label: text.keysOfApi, icon: 'key', permission: 'keys:read' },
      { to: '/webhooks', label: text.webhooks, icon: 'link', permission: 'webhooks:read' },
      { to: '/events', label: text.events, icon: 'send', permission: 'webhooks:read' },
      { to: '/requests', label: text.requestLog, icon: 'terminal', permission: 'requests:read' },
    ],
  },
  {
    title: text.business,
    entries: [
      { to: '/channels', label: text.channels, icon: 'switch', permission: 'channels:read' },
      { to: '/verification', label: text.verification, icon: 'shield', permission: 'kyc:read' },
      { to: '/bank-account', label: text.bankAccount, icon: 'bank', permission: 'bank:read' },
      { to: '/team', label: text.team, icon: 'people', permission: 'team:read' },
      { to: '/audit', label: text.audit, icon: 'history', permission: 'audit:read' },
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
  const { merchant, twoFactor, user, role, may, apiUrl } = useMember();
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
    >
      {isLive && twoFactor.requiredForLive && !twoFactor.enabled && (
        <Warning>
          {text.twoFactorNeeded}{' '}
          <Link to="/security" className="underline">
            {frame.security}
          </Link>
        </Warning>
      )}
      {isLive && !merchant.liveEnabled && (
        <Warning>
          {text.liveNotEnabled}{' '}
          <a href="/test/get-started" className="underline">
            {text.getStarted}
          </a>
        </Warning>
      )}
    </Frame>
  );
}

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

function Warning({ children }: { children: ReactNode }) {
  return (
    <div className="mb-4">
      <Note tone="warn">{children}</Note>
    </div>
  );
}
