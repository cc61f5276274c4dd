import { Link } from '@tanstack/react-router';

import { Badge } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { DELIVERY_TEXTS, DELIVERY_TONES } from '../../ui/delivery-status.ts';
import { birr } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';
import { StatusBadge } from '../../ui/transaction-state.tsx';
import { useRead, type TransactionRow } from '../routes.ts';
import { text } from './text.ts';

const POLL_MS = 3_000;

/** A paid transaction with its events and whether they were delivered. */
export function Arrival({ transaction }: { transaction: TransactionRow }) {
  const { transactionId, transactionDate, checkoutOrderNo, amount, status, createdAt } = transaction;
  const query = { resourceId: transactionId, startDate: transactionDate, limit: 20 };
  const events = useRead('GET /api/checkout/webhooks/events', { query }, { everyMs: POLL_MS }).data?.data;
  const isUnsent = events?.every((event) => event.status === 'NO_SUBSCRIBERS');
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <code className="font-mono">{checkoutOrderNo}</code> {birr(amount)} <StatusBadge status={status} />
        <Time at={createdAt} />
      </p>
      {isUnsent ? (
        <p>{text.noWebhook}</p>
      ) : (
        <ul className="flex flex-col gap-1">
          {events?.map(({ eventId, event, status: delivery }) => (
            <li key={eventId} className="flex flex-wrap items-center gap-2">
              <code className="font-mono text-xs">{event}</code>
              <Badge tone={DELIVERY_TONES[delivery]}>{DELIVERY_TEXTS[delivery]}</Badge>
            </li>
          ))}
        </ul>
      )}
      <Link to="/transactions/$transactionId" params={{ transactionId }} className={buttonStyle()}>
        {text.toTransaction}
      </Link>
    </>
  );
}
