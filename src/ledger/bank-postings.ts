import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Entry, Posting } from './postings.ts';

/** What an operator books of money outside: one row of `bank_receipt`, by whose id its journals are keyed. */
export type BankReceipt = {
  id: string;
  environment: Environment;
  amountSantim: Santim;
} & (
  | {
      /** REMITTANCE: the provider has paid what it owed, or a part of it. RECOVERY: it owes again what it had paid out too much. */
      kind: 'REMITTANCE' | 'RECOVERY';
      channel: Channel;
    }
  | {
      /** Money that came to the bank and that nobody can place. */
      kind: 'UNALLOCATED';
    }
);

/** What became of unmatched money. ALLOCATED: it was this provider's transfer. RETURNED: the bank has sent it back. */
export type AllocationOutcome = { as: 'ALLOCATED'; channel: Channel } | { as: 'RETURNED' };

/** It has happened: to the bank, from a provider or into suspense. */
export function receiptPosting(money: BankReceipt): Posting {
  return about(money, { key: receiptKey(money), kind: KINDS[money.kind], entries: booked(money) });
}

/** The key of its journal; of those from before there was `bank_receipt`, the row knows another. */
export function receiptKey({ id }: Pick<BankReceipt, 'id'>): string {
  return `bank-money:${id}`;
}

/** Unmatched money leaves suspense, once: both outcomes share a key. */
export function allocationPosting(money: BankReceipt, outcome: AllocationOutcome): Posting {
  const key = `bank-money-ended:${money.id}`;
  return about(money, { key, kind: `RECEIPT_${outcome.as}`, entries: ended(money, outcome) });
}

/** It was booked wrongly: the mirror of all that was booked of it. Booked rightly, it is another row. */
export function correctionPosting(money: BankReceipt, outcome: AllocationOutcome | null): Posting {
  const entries = [...booked(money), ...(outcome ? ended(money, outcome) : [])];
  return about(money, {
    key: `bank-money-corrected:${money.id}`,
    kind: 'RECEIPT_REVERSED',
    entries: entries.map((entry) => ({ ...entry, amountSantim: -entry.amountSantim })),
  });
}

const KINDS = {
  REMITTANCE: 'PROVIDER_TRANSFER',
  UNALLOCATED: 'UNMATCHED_MONEY',
  RECOVERY: 'PAYOUT_RECOVERED',
} as const;

function booked(money: BankReceipt): Entry[] {
  const { amountSantim } = money;
  switch (money.kind) {
    case 'REMITTANCE':
      return [
        { account: 'BANK', amountSantim: -amountSantim },
        { account: 'CHANNEL_CLEARING', channel: money.channel, amountSantim },
      ];
    case 'UNALLOCATED':
      return [
        { account: 'BANK', amountSantim: -amountSantim },
        { account: 'SUSPENSE', amountSantim },
      ];
    case 'RECOVERY':
      return [
        { account: 'CHANNEL_CLEARING', channel: money.channel, amountSantim: -amountSantim },
        { account: 'SUSPENSE', amountSantim },
      ];
    default:
      return money satisfies never;
  }
}

function ended({ amountSantim }: BankReceipt, outcome: AllocationOutcome): Entry[] {
  const taken: Entry = { account: 'SUSPENSE', amountSantim: -amountSantim };
  return outcome.as === 'ALLOCATED'
    ? [taken, { account: 'CHANNEL_CLEARING', channel: outcome.channel, amountSantim }]
    : [taken, { account: 'BANK', amountSantim }];
}

function about(money: BankReceipt, what: Pick<Posting, 'key' | 'kind' | 'entries'>): Posting {
  const { environment, id } = money;
  return { ...what, merchantId: null, environment, resourceType: 'providerTransfer', resourceId: id };
}
