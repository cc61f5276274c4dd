import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Entry, Posting } from './postings.ts';

/**
 * Bank money that an operator books: a row of `bank_receipt`, whose id is in the keys of its journals. REMITTANCE: the
 * provider has paid its debt or a part of it. RECOVERY, an adjustment: the provider has taken back an overpayment, and owes
 * that amount again. UNALLOCATED: money that came to the bank from an unknown payer.
 */
export type BankReceipt = {
  id: string;
  environment: Environment;
  kind: keyof typeof KINDS;
  amountSantim: Santim;
  /** Of a REMITTANCE and a RECOVERY. */
  channel?: Channel | null;
};

/** The result for unallocated money. ALLOCATED: a remittance of this provider. RETURNED: the bank has sent it back. */
export type AllocationOutcome = { as: 'ALLOCATED'; channel: Channel } | { as: 'RETURNED' };

const KINDS = {
  REMITTANCE: 'PROVIDER_TRANSFER',
  UNALLOCATED: 'UNMATCHED_MONEY',
  RECOVERY: 'PAYOUT_RECOVERED',
} as const;

type Account = Omit<Entry, 'amountSantim'>;
const BANK: Account = { account: 'BANK' };
const SUSPENSE: Account = { account: 'SUSPENSE' };

/** Posts the receipt: to the bank and from the provider or into suspense; a recovery from the provider into suspense. */
export function receiptPosting(receipt: BankReceipt): Posting {
  const { kind } = receipt;
  const debit = kind === 'RECOVERY' ? clearingOf(receipt) : BANK;
  const credit = kind === 'REMITTANCE' ? clearingOf(receipt) : SUSPENSE;
  return transfer(receipt, { key: receiptKey(receipt), kind: KINDS[kind], debit, credit });
}

export function receiptKey({ id }: { id: string }): string {
  return `receipt:${id}`;
}

/** Takes unallocated money out of suspense, once: both outcomes share a key. */
export function allocationPosting(receipt: BankReceipt, outcome: AllocationOutcome): Posting {
  const credit = outcome.as === 'ALLOCATED' ? clearingOf(outcome) : BANK;
  const kind = `RECEIPT_${outcome.as}` as const;
  return transfer(receipt, { key: allocationKey(receipt), kind, debit: SUSPENSE, credit });
}

export function allocationKey({ id }: { id: string }): string {
  return `receipt-outcome:${id}`;
}

function clearingOf({ channel }: { channel?: Channel | null }): Account {
  if (!channel) throw new Error('a receipt of a provider has a channel');
  return { account: 'CHANNEL_CLEARING', channel };
}

type Transfer = Pick<Posting, 'key' | 'kind'> & { debit: Account; credit: Account };

function transfer({ id, environment, amountSantim }: BankReceipt, { debit, credit, ...journal }: Transfer): Posting {
  const entries = [
    { ...debit, amountSantim: -amountSantim },
    { ...credit, amountSantim },
  ];
  return { ...journal, merchantId: null, environment, resourceType: 'providerTransfer', resourceId: id, entries };
}
