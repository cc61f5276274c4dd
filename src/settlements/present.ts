import { totalDebit } from '../ledger/postings.ts';
import { addisDay, isoOrNull } from '../lib/dates.ts';
import { maskDigits } from '../lib/mask.ts';
import { toBirr } from '../lib/money.ts';
import type { SettlementRow } from './model.ts';

/** The public settlement; what is unknown is left out. */
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
    ...(row.bankReference === null ? {} : { bankReference: row.bankReference }),
    ...(row.failure === null ? {} : { failure: row.failure }),
    environment: row.environment,
    requestedAt: row.requestedAt.toISOString(),
    ...(row.sentAt === null ? {} : { sentAt: row.sentAt.toISOString() }),
    ...(row.creditedAt === null
      ? {}
      : { creditedAt: row.creditedAt.toISOString(), creditedOn: addisDay(row.creditedAt) }),
    ...(row.returnedAt === null ? {} : { returnedAt: row.returnedAt.toISOString() }),
    ...(row.completedAt === null ? {} : { completedAt: row.completedAt.toISOString() }),
  };
}

/** `data` of every settlement event: a full snapshot, so the order of deliveries does not matter. */
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
