import type { Santim } from '../lib/money.ts';
import type { Environment, MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Fee } from './fees.ts';

export type AccountKind =
  | 'AVAILABLE'
  | 'RESERVED'
  | 'CHANNEL_CLEARING'
  | 'BANK'
  | 'FEE_REVENUE'
  | 'TAX_PAYABLE'
  | 'SUSPENSE';

/** What a journal is about, as merchants see it in their balance's history. */
export const JOURNAL_KINDS = [
  'PAYMENT',
  'PAYMENT_HELD',
  'HELD_ACCEPTED',
  'HELD_RETURNED',
  'WITHDRAWAL_RESERVED',
  'WITHDRAWAL_PAID',
  'WITHDRAWAL_RELEASED',
  'WITHDRAWAL_REVERSED',
  'SETTLEMENT_RESERVED',
  'SETTLEMENT_PAID',
  'SETTLEMENT_RELEASED',
  'SETTLEMENT_REVERSED',
  'PROVIDER_TRANSFER',
  'UNMATCHED_MONEY',
] as const;
export type JournalKind = (typeof JOURNAL_KINDS)[number];

/** Journals of the platform's accounts only, which merchants never see (receipt-postings.ts). */
type PlatformJournalKind = 'RECEIPT_ALLOCATED' | 'RECEIPT_RETURNED' | 'PAYOUT_RECOVERED' | 'REVERSAL';

/** One line of a journal: above zero credits the account, below zero debits it. */
export type Entry = { account: AccountKind; channel?: Channel; amountSantim: Santim };

/** One business fact as the ledger books it: once for each key, its entries summing to zero. */
export type Posting = {
  key: string;
  kind: JournalKind | PlatformJournalKind;
  /** null: only the operator's accounts move. */
  merchantId: string | null;
  environment: Environment;
  resourceType: 'transaction' | 'withdrawal' | 'settlement' | 'providerTransfer';
  resourceId: string;
  entries: Entry[];
};

/** The mirror of a journal, once: the only correction of a wrong booking. */
export function mirrorPosting(posting: Posting): Posting {
  return {
    ...posting,
    key: `reversal:${posting.key}`,
    kind: 'REVERSAL',
    entries: posting.entries.map((entry) => ({ ...entry, amountSantim: -entry.amountSantim })),
  };
}

/** Money that came in over a channel. */
type Received = MerchantScope & { transactionId: string; channel: Channel; amountSantim: Santim };

/** A payment became SUCCESS: the provider owes its amount, the merchant has it less the fee. One for a transaction. */
export function paymentPosting(paid: Received & Fee): Posting {
  return {
    key: `payment:${paid.transactionId}`,
    kind: 'PAYMENT',
    ...about(paid),
    entries: [{ account: 'CHANNEL_CLEARING', channel: paid.channel, amountSantim: -paid.amountSantim }, ...netOf(paid)],
  };
}

/** Money came that is nobody's yet: another amount than asked for, or a second payment. */
export function suspensePosting(held: Received & { attemptId: string }): Posting {
  return {
    key: `held:${held.attemptId}`,
    kind: 'PAYMENT_HELD',
    ...about(held),
    entries: [
      { account: 'CHANNEL_CLEARING', channel: held.channel, amountSantim: -held.amountSantim },
      { account: 'SUSPENSE', amountSantim: held.amountSantim },
    ],
  };
}

/** An operator gives held money to the merchant. It shares its key with the return: only one of them can happen. */
export function suspenseAcceptedPosting(held: Received & Fee & { attemptId: string }): Posting {
  return {
    key: `held-ended:${held.attemptId}`,
    kind: 'HELD_ACCEPTED',
    ...about(held),
    entries: [{ account: 'SUSPENSE', amountSantim: -held.amountSantim }, ...netOf(held)],
  };
}

/** Held money went back to the customer: the provider owes it no more. */
export function suspenseReturnedPosting(held: Received & { attemptId: string }): Posting {
  return {
    key: `held-ended:${held.attemptId}`,
    kind: 'HELD_RETURNED',
    ...about(held),
    entries: [
      { account: 'SUSPENSE', amountSantim: -held.amountSantim },
      { account: 'CHANNEL_CLEARING', channel: held.channel, amountSantim: held.amountSantim },
    ],
  };
}

/** Money on its way out: a withdrawal over a channel, or a settlement to the merchant's bank (no channel). */
export type Payout = MerchantScope & { amountSantim: Santim } & Fee &
  (
    | {
        type: 'withdrawal';
        id: string;
        channel: Channel;
        /** What the provider has paid, where that is not the amount. */
        paidSantim?: Santim;
      }
    | { type: 'settlement'; id: string }
  );

