import { listPeriod, presentMovement, readPeriod, sumPeriod } from '../ledger/balance.ts';
import { totalDebit } from '../ledger/postings.ts';
import { addisDay } from '../lib/dates.ts';
import type { Queryable } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import { toBirr } from '../lib/money.ts';
import type { Page } from '../lib/pagination.ts';
import { messageCodeOf } from '../lib/sandbox-reasons.ts';
import type { SettlementRow } from './queries.ts';

/** The settlement as the API returns it; unknown fields are omitted. */
export function presentSettlement(row: SettlementRow) {
  const { requestId, currency, bankCode, accountName, status, effectiveDate, environment, requestedAt } = row;
  return {
    settlementId: row.id,
    requestId,
    amount: toBirr(row.amountSantim),
    fee: toBirr(row.feeSantim),
    feeTax: toBirr(row.feeTaxSantim),
    totalDebit: toBirr(totalDebit(row)),
    currency,
    bankAccount: { bankCode, accountNumber: maskDigits(row.accountNumber), accountName },
    status,
    effectiveDate,
    earliestExpected: row.expectedFrom,
    expectedBy: row.expectedUntil,
    dateReasons: row.skippedDays,
    bankReference: row.bankReference ?? undefined,
    failure: row.failure ? { ...row.failure, ...messageCodeOf(row.failure.message) } : undefined,
    environment,
    requestedAt,
    sentAt: row.sentAt ?? undefined,
    creditedAt: row.creditedAt ?? undefined,
    creditedOn: row.creditedAt ? addisDay(row.creditedAt) : undefined,
    returnedAt: row.returnedAt ?? undefined,
    completedAt: row.completedAt ?? undefined,
  };
}

/** `data` of every settlement event: a full snapshot, independent of the order of deliveries. */
export function settlementSnapshot(row: SettlementRow) {
  const { environment, ...fields } = presentSettlement(row);
  return { object: 'settlement', environment, merchantId: row.merchantId, version: row.version, ...fields };
}

/** A settlement as operators see it, with the unmasked account number, which the transfer needs. */
export function presentForOperators(row: SettlementRow) {
  const { lateCredit, lateCreditResolution } = row;
  return {
    ...row,
    ...presentSettlement(row),
    bankAccount: row,
    lateCredit: lateCredit && { ...lateCredit, ended: lateCreditResolution },
  };
}

/**
 * The statement of a settlement: every movement of the available balance after the previous settlement, up to and including
 * its own. The opening balance plus all movements is the closing balance, with which the next one opens. Immutable.
 */
export async function readStatement(db: Queryable, row: SettlementRow, page: Page) {
  const period = await readPeriod(db, row, row.id);
  if (!period) throw new Error(`settlement ${row.id} has no journal`);
  const [totals, { rows, pagination }] = await Promise.all([sumPeriod(db, period), listPeriod(db, period, page)]);
  const data = {
    ...presentSettlement(row),
    previousSettlementId: period.previousSettlementId,
    periodFrom: period.from,
    periodUntil: period.until,
    openingBalance: toBirr(period.openingSantim),
    closingBalance: toBirr(period.closingSantim),
    totals: totals.map(({ type, count, amountSantim }) => ({ type, count, amount: toBirr(amountSantim) })),
    movements: rows.map(presentMovement),
  };
  return { data, pagination };
}
