import { endOfAddisDay, isDay, startOfAddisDay } from '../../lib/dates.ts';
import { hasFault, wrongAmount } from './callback.ts';
import type { SimulatedChannel } from './faults.ts';
import type { OrderBook } from './order-store.ts';
import type { PayoutBook } from './payout-store.ts';

/** One line of a channel's list. */
export type Movement = {
  type: 'payment' | 'payout' | 'payoutReversal';
  orderId: string;
  amount: string;
  currency: string;
  reference: string;
  atMs: number;
};

type Page = { rows: Movement[]; next: string | null };

/** A page of so many rows stays below the 64 KiB that a careful reader takes. */
const PAGE_ROWS = 200;

/**
 * What moved on a channel on an Addis day, oldest first; the cursor is where the page before ended, so that money moving
 * meanwhile shifts nothing. Null when the day or the cursor is none.
 */
export function statementPage(
  books: { book: OrderBook; payouts: PayoutBook },
  query: { channel: SimulatedChannel; day: string; cursor: string },
): Page | null {
  const isCursor = query.cursor === '' || /^\d{16}-[A-Z0-9]+-[a-zA-Z]+$/.test(query.cursor);
  if (!isDay(query.day) || !isCursor) return null;
  const [fromMs, toMs] = [startOfAddisDay(query.day).getTime(), endOfAddisDay(query.day).getTime()];
  const rest = movementsOf(books, query.channel)
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .map((row) => ({ row, place: placeOf(row) }))
    .filter(({ place }) => place > query.cursor)
    .toSorted((a, b) => (a.place < b.place ? -1 : 1));
  const page = rest.slice(0, PAGE_ROWS);
  return { rows: page.map(({ row }) => row), next: rest.length > page.length ? (page.at(-1)?.place ?? null) : null };
}

function movementsOf({ book, payouts }: { book: OrderBook; payouts: PayoutBook }, channel: SimulatedChannel) {
  const movements: Movement[] = [];
  const list = (item: Parameters<typeof hasFault>[0], movement: Movement): void => {
    if (hasFault(item, 'listDropped')) return;
    const wrong = hasFault(item, 'listWrongAmount');
    movements.push(wrong ? { ...movement, amount: wrongAmount(movement.amount) } : movement);
  };
  for (const order of book.all()) {
    if (order.channel !== channel || order.decidedAtMs === null || order.paidAmount === null) continue;
    const { orderId, currency, transactionReference: reference, paidAmount: amount, decidedAtMs: atMs } = order;
    list(order, { type: 'payment', orderId, amount, currency, reference, atMs });
  }
  for (const payout of payouts.all()) {
    if (payout.channel !== channel || payout.decidedAtMs === null || payout.paidAmount === null) continue;
    const { orderId, currency, transactionReference: reference, paidAmount: amount, decidedAtMs: atMs } = payout;
    const movement: Movement = { type: 'payout', orderId, amount, currency, reference, atMs };
    list(payout, movement);
    if (payout.reversedAtMs !== null) list(payout, { ...movement, type: 'payoutReversal', atMs: payout.reversedAtMs });
  }
  return movements;
}

/** Sorts as text by time. */
function placeOf({ atMs, reference, type }: Movement): string {
  return `${String(Math.floor(atMs)).padStart(16, '0')}-${reference}-${type}`;
}