/** What it takes from the balance: the amount, the fee and its tax. */
export function totalDebit(out: { amountSantim: Santim } & Fee): Santim {
  return out.amountSantim + out.feeSantim + out.feeTaxSantim;
}

/** How much of the amount was not paid; below zero where more was. */
function unpaid(out: Payout): Santim {
  return out.type === 'withdrawal' && out.paidSantim !== undefined ? out.amountSantim - out.paidSantim : 0n;
}

/** What it has taken from the balance once it is paid: what the beneficiary was paid less is the merchant's again. */
function retained(out: Payout): Santim {
  const left = unpaid(out);
  return left > 0n ? totalDebit(out) - left : totalDebit(out);
}

/** Asked for: the money is set aside. Refused by the ledger when there is not enough. */
export function reservePosting(out: Payout): Posting {
  return payoutMovement(out, {
    key: `reserved:${out.id}`,
    happened: 'RESERVED',
    entries: [
      { account: 'AVAILABLE', amountSantim: -totalDebit(out) },
      { account: 'RESERVED', amountSantim: totalDebit(out) },
    ],
  });
}

/** Paid out. It shares its key with the release: what was paid is never given back as well. */
export function payoutPosting(out: Payout): Posting {
  return payoutMovement(out, {
    key: `ended:${out.id}`,
    happened: 'PAID',
    entries: withoutZeros([
      { account: 'RESERVED', amountSantim: -totalDebit(out) },
      { account: 'AVAILABLE', amountSantim: totalDebit(out) - retained(out) },
      ...charges(out, 1n),
    ]),
  });
}

/** Failed, rejected or cancelled: what was set aside is the merchant's again. */
export function releasePosting(out: Payout): Posting {
  return payoutMovement(out, {
    key: `ended:${out.id}`,
    happened: 'RELEASED',
    entries: [
      { account: 'RESERVED', amountSantim: -totalDebit(out) },
      { account: 'AVAILABLE', amountSantim: totalDebit(out) },
    ],
  });
}

/** Paid although it had failed: what was given back is taken again. Refused by the ledger when it is not there. */
export function latePayoutPosting(out: Payout): Posting {
  return payoutMovement(out, {
    key: `after-all:${out.id}`,
    happened: 'PAID',
    entries: [{ account: 'AVAILABLE', amountSantim: -retained(out) }, ...charges(out, 1n)],
  });
}

/** What was paid came back, and its fee with it. */
export function reversalPosting(out: Payout): Posting {
  return payoutMovement(out, {
    key: `reversed:${out.id}`,
    happened: 'REVERSED',
    entries: [...charges(out, -1n), { account: 'AVAILABLE', amountSantim: retained(out) }],
  });
}

function about({ merchantId, environment, transactionId }: Received) {
  return { merchantId, environment, resourceType: 'transaction', resourceId: transactionId } as const;
}

function netOf({ amountSantim, feeSantim, feeTaxSantim }: { amountSantim: Santim } & Fee): Entry[] {
  return withoutZeros([
    { account: 'AVAILABLE', amountSantim: amountSantim - feeSantim - feeTaxSantim },
    { account: 'FEE_REVENUE', amountSantim: feeSantim },
    { account: 'TAX_PAYABLE', amountSantim: feeTaxSantim },
  ]);
}

/** What left by it, and what we charge. More than the amount is nobody's to pay yet: it waits in suspense. */
function charges(out: Payout, sign: 1n | -1n): Entry[] {
  const left = unpaid(out);
  const paid: Entry =
    out.type === 'withdrawal'
      ? { account: 'CHANNEL_CLEARING', channel: out.channel, amountSantim: sign * (out.amountSantim - left) }
      : { account: 'BANK', amountSantim: sign * out.amountSantim };
  return withoutZeros([
    paid,
    { account: 'FEE_REVENUE', amountSantim: sign * out.feeSantim },
    { account: 'TAX_PAYABLE', amountSantim: sign * out.feeTaxSantim },
    { account: 'SUSPENSE', amountSantim: left < 0n ? sign * left : 0n },
  ]);
}

type Movement = { key: string; happened: 'RESERVED' | 'PAID' | 'RELEASED' | 'REVERSED'; entries: Entry[] };

function payoutMovement(out: Payout, { key, happened, entries }: Movement): Posting {
  const noun = out.type === 'withdrawal' ? 'WITHDRAWAL' : 'SETTLEMENT';
  return {
    key,
    kind: `${noun}_${happened}` as JournalKind,
    merchantId: out.merchantId,
    environment: out.environment,
    resourceType: out.type,
    resourceId: out.id,
    entries,
  };
}

function withoutZeros(entries: Entry[]): Entry[] {
  return entries.filter((entry) => entry.amountSantim !== 0n);
}
