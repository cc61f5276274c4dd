import { listKeys } from '../access/api-keys.ts';
import { auditOf } from '../access/audit-of.ts';
import type { AuditRow } from '../access/audit.ts';
import { totalDebit } from '../ledger/postings.ts';
import { BANKS } from '../lib/banks.ts';
import type { Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import type { MerchantScope } from '../lib/scope.ts';
import {
  listPayments,
  readTransaction,
  type Payment,
  readTimeline as readTransactionTimeline,
} from '../payments/queries.ts';
import { findBankAccount } from '../settlements/bank-account/queries.ts';
import { readSettledBefore, readSettlement, readTimeline as readSettlementTimeline } from '../settlements/queries.ts';
import { listCases } from '../withdrawals/conflicts.ts';
import { destinationOf, listApprovals, readPaidBefore, readWithdrawal, type Approval } from '../withdrawals/queries.ts';
import { readTimeline as readWithdrawalTimeline } from '../withdrawals/timeline.ts';
import { bankAccountLinks, paymentLinks, settlementLinks, withdrawalLinks } from './links.ts';
import { readMerchant } from './merchants.ts';
import { presentAudit, presentBankAccount, presentKey, presentSettlement, presentWithdrawal } from './present.ts';

/** All that a reviewer needs: with the whole destination. Throws NOT_FOUND. */
export async function withdrawalDetail(db: Queryable, withdrawalId: string) {
  const row = await readWithdrawal(db, withdrawalId);
  const [about, approvals, cases, before, timeline] = await Promise.all([
    requestDetail(db, row),
    listApprovals(db, row.id),
    listCases(db, row.id),
    readPaidBefore(db, row),
    readWithdrawalTimeline(db, row.id),
  ]);
  const { kind: _, ...destination } = destinationOf(row);
  const bank = row.bankCode === null ? {} : { bankName: bankName(row.bankCode) };
  return {
    ...presentWithdrawal(row),
    ...about,
    destination: { ...destination, ...bank },
    reason: row.reason,
    fee: toBirr(row.feeSantim),
    feeTax: toBirr(row.feeTaxSantim),
    totalDebit: toBirr(totalDebit(row)),
    paidAmount: row.paidSantim === null ? null : toBirr(row.paidSantim),
    approvals: approvals.map((approval) => presentApproval(approval, about.decisions)),
    approvalsMissing: row.stage === 'UNDER_REVIEW' ? Math.max(row.approvalsNeeded - approvals.length, 0) : 0,
    paidBefore: { ...presentBefore(before), accountNames: before.accountNames },
    providerCode: row.providerCode,
    lastOutcome: row.lastOutcome,
    failure: row.failure,
    submittedAt: iso(row.submittedAt),
    completedAt: iso(row.completedAt),
    reversedAt: iso(row.reversedAt),
    timeline: timeline.map(presentEntry),
    links: withdrawalLinks(row, cases),
  };
}

/** All that whoever approves it or orders the transfer needs: with the whole account number. Throws NOT_FOUND. */
export async function settlementDetail(db: Queryable, settlementId: string) {
  const row = await readSettlement(db, settlementId);
  const [about, before, timeline] = await Promise.all([
    requestDetail(db, row),
    readSettledBefore(db, row),
    readSettlementTimeline(db, row.id),
  ]);
  return {
    ...presentSettlement(row),
    ...about,
    bankName: bankName(row.bankCode),
    fee: toBirr(row.feeSantim),
    feeTax: toBirr(row.feeTaxSantim),
    totalDebit: toBirr(totalDebit(row)),
    settledBefore: presentBefore(before),
    overdueAt: iso(row.overdueAt),
    timeline: timeline.map(presentEntry),
    links: settlementLinks(row),
  };
}

/** A transaction with every payment that came for it, for whoever decides about held money. Throws NOT_FOUND. */
export async function transactionDetail(db: Queryable, transactionId: string) {
  const row = await readTransaction(db, transactionId);
  const [merchant, payments, timeline, decisions] = await Promise.all([
    readMerchant(db, row.merchantId),
    listPayments(db, row.id),
    readTransactionTimeline(db, row.id),
    auditOf(db, row.id),
  ]);
  const { id, amountSantim, needsReconciliation, customerName, customerEmail, customerPhone, createdAt, ...rest } = row;
  return {
    transactionId: id,
    merchantId: rest.merchantId,
    merchantName: merchant.name,
    environment: rest.environment,
    sessionId: rest.sessionId,
    checkoutOrderNo: rest.checkoutOrderNo,
    amount: toBirr(amountSantim),
    currency: rest.currency,
    type: rest.type,
    status: rest.status,
    channel: rest.channel,
    held: rest.holdReason,
    uncertain: needsReconciliation,
    lateConfirmation: rest.confirmedLate,
    customer: { name: customerName, email: customerEmail, phone: customerPhone },
    providerReference: rest.providerReference,
    failure: rest.failure,
    createdAt: createdAt.toISOString(),
    completedAt: iso(rest.completedAt),
    payments: payments.map((payment) => presentPayment(id, payment)),
    timeline: timeline.map(presentEntry),
    decisions: decisions.map(presentAudit),
  };
}

/** The account that counts now, for whoever verifies it: with its whole number. Throws NOT_FOUND. */
export async function bankAccountDetail(db: Queryable, scope: MerchantScope) {
  const row = await findBankAccount(db, scope);
  if (!row) throw notFound('bank account');
  return {
    ...presentBankAccount(row),
    ...(await requestDetail(db, row)),
    bankName: bankName(row.bankCode),
    decidedBy: row.decidedBy,
    links: bankAccountLinks(row),
  };
}

/** What all that merchants ask for has alike: whose it is, who asked for it, and what operators have said. */
async function requestDetail(db: Queryable, row: { id: string; merchantId: string; requestedBy: string }) {
  const { id, merchantId, requestedBy } = row;
  const [merchant, [key], decisions] = await Promise.all([
    readMerchant(db, merchantId),
    listKeys(db, { id: requestedBy, merchantId }),
    auditOf(db, id),
  ]);
  return {
    merchantName: merchant.name,
    requestedBy,
    requestedWith: key ? presentKey(key) : null,
    decisions: decisions.map(presentAudit),
  };
}

type Decision = Pick<AuditRow, 'action' | 'operatorId' | 'operatorName' | 'reason'>;

/** The audit log has the operator's name and words. */
function presentApproval({ operatorId, approvedAt }: Approval, decisions: readonly Decision[]) {
  const said = decisions.find((one) => one.action === 'withdrawal.approve' && one.operatorId === operatorId);
  return {
    operatorId,
    operatorName: said?.operatorName ?? null,
    at: approvedAt.toISOString(),
    reason: said?.reason ?? null,
  };
}

function presentPayment(transactionId: string, payment: Payment) {
  const { id, amountSantim, receivedSantim, holdResolution, createdAt, ...rest } = payment;
  return {
    attemptId: id,
    channel: rest.channel,
    phone: rest.phone,
    status: rest.status,
    expected: toBirr(amountSantim),
    currency: rest.currency,
    received: receivedSantim === null ? null : toBirr(receivedSantim),
    receivedCurrency: rest.receivedCurrency,
    lastOutcome: rest.lastOutcome,
    lastCheckedAt: iso(rest.lastCheckedAt),
    providerReference: rest.providerReference,
    providerCode: rest.providerCode,
    failure: rest.failure,
    decision: holdResolution,
    decidedAt: iso(rest.holdResolvedAt),
    returnReference: rest.returnReference,
    startedAt: createdAt.toISOString(),
    endedAt: iso(rest.endedAt),
    links: paymentLinks(transactionId, payment),
  };
}

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

function presentEntry({
  occurredAt,
  kind,
  detail,
}: {
  occurredAt: Date;
  kind: string;
  detail: Record<string, unknown>;
}) {
  return { at: occurredAt.toISOString(), kind, detail };
}

function presentBefore({ count, santim, lastAt }: { count: number; santim: Santim; lastAt: Date | null }) {
  return { count, amount: toBirr(santim), lastAt: iso(lastAt) };
}

function bankName(code: string): string {
  return code in BANKS ? BANKS[code as keyof typeof BANKS] : code;
}
