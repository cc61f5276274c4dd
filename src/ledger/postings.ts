import type { Santim } from '../lib/money.ts';
import type { Environment, MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Fee } from './fees.ts';

/** The accounts; CHANNEL_CLEARING has one for each channel. */
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
  const entries = [clearing(paid, -paid.amountSantim), ...netOf(paid)];
  return receivedPosting(paid, { key: `payment:${paid.transactionId}`, kind: 'PAYMENT', entries });
}

/** Posts a payment of another amount, or a second payment, to suspense until an operator decides. */
export function suspensePosting(held: Received & { attemptId: string }): Posting {
  const entries = [clearing(held, -held.amountSantim), entry('SUSPENSE', held.amountSantim)];
  return receivedPosting(held, { key: `held:${held.attemptId}`, kind: 'PAYMENT_HELD', entries });
}

/** An operator accepts held money for the merchant. The return shares this key, so only one of them can be posted. */
export function suspenseAcceptedPosting(held: Received & Fee & { attemptId: string }): Posting {
  const entries = [entry('SUSPENSE', -held.amountSantim), ...netOf(held)];
  return receivedPosting(held, { key: `held-ended:${held.attemptId}`, kind: 'HELD_ACCEPTED', entries });
}

/** Held money was returned to the customer, which ends the provider's debt. */
export function suspenseReturnedPosting(held: Received & { attemptId: string }): Posting {
  const entries = [entry('SUSPENSE', -held.amountSantim), clearing(held, held.amountSantim)];
  return receivedPosting(held, { key: `held-ended:${held.attemptId}`, kind: 'HELD_RETURNED', entries });
}

/** An outgoing payment: a withdrawal over a channel, or a settlement to the merchant's bank (no channel). */
export type Payout = MerchantScope & { id: string; amountSantim: Santim } & Fee &
  (
    | {
        type: 'withdrawal';
        channel: Channel;
        /** Paid by the provider, if that differs from the amount. */
        paidSantim?: Santim;
      }
    | { type: 'settlement' }
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
  const entries = [entry('AVAILABLE', -totalDebit(out)), entry('RESERVED', totalDebit(out))];
  return payoutJournal(out, { key: `reserved:${out.id}`, step: 'RESERVED', entries });
}

/** Paid out. The release shares this key, so only one of them can be posted. */
export function payoutPosting(out: Payout): Posting {
  const returned = entry('AVAILABLE', totalDebit(out) - retained(out));
  const entries = [entry('RESERVED', -totalDebit(out)), returned, ...charges(out, 1n)];
  return payoutJournal(out, { key: `ended:${out.id}`, step: 'PAID', entries });
}

/** Failed, rejected or cancelled: credits the reserved money to the merchant again. */
export function releasePosting(out: Payout): Posting {
  const entries = [entry('RESERVED', -totalDebit(out)), entry('AVAILABLE', totalDebit(out))];
  return payoutJournal(out, { key: `ended:${out.id}`, step: 'RELEASED', entries });
}

/** Paid after it had failed: debits the released money again. Rejected by the ledger when the balance is insufficient. */
export function latePayoutPosting(out: Payout): Posting {
  const entries = [entry('AVAILABLE', -retained(out)), ...charges(out, 1n)];
  return payoutJournal(out, { key: `late-payout:${out.id}`, step: 'PAID', entries });
}

/** Reversed by the provider or the bank: credits the paid money and the fee. */
export function reversalPosting(out: Payout): Posting {
  const entries = [...charges(out, -1n), entry('AVAILABLE', retained(out))];
  return payoutJournal(out, { key: `reversed:${out.id}`, step: 'REVERSED', entries });
}

function entry(account: AccountKind, amountSantim: Santim): Entry {
  return { account, amountSantim };
}

function clearing({ channel }: { channel: Channel }, amountSantim: Santim): Entry {
  return { account: 'CHANNEL_CLEARING', channel, amountSantim };
}

function netOf({ amountSantim, feeSantim, feeTaxSantim }: { amountSantim: Santim } & Fee): Entry[] {
  const net = entry('AVAILABLE', amountSantim - feeSantim - feeTaxSantim);
  return [net, entry('FEE_REVENUE', feeSantim), entry('TAX_PAYABLE', feeTaxSantim)];
}

/** The paid money and the fee. An overpayment is debited from suspense until the provider has taken it back. */
function charges(out: Payout, sign: 1n | -1n): Entry[] {
  const left = unpaid(out);
  const paidSantim = sign * (out.amountSantim - left);
  return [
    out.type === 'withdrawal' ? clearing(out, paidSantim) : entry('BANK', paidSantim),
    entry('FEE_REVENUE', sign * out.feeSantim),
    entry('TAX_PAYABLE', sign * out.feeTaxSantim),
    entry('SUSPENSE', left < 0n ? sign * left : 0n),
  ];
}

type Journal = Pick<Posting, 'key' | 'kind' | 'entries'>;

function receivedPosting({ merchantId, environment, transactionId }: Received, journal: Journal): Posting {
  const about = { merchantId, environment, resourceType: 'transaction', resourceId: transactionId } as const;
  return { ...journal, ...about, entries: withoutZeros(journal.entries) };
}

type PayoutStep = Pick<Posting, 'key' | 'entries'> & { step: 'RESERVED' | 'PAID' | 'RELEASED' | 'REVERSED' };

function payoutJournal(out: Payout, { key, step, entries }: PayoutStep): Posting {
  const { merchantId, environment } = out;
  const kind = out.type === 'withdrawal' ? (`WITHDRAWAL_${step}` as const) : (`SETTLEMENT_${step}` as const);
  const about = { key, kind, merchantId, environment, resourceType: out.type, resourceId: out.id };
  return { ...about, entries: withoutZeros(entries) };
}

function withoutZeros(entries: Entry[]): Entry[] {
  return entries.filter(({ amountSantim }) => amountSantim !== 0n);
}
