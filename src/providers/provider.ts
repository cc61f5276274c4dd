import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';

/**
 * A provider's answer. Doubt is an answer: `unknown` (no reply, a 5xx, nonsense) is asked again, never assumed.
 * - accepted: the order is made, the customer must act · pending: not yet paid, a definite answer
 * - succeeded: paid this much · declined: ended without money
 */
export type ProviderOutcome =
  | { kind: 'accepted'; providerReference: string | null; redirectUrl: string | null; providerCode: string | null }
  | { kind: 'pending'; providerReference: string | null; providerCode: string | null }
  | {
      kind: 'succeeded';
      providerReference: string;
      amountSantim: Santim;
      currency: string;
      providerCode: string | null;
    }
  | { kind: 'declined'; failure: ProviderFailure }
  | Unknown;

/** Nobody knows: no reply in time, none at all, a 5xx, nonsense, or a reply about another order than was asked about. */
export type Unknown = {
  kind: 'unknown';
  reason: 'timeout' | 'network' | 'http' | 'unreadable' | 'other-order';
  message: string;
};

/** Where a payout goes. A phone is 2519… without plus. */
export type PayoutDestination =
  | { kind: 'phone'; phone: string }
  | { kind: 'bank'; bankCode: string; accountNumber: string };

/** One payout as a provider needs it. `orderId` (the withdrawal's id, wd_…) is the provider's idempotency key: the same id never pays twice. */
export type PayoutOrder = {
  orderId: string;
  amountSantim: Santim;
  currency: string;
  destination: PayoutDestination;
  accountName: string;
  notifyUrl: string;
};

/**
 * What a provider says of a payout. The same order submitted again is answered with the standing of the first.
 * - accepted, pending: taken, not decided (accepted answers a submission, pending a query)
 * - succeeded: paid this much · declined: refused, or taken and then failed: no money left
 * - reversed: was paid, and this much came back
 * - not-found, to a query only: the provider has not taken this order. A submission may still be on its way to it:
 *   submit again under the same id before anything is released
 * - unknown: as for payments; also when the provider knows this id with another amount, for then its refusal says
 *   nothing of what the first submission did
 */
export type PayoutOutcome =
  | { kind: 'accepted' | 'pending'; providerReference: string | null; providerCode: string | null }
  | {
      kind: 'succeeded' | 'reversed';
      providerReference: string;
      amountSantim: Santim;
      currency: string;
      providerCode: string | null;
    }
  | { kind: 'declined'; failure: PayoutFailure }
  | { kind: 'not-found'; providerCode: string | null }
  | Unknown;

/**
 * One line of a provider's own list. `orderId` is ours (pat_… or wd_…), or whatever the provider calls money that we did
 * not ask for; the amount is never negative, `type` says which way it went.
 */
export type StatementRow = {
  orderId: string;
  type: 'payment' | 'payout' | 'payoutReversal';
  amountSantim: Santim;
  currency: string;
  providerReference: string;
  at: Date;
};

/** A page of the list, and the cursor of the next one, if there is one. */
export type StatementPage = { kind: 'page'; rows: StatementRow[]; next: string | null };

/** Our code and words beside the provider's own. */
export type ProviderFailure = {
  code: 'DECLINED' | 'INSUFFICIENT_FUNDS' | 'CANCELLED_BY_CUSTOMER' | 'TIMED_OUT' | 'INVALID_PAYER' | 'REJECTED';
  message: string;
  providerCode: string;
  /** Whether the customer may reasonably try again at once. */
  retryable: boolean;
};

/** One attempt as a provider needs it. `orderId` is the provider's idempotency key: the same id never charges twice. */
export type PaymentOrder = {
  orderId: string;
  amountSantim: Santim;
  currency: string;
  /** 2519… without plus. */
  phone: string;
  title: string;
  notifyUrl: string;
  returnUrl: string;
  /** The session's end: the provider is told to close the order then. */
  expiresAt: Date;
};

/** INSUFFICIENT_FUNDS is the operator's own account at the provider; INVALID_PAYEE a phone or account it does not know. */
export type PayoutFailure = Omit<ProviderFailure, 'code'> & { code: ProviderFailure['code'] | 'INVALID_PAYEE' };

/**
 * What a callback says about itself. It is a reason to ask the provider (`query`, or `queryPayout` for a payout's),
 * never the truth: even a verified one only triggers a check (src/payments/sync.ts). `orderId` is ours: pat_… or wd_….
 */
export type ParsedCallback = { verified: true; orderId: string } | { verified: false; problem: string };

export type RawCallback = { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer };

/** One provider's real wire format over HTTP. Every call ends within its timeout, in an outcome: nothing is thrown for what a provider does. */
export type Provider = {
  channel: Channel;
  initiate: (order: PaymentOrder) => Promise<ProviderOutcome>;
  query: (orderId: string) => Promise<ProviderOutcome>;
  payout: (order: PayoutOrder) => Promise<PayoutOutcome>;
  queryPayout: (orderId: string) => Promise<PayoutOutcome>;
  capabilities: { payoutTo: readonly PayoutDestination['kind'][] };
  /**
   * The provider's own list of what moved on an Addis day (YYYY-MM-DD), page by page: null first, then each page's
   * `next`. A payout and its reversal are two rows, each on its own day.
   */
  statement: (day: string, cursor: string | null) => Promise<StatementPage | Unknown>;
  /** Of payments and payouts alike. */
  parseCallback: (callback: RawCallback) => ParsedCallback;
  /** What the provider expects as the answer to a callback it should not repeat. */
  callbackResponse: { contentType: string; body: string };
};

/** The configured provider of a channel in an environment; null where none is (a live channel without configuration). */
export type FindProvider = (channel: Channel, environment: Environment) => Provider | null;
