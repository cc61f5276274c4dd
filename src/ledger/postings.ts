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
  'REFUND_RESERVED',
  'REFUND_PAID',
  'REFUND_RELEASED',
  'REMITTANCE',
  'RECEIPT_UNALLOCATED',
] as const;
export type JournalKind = (typeof JOURNAL_KINDS)[number];

/** Journals of the platform's accounts only, which merchants never see. */
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
  resourceType: 'transaction' | 'withdrawal' | 'settlement' | 'refund' | 'providerTransfer';
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

/** What a journal is about; `channel`: that of its CHANNEL_CLEARING. */
export type Subject = Omit<Posting, 'key' | 'kind' | 'entries'> & { channel?: Channel | null };

/** The amount of each account that a journal changes; zero: it has no such entry. */
type Amounts = { [Account in AccountKind]?: Santim };

/** A journal with these entries, in their order. */
function journal({ channel, ...subject }: Subject, name: Pick<Posting, 'key' | 'kind'>, amounts: Amounts): Posting {
  const entries: Entry[] = [];
  for (const [account, amountSantim] of Object.entries(amounts) as [AccountKind, Santim][]) {
    const at = account === 'CHANNEL_CLEARING' && channel ? { account, channel } : { account };
    if (amountSantim !== 0n) entries.push({ ...at, amountSantim });
  }
  return { ...subject, ...name, entries };
}

/** Money received over a channel. */
type Received = MerchantScope & { transactionId: string; channel: Channel; amountSantim: Santim };
type Held = Received & { attemptId: string };

function received({ merchantId, environment, transactionId, channel }: Received): Subject {
  return { merchantId, environment, channel, resourceType: 'transaction', resourceId: transactionId };
}

/** A payment became SUCCESS: debits the provider's clearing account, credits the merchant less the fee. */
export function paymentPosting(paid: Received & Fee): Posting {
  const amounts = { CHANNEL_CLEARING: -paid.amountSantim, ...netOf(paid) };
  return journal(received(paid), { key: `payment:${paid.transactionId}`, kind: 'PAYMENT' }, amounts);
}

/** Posts a payment of another amount, or a second payment, to suspense until an operator decides. */
export function suspensePosting(held: Held): Posting {
  const amounts = { CHANNEL_CLEARING: -held.amountSantim, SUSPENSE: held.amountSantim };
  return journal(received(held), { key: `held:${held.attemptId}`, kind: 'PAYMENT_HELD' }, amounts);
}

/** An operator accepts held money for the merchant. The return shares this key, so only one of them can be posted. */
export function suspenseAcceptedPosting(held: Held & Fee): Posting {
  const amounts = { SUSPENSE: -held.amountSantim, ...netOf(held) };
  return journal(received(held), { key: `held-ended:${held.attemptId}`, kind: 'HELD_ACCEPTED' }, amounts);
}

/** Held money was returned to the customer, which ends the provider's debt. */
export function suspenseReturnedPosting(held: Held): Posting {
  const amounts = { SUSPENSE: -held.amountSantim, CHANNEL_CLEARING: held.amountSantim };
  return journal(received(held), { key: `held-ended:${held.attemptId}`, kind: 'HELD_RETURNED' }, amounts);
}

function netOf({ amountSantim, feeSantim, feeTaxSantim }: { amountSantim: Santim } & Fee): Amounts {
  return { AVAILABLE: amountSantim - feeSantim - feeTaxSantim, FEE_REVENUE: feeSantim, TAX_PAYABLE: feeTaxSantim };
}

/**
 * An outgoing payment: a withdrawal or a refund over a channel, or a settlement to the merchant's bank. `paidSantim`: paid by
 * the provider, if that differs from the amount. A refund has no fee; one below 0 is given back. `reservedSantim`: reserved
 * for it, if that differs from its total debit: an underpaid refund gives less of the fee back.
 */
export type Payout = MerchantScope & { id: string; amountSantim: Santim } & Fee &
  (
    | { type: 'withdrawal'; channel: Channel; paidSantim?: Santim }
    | { type: 'refund'; channel: Channel; paidSantim?: Santim; reservedSantim?: Santim }
    | { type: 'settlement' }
  );

/** The debit of the balance: the amount, the fee and its tax. */
export function totalDebit(out: { amountSantim: Santim } & Fee): Santim {
  return out.amountSantim + out.feeSantim + out.feeTaxSantim;
}

function paidOf(out: Payout): Santim {
  return (out.type === 'settlement' ? undefined : out.paidSantim) ?? out.amountSantim;
}

/** The debit of the balance after the payment: an unpaid part is credited again, and an overpayment is not charged. */
export function retained(out: Payout): Santim {
  const paidSantim = paidOf(out);
  return totalDebit(paidSantim < out.amountSantim ? { ...out, amountSantim: paidSantim } : out);
}

/** Reserves the money of a requested payout. Rejected by the ledger when the balance is insufficient. */
export function reservePosting(out: Payout): Posting {
  return payout(out, { key: 'reserved', step: 'RESERVED' }, { AVAILABLE: -totalDebit(out), RESERVED: totalDebit(out) });
}

/** Paid out. The release shares this key, so only one of them can be posted. */
export function payoutPosting(out: Payout): Posting {
  const reserved = (out.type === 'refund' ? out.reservedSantim : undefined) ?? totalDebit(out);
  const amounts = { RESERVED: -reserved, AVAILABLE: reserved - retained(out), ...charges(out, 1n) };
  return payout(out, { key: 'ended', step: 'PAID' }, amounts);
}

/** Failed, rejected or cancelled: credits the reserved money to the merchant again. */
export function releasePosting(out: Payout): Posting {
  return payout(out, { key: 'ended', step: 'RELEASED' }, { RESERVED: -totalDebit(out), AVAILABLE: totalDebit(out) });
}

/** Paid after it had failed: debits the released money again. Rejected by the ledger when the balance is insufficient. */
export function latePayoutPosting(out: Payout): Posting {
  return payout(out, { key: 'late-payout', step: 'PAID' }, { AVAILABLE: -retained(out), ...charges(out, 1n) });
}

/** Reversed by the provider or the bank: credits the paid money and the fee. */
export function reversalPosting(out: Payout): Posting {
  return payout(out, { key: 'reversed', step: 'REVERSED' }, { ...charges(out, -1n), AVAILABLE: retained(out) });
}

/** The paid money and the fee. An overpayment is debited from suspense until the provider has taken it back. */
function charges(out: Payout, sign: 1n | -1n): Amounts {
  const paidSantim = paidOf(out);
  return {
    [out.type === 'settlement' ? 'BANK' : 'CHANNEL_CLEARING']: sign * paidSantim,
    FEE_REVENUE: sign * out.feeSantim,
    TAX_PAYABLE: sign * out.feeTaxSantim,
    SUSPENSE: paidSantim > out.amountSantim ? sign * (out.amountSantim - paidSantim) : 0n,
  };
}

type Step = { key: string; step: 'RESERVED' | 'PAID' | 'RELEASED' | 'REVERSED' };

function payout(out: Payout, { key, step }: Step, amounts: Amounts): Posting {
  const { merchantId, environment, type, id } = out;
  const channel = out.type === 'settlement' ? null : out.channel;
  const subject = { merchantId, environment, channel, resourceType: type, resourceId: id };
  const kind = `${type.toUpperCase()}_${step}` as JournalKind;
  return journal(subject, { key: `${key}:${id}`, kind }, amounts);
}

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
