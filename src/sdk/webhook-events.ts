export type Environment = 'sandbox' | 'live';

/** The first fields of every event's `data`. `version` rises with every change: keep the highest, in any order of arrival. */
type Snapshot<Kind extends string> = { object: Kind; environment: Environment; merchantId: string; version: number };

/** A payment, complete in each event. Unknown fields may be added. */
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
  /** The paid amount, where a different one was accepted. */
  receivedAmount?: number;
  /** Once the payment has succeeded; netAmount = the paid amount - fee - feeTax. */
  fee?: number;
  feeTax?: number;
  netAmount?: number;
  /** What refunds have paid back. */
  refundedAmount?: number;
  providerReference?: string;
  failure?: { code: string; message: string; providerCode: string | null; retryable: boolean };
  /** Paid after the session had ended. */
  lateConfirmation?: boolean;
  /** Why the money is held for a decision. */
  held?: 'WRONG_AMOUNT' | 'WRONG_CURRENCY' | 'REFERENCE_USED';
  metadata?: Record<string, string>;
};

/** A refund of a payment, complete in each event. Unknown fields may be added. */
export type Refund = Snapshot<'refund'> & {
  refundId: string;
  /** Your own id of the refund. */
  reference: string;
  transactionId: string;
  /** In birr: what the payer gets back. */
  amount: number;
  /** The amount that the payer got, where it differs; a rest is back in the balance. */
  paidAmount?: number;
  returnFee: boolean;
  /** Of the payment's fee and tax: given back to you. */
  feeReturned: number;
  feeTaxReturned: number;
  /** Debited from your balance: amount, or paidAmount if it is less, - feeReturned - feeTaxReturned. */
  totalDebit: number;
  currency: 'ETB';
  channel: 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';
  reason?: string;
  status: 'PENDING' | 'SUCCESS' | 'FAILED';
  /** While PENDING. */
  stage?: 'AWAITING_CONFIRMATION' | 'CREATED' | 'SUBMITTED' | 'UNKNOWN';
  pendingReason?: string;
  providerReference?: string;
  failure?: { code: string; message: string; providerCode: string; retryable: boolean };
  requestedAt: string;
  completedAt?: string;
};

/** Money from your balance. */
type Outgoing = {
  /** Your own id of the request. */
  requestId: string;
  /** In birr: what the beneficiary or your bank account gets. */
  amount: number;
  fee: number;
  feeTax: number;
  /** Debited from your balance: amount + fee + feeTax. */
  totalDebit: number;
  currency: 'ETB';
  requestedAt: string;
  completedAt?: string;
};

/** A withdrawal, complete in each event. Unknown fields may be added. */
export type Withdrawal = Snapshot<'withdrawal'> &
  Outgoing & {
    withdrawalRequestId: string;
    /** The amount that the beneficiary got, where it differs; the rest is back in the balance. */
    paidAmount?: number;
    channel: 'TELEBIRR' | 'CBE_BIRR' | 'AWASH';
    /** Of numbers the last four digits only. */
    destination: { phone?: string; bankCode?: string; accountNumber?: string; accountName: string };
    reason?: string;
    status: 'PENDING' | 'SUCCESS' | 'FAILED' | 'REJECTED' | 'CANCELLED' | 'REVERSED';
    /** While PENDING. */
    stage?: 'AWAITING_CONFIRMATION' | 'CREATED' | 'UNDER_REVIEW' | 'SUBMITTED' | 'UNKNOWN';
    pendingReason?: string;
    reviewReasons?: string[];
    providerReference?: string;
    failure?: { code: string; message: string; providerCode: string; retryable: boolean };
    limitsApplied: { min: number; max: number; daily: number | null; usedTodayBefore: number };
    reversedAt?: string;
  };

/** A settlement to your bank account, complete in each event. Unknown fields may be added. */
export type Settlement = Snapshot<'settlement'> &
  Outgoing & {
    settlementId: string;
    /** Of the number the last four digits only. */
    bankAccount: { bankCode: string; accountNumber: string; accountName: string };
    status: 'REQUESTED' | 'APPROVED' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'REJECTED' | 'CANCELLED';
    /** YYYY-MM-DD in Addis Ababa, as are the two below. */
    effectiveDate: string;
    earliestExpected: string;
    expectedBy: string;
    /** The days until then that are not business days, each with its reason. */
    dateReasons: { date: string; reason: string; provisional: boolean }[];
    /** The bank's trace id. */
    bankReference?: string;
    failure?: { code: string; message: string };
    sentAt?: string;
    creditedAt?: string;
    /** The day of creditedAt, YYYY-MM-DD in Addis Ababa. */
    creditedOn?: string;
    /** When the bank sent back what it had credited. */
    returnedAt?: string;
  };

/** A report whose file is ready. Unknown fields may be added. */
export type Report = Snapshot<'report'> & {
  reportId: string;
  kind: 'payments' | 'refunds' | 'withdrawals' | 'settlements' | 'balance';
  format: 'CSV' | 'XLSX' | 'JSON' | 'PDF';
  period: 'day' | 'week' | 'month' | 'quarter' | 'custom';
  /** YYYY-MM-DD in Addis Ababa. */
  startDate: string;
  endDate: string;
  timeZone: string;
  filters: { status: string; channel: string };
  status: 'READY';
  rowsDone: number;
  rowsTotal: number;
  /** In birr, by column. */
  totals: Record<string, number>;
  /** All rows are of this instant. */
  snapshotAt: string;
  fileName: string;
  /** Bytes. */
  fileSize: number;
  /** Of the file's bytes, in hex. */
  sha256: string;
  /** Needs your API key; valid until expiresAt. */
  fileUrl: string;
  expiresAt: string;
  requestedAt: string;
  completedAt: string;
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

type EventsOf<Names extends string, Data> = { [Name in Names]: Envelope<Name, Data> }[Names];

/** The events of this version. New types are added without a new version: have a default branch. */
export type WebhookEvent =
  | EventsOf<`checkout.${'completed' | 'failed' | 'canceled' | 'expired'}`, Transaction>
  | EventsOf<`payment.${'created' | 'succeeded' | 'completed'}`, Transaction>
  | EventsOf<`refund.${'created' | 'succeeded' | 'failed'}`, Refund>
  | EventsOf<
      `withdrawal.${'created' | 'under_review' | 'succeeded' | 'failed' | 'rejected' | 'canceled' | 'reversed'}`,
      Withdrawal
    >
  | EventsOf<
      `settlement.${'requested' | 'processing' | 'completed' | 'failed' | 'rejected' | 'canceled' | 'updated'}`,
      Settlement
    >
  | Envelope<'report.ready', Report>
  | Envelope<'webhook.test', SubscriptionTest>;
