import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Entry, Posting } from './postings.ts';

/** Bank money that an operator books: a row of `bank_receipt`, whose id is in the keys of its journals. */
export type BankReceipt = {
  id: string;
  environment: Environment;
  amountSantim: Santim;
} & (
  | {
      /**
       * REMITTANCE: the provider has paid its debt or a part of it. RECOVERY, an adjustment: the provider has taken back
       * an overpayment, and owes that amount again.
       */
      kind: 'REMITTANCE' | 'RECOVERY';
      channel: Channel;
    }
  | {
      /** Money that came to the bank from an unknown payer. */
      kind: 'UNALLOCATED';
    }
);

/** The result for unallocated money. ALLOCATED: a remittance of this provider. RETURNED: the bank has sent it back. */
export type AllocationOutcome = { as: 'ALLOCATED'; channel: Channel } | { as: 'RETURNED' };

const KINDS = {
  REMITTANCE: 'PROVIDER_TRANSFER',
  UNALLOCATED: 'UNMATCHED_MONEY',
  RECOVERY: 'PAYOUT_RECOVERED',
} as const;

/** Posts the receipt: to the bank and from the provider or into suspense; a recovery from the provider into suspense. */
export function receiptPosting(receipt: BankReceipt): Posting {
  return about(receipt, { key: receiptKey(receipt), kind: KINDS[receipt.kind], entries: entriesOf(receipt) });
}

export function receiptKey({ id }: { id: string }): string {
  return `receipt:${id}`;
}

/** Takes unallocated money out of suspense, once: both outcomes share a key. */
export function allocationPosting(receipt: BankReceipt, outcome: AllocationOutcome): Posting {
  const { amountSantim } = receipt;
  const entries: Entry[] = [
    { account: 'SUSPENSE', amountSantim: -amountSantim },
    outcome.as === 'ALLOCATED'
      ? { account: 'CHANNEL_CLEARING', channel: outcome.channel, amountSantim }
      : { account: 'BANK', amountSantim },
  ];
  return about(receipt, { key: allocationKey(receipt), kind: `RECEIPT_${outcome.as}`, entries });
}

export function allocationKey({ id }: { id: string }): string {
  return `receipt-outcome:${id}`;
}

function entriesOf(receipt: BankReceipt): Entry[] {
  const { amountSantim } = receipt;
  switch (receipt.kind) {
    case 'REMITTANCE':
      return [
        { account: 'BANK', amountSantim: -amountSantim },
        { account: 'CHANNEL_CLEARING', channel: receipt.channel, amountSantim },
      ];
    case 'UNALLOCATED':
      return [
        { account: 'BANK', amountSantim: -amountSantim },
        { account: 'SUSPENSE', amountSantim },
      ];
    case 'RECOVERY':
      return [
        { account: 'CHANNEL_CLEARING', channel: receipt.channel, amountSantim: -amountSantim },
        { account: 'SUSPENSE', amountSantim },
      ];
    default:
      return receipt satisfies never;
  }
}

function about({ environment, id }: BankReceipt, journal: Pick<Posting, 'key' | 'kind' | 'entries'>): Posting {
  return { ...journal, merchantId: null, environment, resourceType: 'providerTransfer', resourceId: id };
}
