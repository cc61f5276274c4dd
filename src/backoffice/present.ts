import type { ApiKey } from '../access/api-keys.ts';
import type { AuditRow } from '../access/audit.ts';
import { maskKey } from '../access/key-format.ts';
import type { Operator, OperatorKey } from '../access/operators.ts';
import type { Balance } from '../ledger/balance.ts';
import { toBirr } from '../lib/money.ts';
import type { MerchantChannel } from '../merchants/channels/queries.ts';
import type { ApplicationRow, Kyc } from '../merchants/kyc/queries.ts';
import type { Merchant } from '../merchants/operations.ts';
import type { HeldDecision } from '../payments/holds.ts';
import type { Discrepancy } from '../reconciliation/discrepancies.ts';
import type { ReconciledDay } from '../reconciliation/runs.ts';
import type { BankAccountRow } from '../settlements/bank-account/queries.ts';
import type { Holiday } from '../settlements/calendar/queries.ts';
import type { SettlementRow } from '../settlements/queries.ts';
import { destinationOf, maskDestination, type WithdrawalRow } from '../withdrawals/queries.ts';

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

export function presentMerchant({ id, name, status, kycStatus, createdAt }: Merchant) {
  return { merchantId: id, name, status, kycStatus, createdAt: createdAt.toISOString() };
}

export function presentChannel({ channel, platformState, approval, enabled, usable, reason }: MerchantChannel) {
  return { channel, platformState, approval, enabled, usable, reason };
}

/** What a merchant has in one environment. */
export function presentEnvironmentSummary(balance: Balance, channels: readonly MerchantChannel[]) {
  return {
    available: toBirr(balance.availableSantim),
    reserved: toBirr(balance.reservedSantim),
    feesToDate: toBirr(balance.feesSantim),
    netSettled: toBirr(balance.settledSantim),
    channels: channels.map(presentChannel),
  };
}

export function presentKey(key: ApiKey) {
  const { id, environment, kind, name, scopes, ipRanges, rotatedTo } = key;
  return {
    keyId: id,
    environment,
    kind,
    key: maskKey(key),
    name,
    scopes,
    ipRanges,
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
    rotatedTo,
    createdBy: key.createdBy,
    secretHolders: key.secretHolders,
    lastUsedAt: iso(key.lastUsedAt),
    createdAt: key.createdAt.toISOString(),
  };
}

export function presentAudit({ id, occurredAt: at, ...row }: AuditRow) {
  return { auditId: id, ...row, at: at.toISOString() };
}

export function presentOperator({ id, createdAt, ...row }: Operator) {
  return { operatorId: id, ...row, createdAt: createdAt.toISOString() };
}

export function presentOperatorKey({ id, operatorId, name, key, ...at }: OperatorKey) {
  return {
    keyId: id,
    operatorId,
    name,
    key,
    expiresAt: iso(at.expiresAt),
    revokedAt: iso(at.revokedAt),
    lastUsedAt: iso(at.lastUsedAt),
    createdAt: at.createdAt.toISOString(),
  };
}

/** Of the beneficiary's number its last digits. */
export function presentWithdrawal(row: WithdrawalRow) {
  const { id, merchantId, environment, currency, channel, status, stage, reviewReasons, approvalsNeeded } = row;
  return {
    withdrawalId: id,
    requestId: row.requestId,
    merchantId,
    environment,
    amount: toBirr(row.amountSantim),
    currency,
    channel,
    destination: maskDestination(destinationOf(row)),
    status,
    stage,
    reviewReasons,
    approvalsNeeded,
    providerReference: row.providerReference,
    requestedAt: row.requestedAt.toISOString(),
  };
}

export function presentHeldDecision({ transaction, payment, fee }: HeldDecision) {
  const { id, merchantId, environment, status } = transaction;
  return {
    transactionId: id,
    merchantId,
    environment,
    status,
    amount: toBirr(transaction.amountSantim),
    attemptId: payment.id,
    decision: payment.holdResolution,
    received: payment.receivedSantim === null ? null : toBirr(payment.receivedSantim),
    receivedCurrency: payment.receivedCurrency,
    ...(fee && { fee: toBirr(fee.feeSantim), feeTax: toBirr(fee.feeTaxSantim) }),
    reference: payment.returnReference,
  };
}

