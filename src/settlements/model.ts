import type { Payout } from '../ledger/postings.ts';
import type { BankCode } from '../lib/banks.ts';
import { endOfAddisDay } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { SkippedDay } from './calendar/business-days.ts';
import type { SettlementStatus } from './states.ts';

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
