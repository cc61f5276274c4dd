import { z } from 'zod';

import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';

type Undecided<Kind> = { kind: Kind; providerReference: string | null; providerCode: string | null };
type Moved<Kind> = {
  kind: Kind;
  providerReference: string;
  amountSantim: Santim;
  currency: string;
  providerCode: string | null;
};
type Declined<Failure> = { kind: 'declined'; failure: Failure };

/**
 * A provider's report of a payment. `unknown` (no reply, a 5xx, an unreadable reply) is queried again, never assumed.
 * - accepted: the order exists, the customer must act · pending: not paid yet
 * - succeeded: paid this amount · declined: ended without a payment
 */
export type ProviderOutcome =
  | (Undecided<'accepted'> & { redirectUrl: string | null })
  | Undecided<'pending'>
  | Moved<'succeeded'>
  | Declined<ProviderFailure>
  | Unknown;

/**
 * The outcome is not known: no reply in time or at all, a 5xx, an unreadable reply, or one about another order; or there was
 * no call: see {@link isUnsent}.
 */
export type Unknown = {
  kind: 'unknown';
  reason:
    | 'timeout'
    | 'network'
    | 'http'
    | 'unreadable'
    | 'other-order'
    | 'other-account'
    | 'rate-limit'
    | 'circuit-open'
    | 'not-configured';
  message: string;
  /** The reply's, of `http`. */
  status?: number;
  /** The wait that a reply 429 or 503 requires. */
  retryAfterMs?: number;
};

/**
 * Whether no call about an order was made: because of a rate limit, because the provider does not respond (circuit-open), or
 * because it has no usable account (not-configured). A first submission then counts as none.
 */
export function isUnsent(outcome: { kind: string } | Unknown): boolean {
  return 'reason' in outcome && ['rate-limit', 'circuit-open', 'not-configured'].includes(outcome.reason);
}

/** The provider's reference and code of the order, where the report of a payout or refund has them. */
export function referencesOf(outcome: PayoutOutcome): {
  providerReference?: string;
  providerCode?: string;
} {
  if (outcome.kind === 'unknown') return {};
  const from = outcome.kind === 'declined' ? outcome.failure : outcome;
  const { providerReference, providerCode } = { providerReference: null, ...from };
  return { ...(providerReference !== null && { providerReference }), ...(providerCode !== null && { providerCode }) };
}

/** The destination of a payout. A phone is 2519… without plus. */
export type PayoutDestination =
  | { kind: 'phone'; phone: string }
  | { kind: 'bank'; bankCode: string; accountNumber: string };

/**
 * An order's common fields. `orderId` is the provider's idempotency key: the same id never moves money twice. A call whose
 * outcome is unknown is repeated only as its protocol allows, always under the same id:
 * - query, queryPayout, queryRefund, statement: at any time; they change nothing.
 * - initiate: until a reply is known. The provider rejects the repeat because the order exists, or returns the order again.
 *   Any other rejection of a repeat may not be about the first submission, so the order is queried (src/payments/sync.ts).
 * - payout, refund: only after queryPayout or queryRefund returned not-found; an unknown outcome is queried, for as long as it takes
 *   (src/payouts/check.ts). Sent again all the same, it returns the state of the first submission.
 */
type Order = { orderId: string; amountSantim: Santim; currency: string; notifyUrl: string };

/** One payout as a provider needs it, under the withdrawal's id (wd_…). */
export type PayoutOrder = Order & { destination: PayoutDestination; accountName: string };

/** One attempt as a provider needs it, under the attempt's id (pat_…). */
export type PaymentOrder = Order & {
  /** 2519… without plus. */
  phone: string;
  title: string;
  returnUrl: string;
  /** The session's end, when the provider is to close the order. */
  expiresAt: Date;
};

/**
 * A provider's report of a payout. Submitting the same order again returns the status of the first submission.
 * - accepted (of a submission), pending (of a query): accepted, not decided yet
 * - succeeded: paid this amount · declined: rejected, or accepted and then failed: nothing was paid
 * - reversed: was paid, and this amount was returned
 * - not-found, of a query only: the provider does not know the order. A submission may still be under way: submit again
 *   under the same id before money is released
 * - unknown: as for payments; also if the provider knows this id with another amount, because its rejection then does
 *   not describe the first submission
 */
export type PayoutOutcome =
  | Undecided<'accepted' | 'pending'>
  | Moved<'succeeded'>
  | Moved<'reversed'>
  | Declined<PayoutFailure>
  | { kind: 'not-found'; providerCode: string | null }
  | Unknown;

/** One refund as a provider needs it, under the refund's id (rfd_…): a part or all of the payment `paymentId` (pat_…). */
export type RefundOrder = Omit<Order, 'orderId'> & { refundId: string; paymentId: string; reason: string };

/** A provider's report of a refund, as of a payout; a refund is never reversed. */
export type RefundOutcome = Exclude<PayoutOutcome, { kind: 'reversed' }>;

/**
 * A page of a provider's statement, and the cursor of the next one, if there is one. `orderId` is ours (pat_…, wd_… or
 * rfd_…), or the provider's name for money that we did not request. The amount is never negative; `type` gives the direction.
 */
export const StatementPage = z.object({
  kind: z.literal('page'),
  rows: z
    .array(
      z.object({
        orderId: z.string().min(1),
        type: z.enum(['payment', 'payout', 'payoutReversal', 'refund']),
        amountSantim: z.bigint(),
        currency: z.string(),
        providerReference: z.string().min(1),
        at: z.date(),
      }),
    )
    .max(500),
  next: z.string().nullable(),
});
export type StatementPage = z.output<typeof StatementPage>;
export type StatementRow = StatementPage['rows'][number];

