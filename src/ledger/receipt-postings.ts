import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { journal, type AccountKind, type Posting } from './postings.ts';

/**
 * A receipt that an operator books: a row of `bank_receipt`, whose id is in the keys of its journals. REMITTANCE: the
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
  REMITTANCE: 'REMITTANCE',
  UNALLOCATED: 'RECEIPT_UNALLOCATED',
  RECOVERY: 'PAYOUT_RECOVERED',
} as const;

/** Posts the receipt: to the bank and from the provider or into suspense; a recovery from the provider into suspense. */
export function receiptPosting(receipt: BankReceipt): Posting {
  const { kind, channel = null } = receipt;
  const debit = kind === 'RECOVERY' ? 'CHANNEL_CLEARING' : 'BANK';
  const credit = kind === 'REMITTANCE' ? 'CHANNEL_CLEARING' : 'SUSPENSE';
  return transfer({ ...receipt, channel }, { key: receiptKey(receipt), kind: KINDS[kind] }, [debit, credit]);
}

export function receiptKey({ id }: { id: string }): string {
  return `receipt:${id}`;
}

/** Takes unallocated money out of suspense, once: both outcomes share a key. */
export function allocationPosting(receipt: BankReceipt, outcome: AllocationOutcome): Posting {
  const channel = outcome.as === 'ALLOCATED' ? outcome.channel : null;
  const name = { key: allocationKey(receipt), kind: `RECEIPT_${outcome.as}` } as const;
  return transfer({ ...receipt, channel }, name, ['SUSPENSE', channel === null ? 'BANK' : 'CHANNEL_CLEARING']);
}

export function allocationKey({ id }: { id: string }): string {
  return `receipt-outcome:${id}`;
}

/** From the first account to the second one. */
function transfer(
  { id, environment, channel, amountSantim }: BankReceipt & { channel: Channel | null },
  name: Pick<Posting, 'key' | 'kind'>,
  [debit, credit]: [AccountKind, AccountKind],
): Posting {
  const subject = { merchantId: null, environment, channel, resourceType: 'providerTransfer', resourceId: id } as const;
  return journal(subject, name, { [debit]: -amountSantim, [credit]: amountSantim });
}
