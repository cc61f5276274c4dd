import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Badge, type Tone } from '../../ui/badge.tsx';
import { lastDays } from '../../ui/days.ts';
import { Panel } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { useMember } from '../member.ts';
import { useRead, type Subscription } from '../routes.ts';
import { text as webhooks } from '../webhooks/text.ts';
import { text } from './text.ts';

const DAYS = 90;
const LINK = 'text-brand hover:underline';

/** A line with the number of things that wait, which leads to them. */
function Line({ count, children }: { count: number | undefined; children: ReactNode }) {
  return (
    <li className="flex justify-between gap-2 border-b border-line py-1 last:border-0">
      {children}
      <span className="font-semibold tabular-nums">{count === undefined ? '…' : formatCount(count)}</span>
    </li>
  );
}

const LISTS = {
  withdrawals: { endpoint: 'GET /api/checkout/withdrawal', permission: 'withdrawals:read' },
  refunds: { endpoint: 'GET /api/checkout/refunds', permission: 'refunds:read' },
  settlements: { endpoint: 'GET /api/checkout/settlement', permission: 'settlements:read' },
  events: { endpoint: 'GET /api/checkout/webhooks/events', permission: 'webhooks:read' },
} as const;

type FoundProps = { list: keyof typeof LISTS; filter: Record<string, string>; label: string };

/** The number of rows of a list that a filter finds. */
function Found({ list, filter, label }: FoundProps) {
  const { may } = useMember();
  const { endpoint, permission } = LISTS[list];
  const enabled = may(permission);
  const query = { ...lastDays(DAYS), ...filter };
  const found = useRead(endpoint, { query: { ...query, limit: 1 } }, { everyMs: REFRESH_MS, enabled });
  if (!enabled) return null;
  return (
    <Line count={found.data?.pagination?.total}>
      <Link to={`/${list}`} search={query} className={LINK}>
        {label}
      </Link>
    </Line>
  );
}

/** What has not ended yet, of the last 90 days. */
export function Waiting() {
  const transactions = { ...lastDays(DAYS), currency: 'ETB' };
  const options = { everyMs: REFRESH_MS };
  const pending = useRead('GET /api/checkout/txns/summary', { query: { ...transactions, status: 'PENDING' } }, options);
  const held = useRead(
    'GET /api/checkout/txns/summary',
    { query: { ...transactions, status: 'ALL', held: 'true' } },
    options,
  );
  return (
    <Panel title={text.waits}>
      <ul className="flex flex-col">
        <Line count={pending.data?.data.total.count}>
          <Link to="/transactions" search={{ status: 'PENDING', range: '90d' }} className={LINK}>
            {text.pending}
          </Link>
        </Line>
        <Line count={held.data?.data.total.count}>
          <Link to="/transactions" search={{ held: 'true', range: '90d' }} className={LINK}>
            {text.held}
          </Link>
        </Line>
        <Found list="withdrawals" filter={{ status: 'PENDING' }} label={text.withdrawals} />
        <Found list="withdrawals" filter={{ stage: 'AWAITING_CONFIRMATION' }} label={text.toConfirm} />
        <Found list="refunds" filter={{ stage: 'AWAITING_CONFIRMATION' }} label={text.refundsToConfirm} />
        <Found list="settlements" filter={{ status: 'REQUESTED,APPROVED,PROCESSING' }} label={text.settlements} />
        <Found list="events" filter={{ status: 'FAILED' }} label={text.undelivered} />
      </ul>
    </Panel>
  );
}

const TONES: Record<Subscription['health']['state'], Tone> = { HEALTHY: 'good', FAILING: 'bad', UNVERIFIED: 'quiet' };

/** The receivers of webhooks and how they answer. */
export function Endpoints() {
  const subscriptions = useRead('GET /api/checkout/webhooks/subscriptions', {}, { everyMs: REFRESH_MS });
  return (
    <Panel title={text.endpoints}>
      <Loaded query={subscriptions} skeletonRows={2}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-quiet">{text.noEndpoints}</p>
          ) : (
            <ul className="flex flex-col">
              {data.map(({ subscriptionId, url, sandboxReceiver, active, health: { state, waiting } }) => (
                <li key={subscriptionId} className="flex flex-wrap justify-between gap-2 py-1">
                  <Link to="/webhooks" className={LINK}>
                    {sandboxReceiver ? webhooks.receiver : url.replace(/^https?:[/][/]/, '')}
                  </Link>
                  <span className="inline-flex gap-2">
                    {waiting > 0 && <span className="text-quiet">{text.waitingDeliveries(waiting)}</span>}
                    <Badge tone={active ? TONES[state] : 'quiet'}>{active ? webhooks[state] : webhooks.inactive}</Badge>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}
