import { auditOf, presentAudit, type AuditContext, type AuditedChange } from '../access/audit.ts';
import { actionLinks, operatorReadRoute, operatorRoute, type ActionLinks } from '../access/operator-route.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { isoOrNull } from '../lib/dates.ts';
import type { Database, Queryable } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf } from '../lib/scope.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readMerchant } from '../merchants/operations.ts';
import { needsTwoPeople } from '../merchants/review-policy.ts';
import { acceptHeldPayment, readHeldMoney, returnHeldPayment, type HeldDecision } from './holds.ts';
import { presentTransaction } from './present.ts';
import { isAcceptable, isUndecided, listPayments, readTransaction, type Payment } from './queries.ts';
import * as schema from './transaction-schema.ts';

type Deps = { db: Database; clock: Clock };

/** Transactions as operators see them, and the decisions about held money. */
export function paymentOperatorRoutes(deps: Deps): Route[] {
  return [detailRoute(deps), acceptRoute(deps), returnRoute(deps)];
}

function detailRoute({ db }: Deps): Route {
  return operatorReadRoute('GET /api/ops/transactions/:transactionId', {
    operationId: 'opsGetTransaction',
    cli: 'payments get',
    summary: 'Get a transaction with every attempt to pay it, and the commands that each allows',
    permission: 'payment.accept',
    params: schema.OperatorParams,
    responses: { 200: schema.OperatorTransactionDetail },
    handle: async ({ params }) => ({
      message: 'Transaction retrieved',
      data: await readDetail(db, params.transactionId),
    }),
  });
}

function acceptRoute({ clock }: Deps): Route {
  return operatorRoute('POST /api/ops/transactions/:transactionId/accept', {
    operationId: 'opsAcceptPayment',
    cli: { name: 'payments release', confirm: '/api/ops/transactions/{transactionId}' },
    summary: 'Give held money to the merchant, less the fee',
    description:
      'Money of another amount makes the transaction SUCCESS with what was received. A second payment leaves the transaction as it is. Money of another currency, or under a reference that has paid another transaction, can only be returned.',
    action: 'payment.accept',
    secondPerson: isLarge,
    clock,
    params: schema.OperatorParams,
    body: schema.PaymentAcceptance,
    responses: { 200: schema.HeldDecision },
    errors: ['INVALID_STATE'],
    run: async ({ tx, at }, { params, body: { attemptId } }) => {
      const decision = await acceptHeldPayment(tx, { ...params, attemptId, at });
      const { feeSantim = 0n, feeTaxSantim = 0n } = decision.fee ?? {};
      const audit = auditDecision(decision, { fee: toBirr(feeSantim), feeTax: toBirr(feeTaxSantim) });
      return { message: 'The money is given to the merchant', data: presentDecision(decision), audit };
    },
  });
}

function returnRoute({ clock }: Deps): Route {
  return operatorRoute('POST /api/ops/transactions/:transactionId/reject', {
    operationId: 'opsRejectPayment',
    cli: { name: 'payments return', confirm: '/api/ops/transactions/{transactionId}' },
    summary: 'Record that held money was returned to the customer, under the reference of the return',
    description:
      'A transaction without other pending money becomes FAILED. The merchant sees the reason and the reference.',
    action: 'payment.return',
    secondPerson: isLarge,
    clock,
    params: schema.OperatorParams,
    body: schema.PaymentReturn,
    responses: { 200: schema.HeldDecision },
    errors: ['INVALID_STATE'],
    run: async ({ tx, at }, { params, body }) => {
      const decision = await returnHeldPayment(tx, { ...params, ...body, at });
      const audit = auditDecision(decision, { reference: body.reference });
      return { message: 'The money went back to the customer', data: presentDecision(decision), audit };
    },
  });
}

/** Whether the held money needs two operators. */
async function isLarge(
  { tx: { trx } }: AuditContext,
  { body: { attemptId } }: { body: { attemptId: string } },
): Promise<boolean> {
  const money = await readHeldMoney(trx, attemptId);
  return money !== undefined && needsTwoPeople(trx, money);
}

function auditDecision(decision: HeldDecision, more: Record<string, unknown>): AuditedChange | null {
  const { transaction, payment, before, isNew } = decision;
  if (!isNew) return null;
  const { id: attemptId, holdResolution, receivedSantim, receivedCurrency: currency } = payment;
  const received = receivedSantim === null ? null : toBirr(receivedSantim);
  return {
    resourceType: 'transaction',
    resourceId: transaction.id,
    ...scopeOf(transaction),
    before: { status: before.status, holdReason: before.holdReason, holdResolution: null },
    after: { status: transaction.status, attemptId, holdResolution, received, currency, ...more },
  };
}

function presentDecision({ transaction, payment, fee }: HeldDecision) {
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

async function readDetail(db: Queryable, transactionId: string) {
  const row = await readTransaction(db, transactionId);
  const [merchant, payments, timeline, decisions] = await Promise.all([
    readMerchant(db, row.merchantId),
    listPayments(db, row.id),
    readTimeline(db, row.id),
    auditOf(db, row.id),
  ]);
  return {
    ...presentTransaction(row),
    merchantId: row.merchantId,
    merchantName: merchant.name,
    uncertain: row.needsReconciliation,
    payments: payments.map((payment) => presentAttempt(row.id, payment)),
    timeline,
    decisions: decisions.map(presentAudit),
  };
}

function presentAttempt(transactionId: string, payment: Payment) {
  const { id, amountSantim, receivedSantim, holdResolution, holdResolvedAt, createdAt, ...attempt } = payment;
  return {
    ...attempt,
    attemptId: id,
    expected: toBirr(amountSantim),
    received: receivedSantim === null ? null : toBirr(receivedSantim),
    lastCheckedAt: isoOrNull(attempt.lastCheckedAt),
    decision: holdResolution,
    decidedAt: isoOrNull(holdResolvedAt),
    startedAt: createdAt.toISOString(),
    endedAt: isoOrNull(attempt.endedAt),
    links: linksOf(transactionId, payment),
  };
}

/** Only held money is decided about, and some of it can only be returned. */
function linksOf(transactionId: string, payment: Payment): ActionLinks {
  if (!isUndecided(payment)) return {};
  return actionLinks(`transactions/${transactionId}`, ...(isAcceptable(payment) ? ['accept'] : []), 'reject');
}
