import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/owner.ts';
import type { Channel } from '../providers/provider.ts';
import type { Entry, Posting } from './facts.ts';

/** What an operator books of money outside: one row of `bank_money`, by whose id its journals are keyed. */
export type BankMoney = {
  id: string;
  environment: Environment;
  amountSantim: Santim;
} & (
  | {
      /** TRANSFER: the provider has paid what it owed, or a part of it. EXCESS: it owes again what it had paid out too much. */
      kind: 'TRANSFER' | 'EXCESS';
      channel: Channel;
    }
  | {
      /** Money that came to the bank and that nobody can place. */
      kind: 'UNMATCHED';
    }
);

/** What became of unmatched money. PLACED: it was this provider's transfer. RETURNED: the bank has sent it back. */
export type UnmatchedOutcome = { as: 'PLACED'; channel: Channel } | { as: 'RETURNED' };

/** It has happened: to the bank, from a provider or into suspense. */
export function bankMoneyFact(money: BankMoney): Posting {
  return about(money, { key: bankMoneyKey(money), kind: KINDS[money.kind], entries: booked(money) });
}

/** The key of its journal; of those from before there was `bank_money`, the row knows another. */
export function bankMoneyKey({ id }: Pick<BankMoney, 'id'>): string {
  return `bank-money:${id}`;
}

/** Unmatched money leaves suspense, once: both outcomes share a key. */
export function unmatchedEndedFact(money: BankMoney, outcome: UnmatchedOutcome): Posting {
  const key = `bank-money-ended:${money.id}`;
  return about(money, { key, kind: `UNMATCHED_${outcome.as}`, entries: ended(money, outcome) });
}

/** It was booked wrongly: the mirror of all that was booked of it. Booked rightly, it is another row. */
export function bankMoneyCorrectedFact(money: BankMoney, outcome: UnmatchedOutcome | null): Posting {
  const entries = [...booked(money), ...(outcome ? ended(money, outcome) : [])];
  return about(money, {
    key: `bank-money-corrected:${money.id}`,
    kind: 'BANK_MONEY_CORRECTED',
    entries: entries.map((entry) => ({ ...entry, amountSantim: -entry.amountSantim })),
  });
}

const KINDS = {
  TRANSFER: 'PROVIDER_TRANSFER',
  UNMATCHED: 'UNMATCHED_MONEY',
  EXCESS: 'EXCESS_TAKEN_BACK',
} as const;

function booked(money: BankMoney): Entry[] {
  const { amountSantim } = money;
  switch (money.kind) {
    case 'TRANSFER':
      return [
        { account: 'BANK', amountSantim: -amountSantim },
        { account: 'CHANNEL_CLEARING', channel: money.channel, amountSantim },
      ];
    case 'UNMATCHED':
      return [
        { account: 'BANK', amountSantim: -amountSantim },
        { account: 'SUSPENSE', amountSantim },
      ];
    case 'EXCESS':
      return [
        { account: 'CHANNEL_CLEARING', channel: money.channel, amountSantim: -amountSantim },
        { account: 'SUSPENSE', amountSantim },
      ];
    default:
      return money satisfies never;
  }
}

function ended({ amountSantim }: BankMoney, outcome: UnmatchedOutcome): Entry[] {
  const taken: Entry = { account: 'SUSPENSE', amountSantim: -amountSantim };
  return outcome.as === 'PLACED'
    ? [taken, { account: 'CHANNEL_CLEARING', channel: outcome.channel, amountSantim }]
    : [taken, { account: 'BANK', amountSantim }];
}

function about(money: BankMoney, what: Pick<Posting, 'key' | 'kind' | 'entries'>): Posting {
  const { environment, id } = money;
  return { ...what, merchantId: null, environment, resourceType: 'providerTransfer', resourceId: id };
}
