import { pageMovements, presentMovement, readPeriod, sumPeriod } from '../ledger/balance.ts';
import { totalDebit } from '../ledger/postings.ts';
import { addisDay } from '../lib/dates.ts';
import type { Queryable } from '../lib/db.ts';
import { withoutNulls } from '../lib/fields.ts';
import { maskDigits } from '../lib/mask.ts';
import { toBirr } from '../lib/money.ts';
import type { Page } from '../lib/pagination.ts';
import { messageCodeOf } from '../lib/sandbox-reasons.ts';
import type { SettlementRow } from './queries.ts';
import { Settlement } from './schema.ts';

/** The public settlement, without the fields that have no value. Columns that the schema does not name are dropped. */
export function presentSettlement(row: SettlementRow) {
  return Settlement.parse(
    withoutNulls({
      ...row,
      settlementId: row.id,
      amount: toBirr(row.amountSantim),
      fee: toBirr(row.feeSantim),
      feeTax: toBirr(row.feeTaxSantim),
      totalDebit: toBirr(totalDebit(row)),
      bankAccount: { ...row, accountNumber: maskDigits(row.accountNumber) },
      earliestExpected: row.expectedFrom,
      expectedBy: row.expectedUntil,
      dateReasons: row.skippedDays,
      failure: row.failure && { ...row.failure, ...messageCodeOf(row.failure.message) },
      creditedOn: row.creditedAt && addisDay(row.creditedAt),
    }),
  );
}

/** `data` of every settlement event: a full snapshot, independent of the order of deliveries. */
export function settlementSnapshot(row: SettlementRow) {
  const { environment, ...fields } = presentSettlement(row);
  return { object: 'settlement', environment, merchantId: row.merchantId, version: row.version, ...fields };
}

/** A settlement as operators see it, with the unmasked account number, which the transfer needs. */
export function presentForOperators(row: SettlementRow) {
  const { merchantId, approvedAt, approvedBy, sentBy, overdueAt, returnReference, lateCredit } = row;
  const decided = { merchantId, approvedAt, approvedBy, sentBy, overdueAt, returnReference };
  const late = lateCredit && { ...lateCredit, ended: row.lateCreditResolution };
  return { ...presentSettlement(row), ...decided, bankAccount: row, lateCredit: late };
}

/**
 * The statement of a settlement: every movement of the available balance after the previous settlement, up to and including
 * its own. The opening balance plus all movements is the closing balance, with which the next one opens. Immutable.
 */
export async function readStatement(db: Queryable, row: SettlementRow, page: Page) {
  const period = await readPeriod(db, row, row.id);
  if (!period) throw new Error(`settlement ${row.id} has no journal`);
  const [totals, { rows, pagination }] = await Promise.all([
    sumPeriod(db, period),
    pageMovements(db, period, { order: 'ASC', page }),
  ]);
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
