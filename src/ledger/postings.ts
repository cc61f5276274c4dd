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

/** The kinds of journals in the merchants' balance history. */
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

/** A journal to post, once per key. Its entries sum to zero. */
export type Posting = {
  key: string;
  kind: JournalKind | PlatformJournalKind;
  /** null: only accounts of the platform change. */
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

/** Money received over a channel. */
type Received = MerchantScope & { transactionId: string; channel: Channel; amountSantim: Santim };

/** A payment became SUCCESS: debits the provider's clearing account, credits the merchant less the fee. */
export function paymentPosting(paid: Received & Fee): Posting {
  return {
    key: `payment:${paid.transactionId}`,
    kind: 'PAYMENT',
    ...about(paid),
    entries: [{ account: 'CHANNEL_CLEARING', channel: paid.channel, amountSantim: -paid.amountSantim }, ...netOf(paid)],
  };
}

/** Posts a payment of another amount, or a second payment, to suspense until an operator decides. */
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

/** An operator accepts held money for the merchant. The return shares this key, so only one of them can be posted. */
export function suspenseAcceptedPosting(held: Received & Fee & { attemptId: string }): Posting {
  return {
    key: `held-ended:${held.attemptId}`,
    kind: 'HELD_ACCEPTED',
    ...about(held),
    entries: [{ account: 'SUSPENSE', amountSantim: -held.amountSantim }, ...netOf(held)],
  };
}

/** Held money was returned to the customer, which ends the provider's debt. */
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

/** An outgoing payment: a withdrawal over a channel, or a settlement to the merchant's bank (no channel). */
export type Payout = MerchantScope & { amountSantim: Santim } & Fee &
  (
    | {
        type: 'withdrawal';
        id: string;
        channel: Channel;
        /** Paid by the provider, if that differs from the amount. */
        paidSantim?: Santim;
      }
    | { type: 'settlement'; id: string }
  );

/** The debit of the balance: the amount, the fee and its tax. */
export function totalDebit(out: { amountSantim: Santim } & Fee): Santim {
  return out.amountSantim + out.feeSantim + out.feeTaxSantim;
}

/** The unpaid part of the amount; negative for an overpayment. */
function unpaid(out: Payout): Santim {
  return out.type === 'withdrawal' && out.paidSantim !== undefined ? out.amountSantim - out.paidSantim : 0n;
}

/** The debit of the balance after the payment: the unpaid part is credited to the merchant again. */
function retained(out: Payout): Santim {
  const left = unpaid(out);
  return left > 0n ? totalDebit(out) - left : totalDebit(out);
}

/** Reserves the money of a requested payout. Rejected by the ledger when the balance is insufficient. */
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

/** Paid out. The release shares this key, so only one of them can be posted. */
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

/** Failed, rejected or cancelled: credits the reserved money to the merchant again. */
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

/** Paid after it had failed: debits the released money again. Rejected by the ledger when the balance is insufficient. */
export function latePayoutPosting(out: Payout): Posting {
  return payoutMovement(out, {
    key: `after-all:${out.id}`,
    happened: 'PAID',
    entries: [{ account: 'AVAILABLE', amountSantim: -retained(out) }, ...charges(out, 1n)],
  });
}

/** Reversed by the provider or the bank: credits the paid money and the fee. */
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

/** The paid money and the fee. An overpayment is debited from suspense until the provider has taken it back. */
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
