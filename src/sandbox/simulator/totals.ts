import { formatBirr, parseBirr, type Santim } from '../../lib/money.ts';
import type { SimulatedChannel } from './faults.ts';
import { isPayout, type Order } from './order.ts';

/** A transfer from a provider to the operator's bank account. */
export type BankTransfer = { channel: SimulatedChannel; amount: string; atMs: number };

/**
 * A provider's totals in birr ("100.50"). `unpaid` is what it still owes the operator: received − paid out + reversed −
 * transferred, negative when it has paid out more than it received.
 */
export type ChannelTotals = {
  received: string;
  paidOut: string;
  reversed: string;
  transferred: string;
  unpaid: string;
};

/** The totals of all saved movements. */
export function totalsOf(
  channel: SimulatedChannel,
  movements: { orders: readonly Order[]; transfers: readonly BankTransfer[] },
): ChannelTotals {
  const orders = movements.orders.filter((order) => order.channel === channel);
  const paid = (isCounted: (order: Order) => boolean): Santim =>
    sum(orders.filter(isCounted).map(({ paidAmount }) => paidAmount));
  const received = paid((order) => !isPayout(order));
  const paidOut = paid(isPayout);
  const reversed = paid(({ state }) => state === 'REVERSED');
  const transferred = sum(movements.transfers.filter((item) => item.channel === channel).map(({ amount }) => amount));
  const unpaid = received - paidOut + reversed - transferred;
  return {
    received: formatBirr(received),
    paidOut: formatBirr(paidOut),
    reversed: formatBirr(reversed),
    transferred: formatBirr(transferred),
    unpaid: unpaid < 0n ? `-${formatBirr(-unpaid)}` : formatBirr(unpaid),
  };
}

function sum(amounts: (string | null)[]): Santim {
  return amounts.reduce((total, amount) => total + (parseBirr(amount ?? '0') ?? 0n), 0n);
}
