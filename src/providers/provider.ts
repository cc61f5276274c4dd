import type { Santim } from '../lib/money.ts';
import type { Environment } from '../lib/owner.ts';

export type Channel = 'TELEBIRR' | 'CBE_BIRR' | 'AWASH' | 'MPESA';

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
  | { kind: 'unknown'; reason: 'timeout' | 'network' | 'http' | 'unreadable'; message: string };

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

/**
 * What a callback says about itself. It is a reason to ask the provider (`query`), never the truth: even a verified one
 * only triggers a check (src/transactions/check.ts).
 */
export type ParsedCallback = { verified: true; orderId: string } | { verified: false; problem: string };

export type RawCallback = { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer };

/** One provider's real wire format over HTTP. Every call ends within its timeout, in an outcome: nothing is thrown for what a provider does. */
export type Provider = {
  channel: Channel;
  initiate: (order: PaymentOrder) => Promise<ProviderOutcome>;
  query: (orderId: string) => Promise<ProviderOutcome>;
  parseCallback: (callback: RawCallback) => ParsedCallback;
  /** What the provider expects as the answer to a callback it should not repeat. */
  callbackAnswer: { contentType: string; body: string };
};

/** The configured provider of a channel in an environment; null where none is (a live channel without configuration). */
export type FindProvider = (channel: Channel, environment: Environment) => Provider | null;
