import { useNavigate } from '@tanstack/react-router';

import { environment } from '../ui/environment.ts';
import { ACCOUNT, Frame, type Group } from '../ui/frame.tsx';
import { Polled, type Live } from '../ui/live.tsx';
import { ROLES } from '../ui/role-text.ts';
import { SearchBox } from '../ui/search-box.tsx';
import { useOperator } from './operator.ts';
import { text } from './text.ts';

/** The screen that one begins with. */
export const HOME = '/queue';

/** The sidebar. Every role may read every screen. */
const GROUPS: readonly Group[] = [
  {
    title: text.work,
    entries: [
      { to: '/overview', label: text.overview, icon: 'chart' },
      { to: '/queue', label: text.queue, icon: 'flag' },
      { to: '/stalled', label: text.stalled, icon: 'refresh' },
      { to: '/proposals', label: text.proposals, icon: 'check' },
      { to: '/find', label: text.find, icon: 'search' },
    ],
  },
  {
    title: text.money,
    entries: [
      { to: '/transactions', label: text.transactions, icon: 'list' },
      { to: '/refunds', label: text.refunds, icon: 'back' },
      { to: '/withdrawals', label: text.withdrawals, icon: 'out' },
      { to: '/settlements', label: text.settlements, icon: 'bank' },
    ],
  },
  {
    title: text.reconciliation,
    entries: [
      { to: '/reconciliation', label: text.days, icon: 'calendar' },
      { to: '/discrepancies', label: text.discrepancies, icon: 'columns' },
      { to: '/receipts', label: text.receipts, icon: 'wallet' },
    ],
  },
  { title: text.webhooks, entries: [{ to: '/deliveries', label: text.deliveries, icon: 'send' }] },
  {
    title: text.administration,
    entries: [
      { to: '/merchants', label: text.merchants, icon: 'people' },
      { to: '/maintenance', label: text.maintenance, icon: 'switch' },
      { to: '/holidays', label: text.holidays, icon: 'calendar' },
      { to: '/operators', label: text.operators, icon: 'person' },
      { to: '/audit', label: text.audit, icon: 'shield' },
    ],
  },
  { ...ACCOUNT, entries: [...ACCOUNT.entries, { to: '/keys', label: text.ownKeys, icon: 'key' }] },
];

/** The queue and dead letters are also read in intervals: what adds to them is not only of these kinds. */
const LIVE: Live = {
  address: `/api/ops/stream?environment=${environment}`,
  headers: {},
  paths: {
    transaction: ['/api/ops/transactions'],
    withdrawal: ['/api/ops/withdrawals', '/api/ops/queue'],
    settlement: ['/api/ops/settlements', '/api/ops/queue'],
    event: ['/api/ops/webhooks/deliveries'],
  },
};

const KEYS = [['/ Ctrl-K', text.keyFind]] as const;

/** The frame of every screen. */
export function Shell() {
  const { user, role } = useOperator();
  const navigate = useNavigate();
  return (
    <Frame
      name={text.console}
      groups={GROUPS}
      home={HOME}
      keys={KEYS}
      search={
        <SearchBox label={text.findLabel} onSearch={(q) => void navigate({ to: '/find', search: { q } as never })} />
      }
      notice={<Polled live={LIVE} />}
      user={user}
      role={ROLES[role]}
    />
  );
}
