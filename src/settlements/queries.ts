import type { Fee } from '../ledger/fees.ts';
import type { Payout } from '../ledger/postings.ts';
import { endOfAddisDay } from '../lib/dates.ts';
import { first, type Queryable } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import { maskedInSql } from '../lib/mask.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import {
  createPayoutExport,
  payoutConditions,
  type AllPayouts,
  type ExportedPayout,
  type PayoutFilter,
} from '../payouts/list.ts';
import type { BankAccountRow } from './bank-account/account.ts';
import type { SettlementDates } from './calendar/business-days.ts';
import { IS_OPEN, type SettlementStatus } from './states.ts';

/** Its bank account is the one that was linked at the time of the request. */
export type SettlementRow = MerchantScope &
  Fee &
  SettlementDates &
  Pick<BankAccountRow, 'bankCode' | 'accountNumber' | 'accountName' | 'requestedBy'> & {
    id: string;
    requestId: string;
    isFullBalance: boolean;
    amountSantim: Santim;
    bankAccountId: string;
    currency: string;
    status: SettlementStatus;
    bankReference: string | null;
    failure: { code: string; message: string } | null;
    approvedBy: string | null;
    version: number;
    requestedAt: Date;
    approvedAt: Date | null;
    sentAt: Date | null;
    /** opr_…: the one operator who gave it to the bank. */
    sentBy: string | null;
    creditedAt: Date | null;
    completedAt: Date | null;
    overdueAt: Date | null;
    /** The bank sent back what it had credited, under this trace id. */
    returnedAt: Date | null;
    returnReference: string | null;
    lateCredit: LateCredit | null;
    /** The decision of operators about it; null: pending. */
    lateCreditResolution: 'BOOKED' | 'DISMISSED' | null;
  };

/** A credit that the bank reports of a settlement that had FAILED. It is booked only by an operator. */
export type LateCredit = { bankReference: string; creditedAt: string; operatorId: string; at: string };

/** A settlement of any merchant, for workflows and operators. Throws NOT_FOUND. */
export async function readSettlement(db: Queryable, id: string): Promise<SettlementRow> {
  return found(await first(db, 'SELECT * FROM settlement WHERE id = :id', { id }), 'settlement');
}

/** The same, locked until the transaction ends. Throws NOT_FOUND. */
export async function lockSettlement({ trx }: Pick<UnitOfWork, 'trx'>, id: string): Promise<SettlementRow> {
  return found(await first(trx, 'SELECT * FROM settlement WHERE id = :id FOR UPDATE', { id }), 'settlement');
}

/** A settlement of this merchant and environment. Throws NOT_FOUND. */
export async function findSettlement(db: Queryable, scope: MerchantScope, id: string): Promise<SettlementRow> {
  const sql = 'SELECT * FROM settlement WHERE id = :id AND merchant_id = :merchantId AND environment = :environment';
  return found(await first(db, sql, { ...scopeOf(scope), id }), 'settlement');
}

/** When it becomes overdue: the end of the last expected day. */
export function overdueFrom({ expectedUntil }: Pick<SettlementRow, 'expectedUntil'>): Date {
  return endOfAddisDay(expectedUntil);
}

/** The settlement as the ledger books it. */
export function toPayout(row: SettlementRow): Payout & { type: 'settlement' } {
  return { ...row, type: 'settlement' };
}

const SEARCHED = ['request_id', 'bank_reference'];

export type SettlementFilter = PayoutFilter<SettlementStatus>;

/** Settlements, newest first: of a merchant, or of all. */
export async function listSettlements(db: Queryable, filter: AllPayouts<SettlementFilter>, page: Page) {
  const listed = { columns: '*', table: 'settlement', time: 'requested_at' };
  return paginateNewest<SettlementRow>(db, { ...listed, ...payoutConditions(filter, { searched: SEARCHED }) }, page);
}

/** A settlement as reports list it; `accountNumber` has only the last four digits. */
export type ExportedSettlement = ExportedPayout<SettlementRow>;

export const settlementExport = createPayoutExport<SettlementRow>({
  table: 'settlement',
  columns: `*, ${maskedInSql('account_number')} AS account_number`,
  groupBy: 'status',
  isPaid: `status = 'COMPLETED'`,
  isOpen: IS_OPEN,
  paid: 'amount_santim',
  searched: SEARCHED,
});

/** Earlier completed settlements of the merchant to the same account: their number, sum, and the last credit. */
export async function readSettledBefore(db: Queryable, row: SettlementRow) {
  const settled = await first<{ count: number; santim: Santim; lastAt: Date | null }>(
    db,
    `SELECT count(*)::int AS count, CAST(coalesce(sum(amount_santim), 0) AS bigint) AS santim, max(credited_at) AS last_at
     FROM settlement
     WHERE merchant_id = :merchantId AND environment = :environment AND id <> :id AND status = 'COMPLETED'
       AND bank_code = :bankCode AND account_number = :accountNumber
       AND completed_at <= coalesce(CAST(:completedAt AS timestamptz), 'infinity')`,
    row,
  );
  const { count = 0, santim = 0n, lastAt = null } = settled ?? {};
  return { count, amount: toBirr(santim), lastAt };
}
