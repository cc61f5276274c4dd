import type { Payout } from '../ledger/postings.ts';
import type { BankCode } from '../lib/banks.ts';
import { endOfAddisDay } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { DayRange, Page } from '../lib/pagination.ts';
import { scopeOf, type Environment, type MerchantScope } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { SkippedDay } from './calendar/business-days.ts';
import type { TimelineKind } from './schema.ts';
import type { SettlementStatus } from './states.ts';

/** What to list; null and undefined do not narrow. */
export type SettlementFilter = MerchantScope & {
  range: DayRange;
  statuses: SettlementStatus[] | null;
  /** Our id, the merchant's requestId, or the bank's reference, whole. */
  search?: string | undefined;
};

/** What operators list, of all merchants and both environments unless one is named. */
export type AllSettlements = Omit<SettlementFilter, keyof MerchantScope> & {
  merchantId?: string | undefined;
  environment?: Environment | undefined;
};

/** Conditions in SQL on settlements for those filters that are set, and their values. */
export function settlementConditions(filter: AllSettlements): {
  where: string;
  values: Record<string, unknown>;
} {
  const where = [
    filter.merchantId !== undefined && 'merchant_id = :merchantId',
    filter.environment !== undefined && 'environment = :environment',
    'requested_at >= :from AND requested_at < :until',
    filter.statuses && 'status = ANY (:statuses)',
    filter.search && '(id = :search OR request_id = :search OR bank_reference = :search)',
  ]
    .filter((one) => typeof one === 'string' && one !== '')
    .join(' AND ');
  const { merchantId, environment, range, statuses, search } = filter;
  const { from, until } = range;
  const values = { merchantId, environment, from, until, statuses, search: search ?? null };
  return { where, values };
}

/** The merchant's settlements, newest first. */
export async function listSettlements(db: Queryable, filter: SettlementFilter, page: Page) {
  return listAllSettlements(db, filter, page);
}

/** Settlements of all merchants, newest first. */
export async function listAllSettlements(db: Queryable, filter: AllSettlements, page: Page) {
  const listed = {
    columns: SETTLEMENT_COLUMNS,
    table: 'settlement',
    time: 'requested_at',
    ...settlementConditions(filter),
  };
  return paginateNewest<SettlementRow>(db, listed, page);
}

/** What was settled to the same account of the merchant before. */
export async function readSettledBefore(
  db: Queryable,
  row: SettlementRow,
): Promise<{ count: number; santim: Santim; lastAt: Date | null }> {
  const { id, merchantId, environment, bankCode, accountNumber, completedAt } = row;
  const [settled] = await rows<{ count: number; santim: Santim; lastAt: Date | null }>(
    db,
    `SELECT count(*)::int AS count, CAST(coalesce(sum(amount_santim), 0) AS bigint) AS santim, max(credited_at) AS last_at
     FROM settlement
     WHERE merchant_id = :merchantId AND environment = :environment AND id <> :id AND status = 'COMPLETED'
       AND bank_code = :bankCode AND account_number = :accountNumber
       AND completed_at <= coalesce(CAST(:completedAt AS timestamptz), 'infinity')`,
    { id, merchantId, environment, bankCode, accountNumber, completedAt },
  );
  if (!settled) throw new Error('an aggregate always has one row');
  return settled;
}

