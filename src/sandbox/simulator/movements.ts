import { endOfAddisDay, isDay, startOfAddisDay } from '../../lib/dates.ts';
import { formatBirr, parseBirr } from '../../lib/money.ts';
import type { SimulatedChannel } from './channels.ts';
import { wrongAmount, type Order } from './order.ts';

/** One row of a channel's statement. */
export type Movement = {
  type: 'payment' | 'payout' | 'payoutReversal' | 'refund';
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
    .filter((order) => order.channel === query.channel && !('listDropped' in order.faults))
    .flatMap(movementsOf)
    .filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    .map((row) => ({ row, position: positionOf(row) }))
    .filter(({ position }) => position > query.cursor)
    .toSorted((a, b) => (a.position < b.position ? -1 : 1));
  const page = rest.slice(0, PAGE_ROWS);
  return { rows: page.map(({ row }) => row), next: rest.length > page.length ? (page.at(-1)?.position ?? null) : null };
}

function movementsOf(order: Order): Movement[] {
  const { direction, orderId, currency, transactionReference: reference } = order;
  const { paidAmount, decidedAtMs, reversedAtMs } = order;
  if (decidedAtMs === null || paidAmount === null) return [];
  const amount = 'listWrongAmount' in order.faults ? wrongAmount(paidAmount) : paidAmount;
  const paid: Movement = { type: direction, orderId, amount, currency, reference, atMs: decidedAtMs };
  return reversedAtMs === null ? [paid] : [paid, { ...paid, type: 'payoutReversal', atMs: reversedAtMs }];
}

/** Sorts as text by time. */
function positionOf({ atMs, reference, type }: Movement): string {
  return `${String(Math.floor(atMs)).padStart(16, '0')}-${reference}-${type}`;
}

/**
 * A provider's totals in birr ("100.50"). `unpaid` is what it owes the operator: received − paid out + reversed − refunded,
 * negative when it has paid out more than it received.
 */
export type ChannelTotals = Record<'received' | 'paidOut' | 'reversed' | 'refunded' | 'unpaid', string>;

/** The totals of all saved movements. */
export function totalsOf(channel: SimulatedChannel, orders: readonly Order[]): ChannelTotals {
  const sum = (wanted: (order: Order) => boolean): bigint =>
    orders
      .filter((order) => order.channel === channel && wanted(order))
      .reduce((total, { paidAmount }) => total + (parseBirr(paidAmount ?? '0') ?? 0n), 0n);
  const received = sum(({ direction }) => direction === 'payment');
  const paidOut = sum(({ direction }) => direction === 'payout');
  const reversed = sum(({ state }) => state === 'REVERSED');
  const refunded = sum(({ direction }) => direction === 'refund');
  const unpaid = received - paidOut + reversed - refunded;
  return {
    received: formatBirr(received),
    paidOut: formatBirr(paidOut),
    reversed: formatBirr(reversed),
    refunded: formatBirr(refunded),
    unpaid: unpaid < 0n ? `-${formatBirr(-unpaid)}` : formatBirr(unpaid),
  };
}
