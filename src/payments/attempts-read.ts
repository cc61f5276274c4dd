import { rows, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { ProviderFailure } from '../providers/provider.ts';
import type { OutcomeKind } from './attempt.ts';
import type { TransactionRow } from './present.ts';
import type { AttemptStatus } from './states.ts';

/** One try to pay a transaction, and what came of it. */
export type Payment = {
  id: string;
  channel: Channel;
  /** Who pays: digits from the country code on. */
  phone: string;
  amountSantim: Santim;
  currency: string;
  status: AttemptStatus;
  /** The provider's latest word, and when it was asked. */
  lastOutcome: OutcomeKind | null;
  lastCheckedAt: Date | null;
  providerReference: string | null;
  providerCode: string | null;
  failure: ProviderFailure | null;
  /** What came; null while nothing did. */
  receivedSantim: Santim | null;
  receivedCurrency: string | null;
  holdResolution: 'ACCEPTED' | 'RETURNED' | null;
  holdResolvedAt: Date | null;
  returnReference: string | null;
  createdAt: Date;
  endedAt: Date | null;
};

/** One transaction, whoever's: for operators. Throws NOT_FOUND. */
export async function readTransaction(db: Queryable, transactionId: string): Promise<TransactionRow> {
  const sql = 'SELECT * FROM transaction WHERE id = :transactionId';
  const [row] = await rows<TransactionRow>(db, sql, { transactionId });
  if (!row) throw notFound('transaction');
  return row;
}

/** Every try to pay it, the oldest first. */
export async function listPayments(db: Queryable, transactionId: string): Promise<Payment[]> {
  return rows<Payment>(
    db,
    `SELECT id, channel, phone, amount_santim, currency, status, last_outcome, last_checked_at, provider_reference,
            provider_code, failure, received_santim, received_currency, hold_resolution, hold_resolved_at, return_reference,
            created_at, ended_at
     FROM payment_attempt WHERE transaction_id = :transactionId ORDER BY created_at, id`,
    { transactionId },
  );
}

/** Whether an operator is to decide about its money: of another amount or currency, or a second time. */
export function isUndecided({ status, holdResolution }: Payment): boolean {
  return (status === 'HELD' || status === 'DUPLICATE') && holdResolution === null;
}

/** Whether a merchant can be given it: all else can only go back. */
export function isAcceptable({ receivedSantim, receivedCurrency }: Payment): boolean {
  return receivedSantim !== null && receivedSantim > 0n && receivedCurrency === 'ETB';
}