export function presentHoliday({ id, date, name, nameAm, kind, confirmed, active, source, updatedAt }: Holiday) {
  return { holidayId: id, date, name, nameAm, kind, confirmed, active, source, updatedAt: iso(updatedAt) };
}

/** With the whole account number: whoever sends the money needs it. */
export function presentSettlement(row: SettlementRow) {
  const { merchantId, environment, currency, status, effectiveDate, expectedFrom, expectedUntil, failure } = row;
  return {
    settlementId: row.id,
    requestId: row.requestId,
    merchantId,
    environment,
    amount: toBirr(row.amountSantim),
    currency,
    status,
    bankCode: row.bankCode,
    accountNumber: row.accountNumber,
    accountName: row.accountName,
    effectiveDate,
    earliestExpected: expectedFrom,
    expectedBy: expectedUntil,
    bankReference: row.bankReference,
    failure,
    requestedAt: row.requestedAt.toISOString(),
    approvedAt: iso(row.approvedAt),
    approvedBy: row.approvedBy,
    sentAt: iso(row.sentAt),
    sentBy: row.sentBy,
    creditedAt: iso(row.creditedAt),
    returnedAt: iso(row.returnedAt),
    returnReference: row.returnReference,
    lateCredit: row.lateCredit && { ...row.lateCredit, ended: row.lateCreditResolution },
  };
}

/** With the whole number: whoever verifies it needs it. */
export function presentBankAccount(row: BankAccountRow) {
  const { merchantId, environment, bankCode, accountNumber, accountName, status, rejectionReason } = row;
  return {
    bankAccountId: row.id,
    merchantId,
    environment,
    bankCode,
    accountNumber,
    accountName,
    status,
    rejection: rejectionReason,
    linkedAt: row.createdAt.toISOString(),
    usableFrom: row.usableFrom.toISOString(),
    decidedAt: iso(row.decidedAt),
  };
}

export function presentApplication(row: ApplicationRow) {
  const { merchantId, environment, status, submissions, tier, reviewMessage, decidedBy } = row;
  return {
    merchantId,
    environment,
    status,
    submission: submissions,
    tier,
    message: reviewMessage,
    submittedAt: iso(row.submittedAt),
    decidedBy,
    decidedAt: iso(row.decidedAt),
  };
}

export function presentKyc({ row, documents, timeline, live }: Kyc) {
  return {
    ...presentApplication(row),
    details: row.details,
    documents: documents.map(({ id, kind, fileName, contentType, bytes, sha256, submission, uploadedAt }) => ({
      documentId: id,
      kind,
      fileName,
      contentType,
      bytes,
      sha256,
      submission,
      uploadedAt: uploadedAt.toISOString(),
    })),
    liveKeysWork: live.isApproved && live.hasSandboxPayment,
    timeline: timeline.map(({ occurredAt: at, kind, by, detail }) => ({ at: at.toISOString(), kind, by, detail })),
  };
}

export function presentDifference({
  id,
  orderStatus,
  bookedSantim,
  listedSantim,
  listedCurrency,
  detectedAt,
  closedAt,
  ...row
}: Discrepancy) {
  return {
    differenceId: id,
    ...row,
    ourStatus: orderStatus,
    ours: bookedSantim === null ? null : toBirr(bookedSantim),
    theirs: listedSantim === null ? null : toBirr(listedSantim),
    theirCurrency: listedCurrency,
    detectedAt: detectedAt.toISOString(),
    closedAt: iso(closedAt),
  };
}

export function presentReconciledDay({ listed, booked, clearingSantim, comparedAt, ...row }: ReconciledDay) {
  return {
    ...row,
    theirs: listed && presentSums(listed),
    ours: booked && presentSums(booked),
    owed: clearingSantim === null ? null : toBirr(clearingSantim),
    comparedAt: iso(comparedAt),
  };
}

function presentSums({ payments, payouts, reversals }: NonNullable<ReconciledDay['listed']>) {
  const sum = ({ count, santim }: typeof payments) => ({ count, amount: toBirr(santim) });
  return { payments: sum(payments), payouts: sum(payouts), reversals: sum(reversals) };
}
