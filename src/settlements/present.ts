import { listPeriod, presentMovement, readPeriod, sumPeriod } from '../ledger/balance.ts';
import { totalDebit } from '../ledger/postings.ts';
import { addisDay, isoOrNull } from '../lib/dates.ts';
import type { Queryable } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import { toBirr } from '../lib/money.ts';
import type { Page } from '../lib/pagination.ts';
import type { SettlementRow } from './queries.ts';

/** The settlement as the API returns it; unknown fields are omitted. */
export function presentSettlement(row: SettlementRow) {
  return {
    settlementId: row.id,
    requestId: row.requestId,
    amount: toBirr(row.amountSantim),
    fee: toBirr(row.feeSantim),
    feeTax: toBirr(row.feeTaxSantim),
    totalDebit: toBirr(totalDebit(row)),
    currency: row.currency,
    bankAccount: {
      bankCode: row.bankCode,
      accountNumber: maskDigits(row.accountNumber),
      accountName: row.accountName,
    },
    status: row.status,
    effectiveDate: row.effectiveDate,
    earliestExpected: row.expectedFrom,
    expectedBy: row.expectedUntil,
    dateReasons: row.skippedDays,
    bankReference: row.bankReference ?? undefined,
    failure: row.failure ?? undefined,
    environment: row.environment,
    requestedAt: row.requestedAt.toISOString(),
    sentAt: row.sentAt?.toISOString(),
    creditedAt: row.creditedAt?.toISOString(),
    creditedOn: row.creditedAt ? addisDay(row.creditedAt) : undefined,
    returnedAt: row.returnedAt?.toISOString(),
    completedAt: row.completedAt?.toISOString(),
  };
}

/** `data` of every settlement event: a full snapshot, independent of the order of deliveries. */
export function settlementSnapshot(row: SettlementRow) {
  const { environment, ...fields } = presentSettlement(row);
  return { object: 'settlement', environment, merchantId: row.merchantId, version: row.version, ...fields };
}

/** A settlement as operators see it, with the unmasked account number: whoever orders the transfer needs it. */
export function presentForOperators(row: SettlementRow) {
  const { merchantId, bankCode, accountNumber, accountName, approvedBy, sentBy, returnReference, lateCredit } = row;
  return {
    ...presentSettlement(row),
    merchantId,
    bankAccount: { bankCode, accountNumber, accountName },
    approvedAt: isoOrNull(row.approvedAt),
    approvedBy,
    sentBy,
    returnReference,
    lateCredit: lateCredit && { ...lateCredit, ended: row.lateCreditResolution },
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
  const { settlementId, requestId, status, currency, amount, bankReference, creditedAt } = presentSettlement(row);
  const about = { settlementId, requestId, status, currency, amount, bankReference, creditedAt };
  const data = {
    ...about,
    previousSettlementId: period.previousSettlementId,
    periodFrom: isoOrNull(period.from),
    periodUntil: period.until.toISOString(),
    openingBalance: toBirr(period.openingSantim),
    closingBalance: toBirr(period.closingSantim),
    totals: totals.map(({ type, count, amountSantim }) => ({ type, count, amount: toBirr(amountSantim) })),
    movements: rows.map(presentMovement),
  };
  return { data, pagination };
}