/** Our code and message, and the provider's own code. */
export type ProviderFailure = {
  code: 'DECLINED' | 'INSUFFICIENT_FUNDS' | 'CANCELLED_BY_CUSTOMER' | 'TIMED_OUT' | 'INVALID_PAYER' | 'REJECTED';
  message: string;
  providerCode: string;
  /** Whether the customer may reasonably try again at once. */
  retryable: boolean;
};

/** INSUFFICIENT_FUNDS is the operator's own account at the provider; INVALID_PAYEE a phone or account it does not know. */
export type PayoutFailure = Omit<ProviderFailure, 'code'> & { code: ProviderFailure['code'] | 'INVALID_PAYEE' };

/**
 * A callback's order and whether its signature is valid. Even a verified callback only triggers a query (`query`,
 * `queryPayout` or `queryRefund`; src/payments/sync.ts, src/payouts/check.ts). `orderId` is ours: pat_…, wd_… or rfd_….
 */
export type ParsedCallback = { verified: true; orderId: string } | { verified: false; problem: string };

export type RawCallback = { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer };

/** Our accounts at a provider. An order is known to the account by which it was sent, and to no other. */
export type Accounts = { payments: string; payouts: string };

/** A merchant, and when its order is or was sent: now for a new one. */
export type MerchantOrder = { merchantId: string; sentAt: Date };

export type ReadStatement = (day: string, cursor: string | null) => Promise<StatementPage | Unknown>;
export type AccountStatement = { account: string; statement: ReadStatement };

/** What a payer does with a request to pay, as it can be sent in the sandbox. */
export const PAYER_DECISIONS = ['approve', 'decline'] as const;
export type PayerDecision = (typeof PAYER_DECISIONS)[number];

/** One provider's real wire format over HTTP. Every call ends within its timeout, in an outcome: nothing is thrown for what a provider does. */
export type Provider = {
  channel: Channel;
  initiate: (order: PaymentOrder) => Promise<ProviderOutcome>;
  query: (orderId: string) => Promise<ProviderOutcome>;
  payout: (order: PayoutOrder) => Promise<PayoutOutcome>;
  queryPayout: (orderId: string) => Promise<PayoutOutcome>;
  /** Of payments by the same account. */
  refund: (order: RefundOrder) => Promise<RefundOutcome>;
  queryRefund: (order: Pick<RefundOrder, 'refundId' | 'paymentId'>) => Promise<RefundOutcome>;
  capabilities: { payoutTo: readonly PayoutDestination['kind'][]; refunds: boolean };
  /**
   * The provider's statement of an Addis Ababa day (YYYY-MM-DD), page by page: null first, then each page's
   * `next`. A payout and its reversal are two rows, each on its own day.
   */
  statement: ReadStatement;
  /** Live only: the statement of each account that was ours on this day, of the platform's before those of merchants. */
  accountStatements?: (day: string) => Promise<AccountStatement[]>;
  /** Where the provider calls us; the public base URL unless given. */
  callbackBaseUrl?: string | undefined;
  /** Sandbox only: decides on a waiting payment in place of its payer. */
  decide?: (orderId: string, decision: PayerDecision) => Promise<'decided' | 'not-waiting' | 'unknown'>;
  /** Of payments, payouts and refunds alike. */
  parseCallback: (callback: RawCallback) => ParsedCallback;
  /** The response that acknowledges a callback, so that it is not repeated. */
  callbackResponse: { contentType: string; body: string };
  /** Live only: our accounts there by the provider's own names, of payments and of payouts. */
  accounts?: Accounts | undefined;
  /** Whether the platform has no account there, so that only merchants with their own can use it. */
  needsOwnAccount?: boolean | undefined;
  /**
   * The provider by the account that has this order, where merchants may have their own; null: its credentials are
   * missing. Use {@link findProviderOf}.
   */
  forOrder?: (order: MerchantOrder) => Promise<Provider | null>;
};

/** An account at a provider, by its own messages: what a provider's folder makes. */
export type Adapter = Omit<Provider, 'channel'>;

/**
 * The configured provider of a channel in an environment; null where none is (a live channel without configuration). Orders
 * are sent, queried and verified by {@link findProviderOf}.
 */
export type FindProvider = (channel: Channel, environment: Environment) => Provider | null;

/** The provider of an order, by the merchant's own account if the order was sent by it; null: none is configured. */
export async function findProviderOf(
  findProvider: FindProvider,
  { channel, environment, ...order }: MerchantOrder & { channel: Channel; environment: Environment },
): Promise<Provider | null> {
  const provider = findProvider(channel, environment);
  return provider?.forOrder ? provider.forOrder(order) : provider;
}

/** An order that may have been sent: by which of the provider's accounts; null: by the only one, or not sent. */
type SentOrder = MerchantOrder & { channel: Channel; environment: Environment; providerAccount: string | null };

/**
 * The provider at which an order is queried and sent; or the outcome that it has none now. An order that was sent by another
 * account than the present one is not queried: there a payout would be not found, and be sent again.
 */
export async function findAccountOf(
  findProvider: FindProvider,
  order: SentOrder,
  kind: keyof Accounts,
): Promise<Provider | Unknown> {
  const { channel, providerAccount: sentBy } = order;
  const provider = await findProviderOf(findProvider, order);
  if (!provider) {
    const message = `no usable account for ${channel}: set its credentials, or those by which the order was sent`;
    return { kind: 'unknown', reason: 'not-configured', message };
  }
  if (sentBy === null || sentBy === provider.accounts?.[kind]) return provider;
  const message = `sent by the account ${sentBy}, which is not configured now: configure it again, or resolve the order by hand`;
  return { kind: 'unknown', reason: 'other-account', message };
}
