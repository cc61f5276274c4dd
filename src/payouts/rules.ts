import type { Payout } from '../ledger/postings.ts';
import type { Queryable, Trx } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { OutboxMessage, UnitOfWork } from '../outbox/record.ts';
import type { Accounts, PayoutOutcome, Provider } from '../providers/provider.ts';
import type { PayoutChanges, PayoutKind, PayoutRow } from './queries.ts';

/** What ends a payout, or the end of one. */
export type End = 'SUCCESS' | 'FAILED' | 'REJECTED' | 'CANCELLED' | 'REVERSED';

/** An entry of its timeline. */
export type Entry = { kind: string; detail?: Record<string, unknown> };

/** A transition to an end. `entry`: in place of the timeline's usual one; `changes`: what its row stores besides the status. */
export type Transition = {
  to: End;
  entry?: Entry;
  changes?: PayoutChanges;
  at: Date;
  /** false: the workflow itself makes the transition. */
  notifyWorkflow?: boolean | undefined;
};

/**
 * What differs between withdrawals (withdrawals/withdrawal.ts) and refunds (refunds/refund.ts). The rest of their life is said
 * once, in this folder.
 */
export type PayoutRules<Row extends PayoutRow = PayoutRow> = {
  kind: PayoutKind;
  /** As states.ts has them. */
  transitions: Readonly<Record<Row['status'], readonly string[]>>;
  /** The status that no report of the provider changes. */
  finalStatus: 'REVERSED' | 'SUCCESS';

  /** By which of our accounts at the provider it is sent. */
  account: keyof Accounts;
  /** When what decides about its account was sent; the order itself unless given. */
  readSentAt?: (db: Queryable, row: Row) => Promise<Date>;
  /** Whether it may be sent now, first or again. */
  isSendable: (trx: Trx, row: Row) => Promise<boolean>;
  query: (provider: Provider, row: Row) => Promise<PayoutOutcome>;
  send: (provider: Provider, row: Row, notifyUrl: string) => Promise<PayoutOutcome>;

  /** Appends an entry to the timeline that merchants see: its own, or that of its payment. */
  recordEntry: (trx: Trx, row: Row, entry: Entry & { at: Date }) => Promise<void>;
  /** The kinds of entries. `contradicted`: of an end; null: merchants are not told. */
  entries: Readonly<Record<'submitted' | 'responded' | 'resolved', string>> & { contradicted: string | null };
  /** The usual entry of an end. */
  entryOf: (row: Row, to: End) => Entry;
  /** What the timeline has of a provider's report. */
  detailOf: (outcome: PayoutOutcome) => Record<string, unknown>;
  /** In whose timeline, and by which part of an entry, an amount that was reported as paid is found again. */
  reportedAs: (row: Row, outcome: PaidReport) => { resourceId: string; detail: Record<string, unknown> };

  /** Records the event of an end, with the payout as it is. */
  recordEnd: (tx: UnitOfWork, row: Row, end: { to: End; at: Date }) => Promise<void>;
  /** The signal to its workflow after a person's confirmation, or an end. */
  message: (row: Row, about: End | 'confirmed') => OutboxMessage;
  /** What the ledger posts of it; `before`: as its money was reserved. */
  toPosted: (row: Row, before: Row) => Payout;
  /** What of its fee is booked when it is paid, if not what was reserved. */
  feeOfPaid?: (trx: Trx, before: Row, changes: PayoutChanges) => Promise<Pick<PayoutRow, 'feeSantim' | 'feeTaxSantim'>>;
  /** What else changes once it is paid. */
  afterPaid?: (trx: Trx, row: Row) => Promise<void>;

  /** The stage after a second person's confirmation, and what is recorded of it. */
  confirm: (tx: UnitOfWork, row: Row, changes: PayoutChanges & { confirmedAt: Date }) => Promise<Row>;
  /** How it ends where the second person declines it, for this reason. */
  declined: (reason: string) => Pick<Transition, 'to' | 'entry' | 'changes'>;
  /** How it ends where nobody has confirmed it in time, in words, and in fact. */
  unconfirmed: Pick<Transition, 'to' | 'entry' | 'changes'> & { says: string };
  /** Mails those who could have confirmed it, and the requester. */
  notifyUnconfirmed?: (tx: UnitOfWork, row: Row) => Promise<void>;

  /** The statuses that a definite report contradicts where it causes no transition. */
  contradicts: Partial<Record<PayoutOutcome['kind'], readonly Row['status'][]>>;
  resolution: {
    /** Whether one that was not sent may be resolved, as FAILED. */
    ofUnsent: boolean;
    /** Whether operators may correct how they, or a contradicted provider, have ended it. */
    corrects: (row: Row) => boolean;
    /** In which states, in words. */
    allowed: string;
    /** From how many operators the same resolution is needed. */
    operatorsNeeded: (row: Row) => number;
    /** The most that can have been paid, where that is more than the amount, and what it is, in words. */
    readMostPaid: (trx: Trx, row: Row) => Promise<{ santim: Santim; limit: string }>;
  };
};

export type PaidReport = Extract<PayoutOutcome, { kind: 'succeeded' | 'reversed' }>;
export const isPaidReport = (outcome: PayoutOutcome): outcome is PaidReport =>
  outcome.kind === 'succeeded' || outcome.kind === 'reversed';
