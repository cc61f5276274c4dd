import { first, rows, updateRow, type Queryable, type Trx } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { rowById } from '../lib/row-by-id.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { CallbackPayout } from '../providers/callbacks.ts';
import type { PayoutFailure, PayoutOutcome } from '../providers/provider.ts';

export type PayoutKind = 'withdrawal' | 'refund';

/** Money that goes out by an order at a provider: what withdrawals and refunds have in common. */
export type PayoutRow<Kind = PayoutKind, Status = string, Stage = string> = MerchantScope & {
  id: string;
  kind: Kind;
  /** The merchant's own. */
  reference: string;
  amountSantim: Santim;
  feeSantim: Santim;
  feeTaxSantim: Santim;
  currency: string;
  channel: Channel;
  reason: string | null;
  status: Status;
  stage: Stage;
  version: number;
  /** key_… or usr_…. */
  requestedBy: string;
  /** usr_…: the second person of the merchant, where one was needed. */
  confirmedBy: string | null;
  confirmedAt: Date | null;
  callbackSecret: string;
  /** Our account there by which it is sent, or of a refund, which was paid; of live ones. */
  providerAccount: string | null;
  providerReference: string | null;
  providerCode: string | null;
  lastOutcome: PayoutOutcome['kind'] | null;
  lastCheckedAt: Date | null;
  leaseUntil: Date | null;
  failure: PayoutFailure | null;
  /** What was paid, if not the amount. */
  paidSantim: Santim | null;
  requestedAt: Date;
  submittedAt: Date | null;
  completedAt: Date | null;
  /** When the provider first reported it as paid, if that report caused no transition. */
  firstReportedPaidAt: Date | null;
};

/** The status, or the stage while PENDING. */
export function stateOf({ status, stage }: Pick<PayoutRow, 'status' | 'stage'>): string {
  return status === 'PENDING' ? stage : status;
}

/** Who has requested the merchant's withdrawals or refunds that wait for a second person, the newest first. */
export async function listAwaiting(
  db: Queryable,
  kind: PayoutKind,
  { limit, ...scope }: MerchantScope & { limit: number },
) {
  const sql = `SELECT id, requested_by FROM payout WHERE merchant_id = :merchantId AND environment = :environment
    AND kind = :kind AND status = 'PENDING' AND stage = 'AWAITING_CONFIRMATION' ORDER BY id DESC LIMIT :limit`;
  return rows<Pick<PayoutRow, 'id' | 'requestedBy'>>(db, sql, { ...scopeOf(scope), kind, limit });
}

/** The columns of either kind that change after the request. */
export type PayoutChanges = Partial<Omit<PayoutRow, 'id' | 'kind'>> & { reversedAt?: Date };

/** Payouts of a kind of any merchant by their ids, as {@link rowById}. */
export const payoutById = <Row extends PayoutRow>(kind: Row['kind']) =>
  rowById<Row>('payout', kind, `kind = '${kind}'`);

/** Changes a locked payout. */
export async function changePayout<Row extends PayoutRow>(trx: Trx, row: Row, changes: PayoutChanges): Promise<Row> {
  return found(await updateRow<Row>(trx, { table: 'payout', id: row.id }, changes), row.kind);
}

/** One payout of the merchant, by our id or its own reference. Throws NOT_FOUND. */
export async function findPayout<Row extends PayoutRow>(
  db: Queryable,
  scope: MerchantScope,
  { kind, idOrReference }: { kind: Row['kind']; idOrReference: string },
): Promise<Row> {
  const sql = `SELECT * FROM payout WHERE kind = :kind AND merchant_id = :merchantId AND environment = :environment
      AND (id = :idOrReference OR reference = :idOrReference)
    ORDER BY id <> :idOrReference LIMIT 1`;
  return found(await first<Row>(db, sql, { ...scopeOf(scope), kind, idOrReference }), kind);
}

/** The payout of a provider's callback, by the secret in its address; null if there is none. `sentAt`: decides about its account. */
export async function findPayoutBySecret(db: Queryable, secret: string): Promise<CallbackPayout | null> {
  const sql = `SELECT p.id AS payout_id, p.kind, p.channel, p.environment, p.merchant_id,
      coalesce(a.initiated_at, a.created_at, p.submitted_at, p.created_at) AS sent_at
    FROM payout p LEFT JOIN payment_attempt a ON a.id = p.attempt_id WHERE p.callback_secret = :secret`;
  return (await first<CallbackPayout>(db, sql, { secret })) ?? null;
}
