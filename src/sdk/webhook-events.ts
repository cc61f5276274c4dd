export type Environment = 'sandbox' | 'live';

/** What every event's `data` starts with. `version` rises with every change: keep the highest, whatever came last. */
type Snapshot<Kind extends string> = { object: Kind; environment: Environment; merchantId: string; version: number };

/** A payment as its events show it, complete each time. Unknown members may be added. */
export type Transaction = Snapshot<'transaction'> & {
  transactionId: string;
  sessionId: string;
  /** Your own reference. */
  checkoutOrderNo: string;
  /** In birr. */
  amount: number;
  currency: 'ETB';
  transactionThrough: 'telebirr' | 'cbebirr' | 'awashbirr' | null;
  /** YYYY-MM-DD in Addis Ababa. */
  transactionDate: string;
  type: 'API' | 'QRCODE';
  status: 'PENDING' | 'SUCCESS' | 'FAILED' | 'CANCELLED' | 'EXPIRED';
  createdAt: string;
  completedAt?: string;
  customerName?: string;
  customerEmail?: string;
  customerPhone?: string;
  providerReference?: string;
  failure?: { code: string; message: string; providerCode: string | null; retryable: boolean };
  /** Paid after the session had ended. */
  lateConfirmation?: boolean;
  /** Why the money waits for a decision. */
  held?: 'WRONG_AMOUNT' | 'WRONG_CURRENCY';
  metadata?: Record<string, string>;
};

export type SubscriptionTest = Snapshot<'subscription'> & { subscriptionId: string; message: string };

type Envelope<Name extends string, Data> = {
  event: Name;
  /** The same on every delivery of the event: what to deduplicate on. */
  event_id: string;
  api_version: string;
  /** ISO 8601, UTC. */
  created_at: string;
  data: Data;
  signature: string;
};

type TransactionEventName =
  | 'checkout.completed'
  | 'checkout.failed'
  | 'checkout.canceled'
  | 'checkout.expired'
  | 'payment.created'
  | 'payment.succeeded'
  | 'payment.completed';

/** The events of this version. New types are added without a new version: have a default branch. */
export type WebhookEvent =
  | { [Name in TransactionEventName]: Envelope<Name, Transaction> }[TransactionEventName]
  | Envelope<'webhook.test', SubscriptionTest>;
