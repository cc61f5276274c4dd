import { Badge } from '../../ui/badge.tsx';
import { DELIVERY_TEXTS, DELIVERY_TONES } from '../../ui/delivery-status.ts';
import { formatCount } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import type { Delivery } from '../routes.ts';
import { text as shared } from '../text.ts';
import { text } from './text.ts';

type Statuses = Pick<Delivery, 'status' | 'deadLetteredAt' | 'dismissedAt'>;

/** The state of a delivery; a dead letter is named as such. */
export function DeliveryStatus({ of: { status, deadLetteredAt, dismissedAt } }: { of: Statuses }) {
  if (status !== 'FAILED' || deadLetteredAt === null) {
    return <Badge tone={DELIVERY_TONES[status]}>{DELIVERY_TEXTS[status]}</Badge>;
  }
  return dismissedAt === null ? (
    <Badge tone="bad">{text.deadLetter}</Badge>
  ) : (
    <Badge tone="quiet">{text.dismissed}</Badge>
  );
}

export const COLUMNS: readonly Column<Delivery>[] = [
  { header: text.event, cell: ({ event }) => <span className="whitespace-nowrap">{event}</span> },
  { header: text.orderNo, cell: ({ checkoutOrderNo }) => checkoutOrderNo },
  { header: shared.status, narrow: 'second', cell: (row) => <DeliveryStatus of={row} /> },
  { header: shared.merchant, cell: ({ merchantName }) => merchantName },
  { header: text.receiver, cell: ({ receiverHost }) => receiverHost },
  { header: text.attempts, align: 'end', narrow: 'none', cell: (row) => formatCount(row.attempts) },
  {
    header: text.lastAnswer,
    narrow: 'none',
    cell: ({ lastHttpStatus, lastFailure }) => lastHttpStatus ?? lastFailure?.code,
  },
  { header: shared.createdAt, cell: ({ createdAt }) => <Time at={createdAt} /> },
];
