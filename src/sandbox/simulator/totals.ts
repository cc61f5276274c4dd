import { formatBirr, parseBirr, type Santim } from '../../lib/money.ts';
import type { SimulatedChannel } from './faults.ts';
import type { Order, Payout } from './order.ts';

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

type SimulatedMoney = { orders: readonly Order[]; payouts: readonly Payout[]; transfers: readonly BankTransfer[] };

/** The totals of all saved movements. */
export function totalsOf(channel: SimulatedChannel, movements: SimulatedMoney): ChannelTotals {
  const payouts = movements.payouts.filter((payout) => payout.channel === channel);
  const received = sum(movements.orders.filter((order) => order.channel === channel).map((order) => order.paidAmount));
  const paidOut = sum(payouts.map((payout) => payout.paidAmount));
  const reversed = sum(payouts.filter(({ state }) => state === 'REVERSED').map((payout) => payout.paidAmount));
  const transferred = sum(movements.transfers.filter((item) => item.channel === channel).map(({ amount }) => amount));
  return {
    received: formatBirr(received),
    paidOut: formatBirr(paidOut),
    reversed: formatBirr(reversed),
    transferred: formatBirr(transferred),
    unpaid: formatSigned(received - paidOut + reversed - transferred),
  };
}

function sum(amounts: (string | null)[]): Santim {
  return amounts.reduce((total, amount) => total + (parseBirr(amount ?? '0') ?? 0n), 0n);
}

function formatSigned(santim: Santim): string {
  return santim < 0n ? `-${formatBirr(-santim)}` : formatBirr(santim);
}
