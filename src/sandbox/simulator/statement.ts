import { endOfAddisDay, isDay, startOfAddisDay } from '../../lib/dates.ts';
import { wrongAmount } from './callbacks.ts';
import { hasFault, type SimulatedChannel } from './faults.ts';
import { isPayout, type Order } from './order.ts';

/** One row of a channel's statement. */
export type Movement = {
  type: 'payment' | 'payout' | 'payoutReversal';
  orderId: string;
  amount: string;
  currency: string;
  reference: string;
  atMs: number;
};

/** A page of a statement; `next` is the next page's cursor, null on the last page. */
export type Statement = { rows: Movement[]; next: string | null };

/** Keeps a page below the 64 KiB that the adapters accept. */
const PAGE_ROWS = 200;

/**
 * The movements of a channel on an Addis day, oldest first. The cursor is the position of the previous page's last row,
 * so new movements shift nothing. Null when the day or the cursor is malformed.
 */
export function statementPage(
  orders: readonly Order[],
  query: { channel: SimulatedChannel; day: string; cursor: string },
): Statement | null {
  const isCursor = query.cursor === '' || /^\d{16}-[A-Z0-9]+-[a-zA-Z]+$/.test(query.cursor);
  if (!isDay(query.day) || !isCursor) return null;
  const [fromMs, toMs] = [startOfAddisDay(query.day).getTime(), endOfAddisDay(query.day).getTime()];
  const rest = orders
    .filter(({ channel }) => channel === query.channel)
    .flatMap(movementsOf)
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .map((row) => ({ row, position: positionOf(row) }))
    .filter(({ position }) => position > query.cursor)
    .toSorted((a, b) => (a.position < b.position ? -1 : 1));
  const page = rest.slice(0, PAGE_ROWS);
  return { rows: page.map(({ row }) => row), next: rest.length > page.length ? (page.at(-1)?.position ?? null) : null };
}

function movementsOf(order: Order): Movement[] {
  const { orderId, currency, transactionReference: reference, paidAmount, decidedAtMs, reversedAtMs } = order;
  if (decidedAtMs === null || paidAmount === null || hasFault(order, 'listDropped')) return [];
  const amount = hasFault(order, 'listWrongAmount') ? wrongAmount(paidAmount) : paidAmount;
  const movement = { orderId, amount, currency, reference, atMs: decidedAtMs };
  const paid: Movement = { ...movement, type: isPayout(order) ? 'payout' : 'payment' };
  return reversedAtMs === null ? [paid] : [paid, { ...movement, type: 'payoutReversal', atMs: reversedAtMs }];
}

/** Sorts as text by time. */
function positionOf({ atMs, reference, type }: Movement): string {
  return `${String(Math.floor(atMs)).padStart(16, '0')}-${reference}-${type}`;
}
