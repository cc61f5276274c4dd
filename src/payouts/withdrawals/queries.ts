import type { Payout } from '../../ledger/postings.ts';
import { snakeCase } from '../../lib/column-names.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import { maskedInSql } from '../../lib/mask.ts';
import type { Santim } from '../../lib/money.ts';
import { paginateNewest } from '../../lib/paginate-newest.ts';
import type { Page } from '../../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import type { LimitsJson } from '../../merchants/channels/queries.ts';
import type { PayoutDestination } from '../../providers/provider.ts';
import { createPayoutExport, OUTGOING_COLUMNS, OUTGOING_EXPORT, payoutConditions } from '../list.ts';
import type { AllPayouts, ExportedPayout, OutgoingFilter } from '../list.ts';
import { findPayout, payoutById, type PayoutRow } from '../queries.ts';
import type { ReviewReason, WithdrawalStage, WithdrawalStatus } from './states.ts';

export type WithdrawalRow = PayoutRow<'withdrawal', WithdrawalStatus, WithdrawalStage> & {
  phone: string | null;
  bankCode: string | null;
  accountNumber: string | null;
  accountName: string;
  reviewReasons: ReviewReason[];
  approvalsNeeded: number;
  /** The limits that applied when it was requested, and what had been used; santim as plain numbers. */
  limitSnapshot: LimitsJson & { usedTodaySantim: number };
  reversedAt: Date | null;
};

/** A withdrawal of any merchant by its id; locked until the end of the transaction. Throw NOT_FOUND. */
export const { read: readWithdrawal, lock: lockWithdrawal } = payoutById<WithdrawalRow>('withdrawal');

/** One withdrawal of the merchant, by our id or its own requestId. Throws NOT_FOUND. */
export const findWithdrawal = async (db: Queryable, scope: MerchantScope, idOrReference: string) =>
  findPayout<WithdrawalRow>(db, scope, { kind: 'withdrawal', idOrReference });

/** The merchant's withdrawals with these requestIds, by them. */
export async function listByRequestIds(
  db: Queryable,
  scope: MerchantScope,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, WithdrawalRow>> {
  const sql = `SELECT * FROM payout
    WHERE kind = 'withdrawal' AND merchant_id = :merchantId AND environment = :environment AND reference = ANY (:requestIds)`;
  const requested = await rows<WithdrawalRow>(db, sql, { ...scopeOf(scope), requestIds });
  return new Map(requested.map((row) => [row.reference, row]));
}

/** The destination of a withdrawal, which the table has in either of two forms. */
export function destinationOf({ phone, bankCode, accountNumber, accountName }: WithdrawalRow): Destination {
  if (phone !== null) return { kind: 'phone', phone, accountName };
  return { kind: 'bank', bankCode: bankCode!, accountNumber: accountNumber!, accountName };
}

/** The payout that the ledger posts. */
export function toPayout(row: WithdrawalRow): Payout & { type: 'withdrawal' } {
  return { ...row, type: 'withdrawal', paidSantim: row.paidSantim ?? row.amountSantim };
}

/** A phone or a bank account, and the beneficiary's name. */
export type Destination = PayoutDestination & { accountName: string };

/** The key of a beneficiary, as the index `payout_beneficiary` has it. */
export function beneficiaryOf(destination: PayoutDestination): string {
  return destination.kind === 'phone' ? destination.phone : `${destination.bankCode}:${destination.accountNumber}`;
}

const SEARCHED = ['reference', 'provider_reference'];

export type WithdrawalFilter = OutgoingFilter<WithdrawalStatus, WithdrawalStage>;

/** Withdrawals, newest first: of one merchant, or for operators of all. */
export async function listWithdrawals(db: Queryable, filter: AllPayouts<WithdrawalFilter>, page: Page) {
  return paginateNewest<WithdrawalRow>(
    db,
    { table: 'payout', time: 'requested_at', ...payoutConditions(filter, { kind: 'withdrawal', searched: SEARCHED }) },
    page,
  );
}

const EXPORTED = [
  ...OUTGOING_COLUMNS,
  'reference',
  'accountName',
  'reversedAt',
] as const satisfies (keyof WithdrawalRow)[];
/** `destination`: the last four digits of the phone, or of the account after its bank. */
type ExportedRow = Pick<WithdrawalRow, (typeof EXPORTED)[number]> & { destination: string };

export type ExportedWithdrawal = ExportedPayout<ExportedRow>;

export const withdrawalExport = createPayoutExport<ExportedRow>({
  ...OUTGOING_EXPORT,
  searched: SEARCHED,
  table: 'payout',
  kind: 'withdrawal',
  columns: `${EXPORTED.map(snakeCase).join(', ')}, concat_ws(' ', bank_code, ${maskedInSql('coalesce(phone, account_number)')}) AS destination`,
});

/** The amount withdrawn over each channel since an instant that counts towards the daily limit; santim. */
export async function withdrawnSince(
  db: Queryable,
  scope: MerchantScope,
  since: Date,
): Promise<ReadonlyMap<string, bigint>> {
  const sql = 'SELECT id AS channel, withdrawn_since(:merchantId, :environment, id, :since) AS used FROM channel';
  const counted = await rows<{ channel: string; used: bigint }>(db, sql, { ...scopeOf(scope), since });
  return new Map(counted.map(({ channel, used }) => [channel, used]));
}

/** The approvals of a withdrawal, oldest first; the sandbox approves as "sandbox-1" and "sandbox-2". */
export async function listApprovals(db: Queryable, withdrawalId: string) {
  const sql = 'SELECT * FROM payout_approval WHERE payout_id = :withdrawalId ORDER BY approved_at';
  return rows<{ operatorId: string; approvedAt: Date }>(db, sql, { withdrawalId });
}

/** The merchant's earlier payouts to the same phone or account that were not reversed, and the names they were made under. */
export async function readPaidBefore(db: Queryable, row: WithdrawalRow) {
  const { id, merchantId, environment, completedAt } = row;
  const paid = await first<{ count: number; santim: Santim; lastAt: Date | null; accountNames: string[] }>(
    db,
    `SELECT count(*)::int AS count, CAST(coalesce(sum(coalesce(paid_santim, amount_santim)), 0) AS bigint) AS santim,
            max(completed_at) AS last_at, coalesce(array_agg(DISTINCT account_name), '{}') AS account_names
     FROM payout
     WHERE kind = 'withdrawal' AND merchant_id = :merchantId AND environment = :environment AND id <> :id AND status = 'SUCCESS'
       AND coalesce(phone, bank_code || ':' || account_number) = :beneficiary
       AND completed_at <= coalesce(CAST(:completedAt AS timestamptz), 'infinity')`,
    { id, merchantId, environment, completedAt, beneficiary: beneficiaryOf(destinationOf(row)) },
  );
  return found(paid, 'withdrawal');
}