/** A row of `settlement`. Dates are days in Addis Ababa, YYYY-MM-DD. */
export type SettlementRow = MerchantScope & {
  id: string;
  requestId: string;
  isFullBalance: boolean;
  amountSantim: Santim;
  feeSantim: Santim;
  feeTaxSantim: Santim;
  currency: string;
  bankAccountId: string;
  bankCode: BankCode;
  accountNumber: string;
  accountName: string;
  status: SettlementStatus;
  effectiveDate: string;
  expectedFrom: string;
  expectedUntil: string;
  skippedDays: SkippedDay[];
  bankReference: string | null;
  failure: { code: string; message: string } | null;
  requestedBy: string;
  approvedBy: string | null;
  version: number;
  requestedAt: Date;
  approvedAt: Date | null;
  sentAt: Date | null;
  /** opr_…: who gave it to the bank, and nobody else. */
  sentBy: string | null;
  creditedAt: Date | null;
  completedAt: Date | null;
  overdueAt: Date | null;
  /** The bank sent back what it had credited, under this trace id. */
  returnedAt: Date | null;
  returnReference: string | null;
  lateCredit: LateCredit | null;
  /** What operators made of it; null while they have not. */
  lateCreditResolution: 'BOOKED' | 'DISMISSED' | null;
};

/** A credit that the bank reports of a settlement that had FAILED. It is not booked before an operator says so. */
export type LateCredit = { bankReference: string; creditedAt: string; operatorId: string; at: string };

/** All that {@link SettlementRow} has; days as texts. */
export const SETTLEMENT_COLUMNS = `id, merchant_id, environment, request_id, is_full_balance, amount_santim, fee_santim,
  fee_tax_santim, currency, bank_account_id, bank_code, account_number, account_name, status,
  CAST(effective_date AS text) AS effective_date, CAST(expected_from AS text) AS expected_from,
  CAST(expected_until AS text) AS expected_until, skipped_days, bank_reference, failure, requested_by, approved_by, version,
  requested_at, approved_at, sent_at, sent_by, credited_at, completed_at, overdue_at,
  returned_at, return_reference, late_credit, late_credit_resolution`;

/** One settlement, whoever's: for workflows and operators. Throws NOT_FOUND. */
export async function readSettlement(db: Queryable, id: string): Promise<SettlementRow> {
  const [row] = await rows<SettlementRow>(db, `SELECT ${SETTLEMENT_COLUMNS} FROM settlement WHERE id = :id`, { id });
  if (!row) throw notFound('settlement');
  return row;
}

/** The same, and nobody else moves it until the change ends. Throws NOT_FOUND. */
export async function lockSettlement({ trx }: Pick<UnitOfWork, 'trx'>, id: string): Promise<SettlementRow> {
  const sql = `SELECT ${SETTLEMENT_COLUMNS} FROM settlement WHERE id = :id FOR UPDATE`;
  const [row] = await rows<SettlementRow>(trx, sql, { id });
  if (!row) throw notFound('settlement');
  return row;
}

/** One of the merchant's. Throws NOT_FOUND. */
export async function findSettlement(db: Queryable, scope: MerchantScope, id: string): Promise<SettlementRow> {
  const [row] = await rows<SettlementRow>(
    db,
    `SELECT ${SETTLEMENT_COLUMNS} FROM settlement
     WHERE id = :id AND merchant_id = :merchantId AND environment = :environment`,
    { ...scopeOf(scope), id },
  );
  if (!row) throw notFound('settlement');
  return row;
}

/** From when on the bank's answer is late: the end of the day it is expected by. */
export function overdueFrom({ expectedUntil }: Pick<SettlementRow, 'expectedUntil'>): Date {
  return endOfAddisDay(expectedUntil);
}

/** What the ledger books of it. */
export function toPayout(row: SettlementRow): Payout & { type: 'settlement' } {
  const { id, amountSantim, feeSantim, feeTaxSantim } = row;
  return { ...scopeOf(row), type: 'settlement', id, amountSantim, feeSantim, feeTaxSantim };
}

export type TimelineRow = { occurredAt: Date; kind: TimelineKind; detail: Record<string, unknown> };

/** Everything that happened to one settlement, oldest first. */
export async function readTimeline(db: Queryable, settlementId: string): Promise<TimelineRow[]> {
  return rows<TimelineRow>(
    db,
    'SELECT occurred_at, kind, detail FROM settlement_timeline WHERE settlement_id = :settlementId ORDER BY id',
    { settlementId },
  );
}
