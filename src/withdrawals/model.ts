import type { Payout } from '../ledger/postings.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { CallbackWithdrawal } from '../providers/callbacks.ts';
import type { PayoutFailure, PayoutOutcome } from '../providers/provider.ts';
import type { Destination } from './destination.ts';
import type { ReviewReason } from './review.ts';
import type { WithdrawalStage, WithdrawalStatus } from './states.ts';

/** The limits a withdrawal was judged by when it was asked for; santim as plain numbers. */
export type LimitsApplied = {
  minSantim: number;
  maxSantim: number;
  dailySantim: number | null;
  usedTodaySantim: number;
};

/** A row of `withdrawal`. */
export type WithdrawalRow = MerchantScope & {
  id: string;
  requestId: string;
  amountSantim: Santim;
  feeSantim: Santim;
  feeTaxSantim: Santim;
  /** What the beneficiary got, where that is not the amount. */
  paidSantim: Santim | null;
  currency: string;
  channel: Channel;
  phone: string | null;
  bankCode: string | null;
  accountNumber: string | null;
  accountName: string;
  reason: string | null;
  status: WithdrawalStatus;
  stage: WithdrawalStage;
  reviewReasons: ReviewReason[];
  approvalsNeeded: number;
  limitSnapshot: LimitsApplied;
  providerReference: string | null;
  providerCode: string | null;
  lastOutcome: PayoutOutcome['kind'] | null;
  failure: PayoutFailure | null;
  callbackSecret: string;
  leaseUntil: Date | null;
  lastCheckedAt: Date | null;
  requestedBy: string;
  version: number;
  requestedAt: Date;
  submittedAt: Date | null;
  completedAt: Date | null;
  reversedAt: Date | null;
  /** When its provider first said that it paid, without that having ended it. */
  firstReportedPaidAt: Date | null;
  conflictDetectedAt: Date | null;
  conflictResolvedAt: Date | null;
};

/** One withdrawal, whoever's: for workflows and operators. Throws NOT_FOUND. */
export async function readWithdrawal(db: Queryable, id: string): Promise<WithdrawalRow> {
  const [row] = await rows<WithdrawalRow>(db, 'SELECT * FROM withdrawal WHERE id = :id', { id });
  if (!row) throw notFound('withdrawal');
  return row;
}

/** One of the merchant's, by our id or by its own requestId. Throws NOT_FOUND. */
export async function findWithdrawal(
  db: Queryable,
  scope: MerchantScope,
  idOrRequestId: string,
): Promise<WithdrawalRow> {
  const [row] = await rows<WithdrawalRow>(
    db,
    `SELECT * FROM withdrawal
     WHERE merchant_id = :merchantId AND environment = :environment AND (id = :wanted OR request_id = :wanted)
     ORDER BY id <> :wanted LIMIT 1`,
    { ...scopeOf(scope), wanted: idOrRequestId },
  );
  if (!row) throw notFound('withdrawal');
  return row;
}

/** Where its money goes. */
export function destinationOf(row: WithdrawalRow): Destination {
  const { accountName, phone, bankCode, accountNumber } = row;
  if (phone !== null) return { kind: 'phone', phone, accountName };
  if (bankCode !== null && accountNumber !== null) return { kind: 'bank', bankCode, accountNumber, accountName };
  throw new Error(`withdrawal ${row.id} has no destination`);
}

/** What the ledger books of it. */
export function toPayout(row: WithdrawalRow): Payout & { type: 'withdrawal' } {
  const { id, channel, amountSantim, feeSantim, feeTaxSantim } = row;
  const paidSantim = row.paidSantim ?? amountSantim;
  return { ...scopeOf(row), type: 'withdrawal', id, channel, amountSantim, paidSantim, feeSantim, feeTaxSantim };
}

/** The withdrawal that a provider's callback belongs to, by the last part of the address it was given; null for any other. */
export async function findWithdrawalBySecret(db: Queryable, secret: string): Promise<CallbackWithdrawal | null> {
  const [withdrawal] = await rows<CallbackWithdrawal>(
    db,
    `SELECT id AS withdrawal_id, channel, environment FROM withdrawal WHERE callback_secret = :secret`,
    { secret },
  );
  return withdrawal ?? null;
}
