import { auditOf, presentAudit, type AuditContext, type AuditedChange } from '../access/audit.ts';
import {
  actionLinks,
  operatorListRoute,
  operatorReadRoute,
  operatorRoute,
  type OperatorResult,
  type WorkflowUrl,
} from '../access/operator-route.ts';
import type { Route } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import { toBirr } from '../lib/money.ts';
import { readDayRangeOfOrder } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readMerchant } from '../merchants/operations.ts';
import { needsTwoPeople } from '../merchants/review-policy.ts';
import { acceptHeldPayment, isUndecided, returnHeldPayment, whyOnlyReturnable, type HeldDecision } from './holds.ts';
import { listAllTransactions } from './operator-queries.ts';
import { listAttempts, presentAttempt, presentTransaction, readTransaction, type AttemptRow } from './queries.ts';
import type { RefundsOfPayments } from './refunds-of-payments.ts';
import * as schema from './transaction-schema.ts';
import { paymentWorkflowId } from './workflow.ts';

type Deps = { db: Database; workflowUrl: WorkflowUrl; refundsOfPayments: RefundsOfPayments };

/** Transactions as operators see them, and the decisions about held money. */
export function paymentOperatorRoutes(deps: Deps): Route[] {
  const decision = {
    secondPerson: isLarge,
    params: schema.OperatorParams,
    responses: { 200: schema.HeldDecision },
    errors: ['INVALID_STATE'] as const,
  };
  return [
    listRoute(deps),
    operatorReadRoute('GET /api/ops/transactions/:transactionId', {
      operationId: 'opsGetTransaction',
      cli: 'payments get',
      summary: 'Get a transaction with every attempt to pay it, and the commands that each allows',
      permission: 'payment.accept',
      params: schema.OperatorParams,
      responses: { 200: schema.operatorTransactionDetail(deps.refundsOfPayments.shape) },
      handle: async ({ params }) => ({
        message: 'Transaction retrieved',
        data: await readDetail(deps, params.transactionId),
      }),
    }),
    operatorRoute('POST /api/ops/transactions/:transactionId/accept', {
      ...decision,
      operationId: 'opsAcceptPayment',
      cli: { name: 'payments release', confirm: '/api/ops/transactions/{transactionId}' },
      summary: 'Give held money to the merchant, less the fee',
      description:
        'Money of another amount makes the transaction SUCCESS with what was received. A second payment leaves the transaction as it is. Money of another currency, or under a reference that has paid another transaction, can only be returned.',
      action: 'payment.accept',
      body: schema.PaymentAcceptance,
      run: async ({ tx, at }, { params, body: { attemptId } }) =>
        presentDecision(
          await acceptHeldPayment(tx, { ...params, attemptId, at }),
          'The money is given to the merchant',
        ),
    }),
    operatorRoute('POST /api/ops/transactions/:transactionId/reject', {
      ...decision,
      operationId: 'opsRejectPayment',
      cli: { name: 'payments return', confirm: '/api/ops/transactions/{transactionId}' },
      summary: 'Record that held money was returned to the customer, under the reference of the return',
      description:
        'A transaction without other pending money becomes FAILED. The merchant sees the reason and the reference.',
      action: 'payment.return',
      body: schema.PaymentReturn,
      run: async ({ tx, at }, { params, body }) =>
        presentDecision(await returnHeldPayment(tx, { ...params, ...body, at }), 'The money went back to the customer'),
    }),
  ];
}

function listRoute({ db, workflowUrl }: Deps): Route {
  return operatorListRoute('GET /api/ops/transactions', {
    operationId: 'opsListTransactions',
    cli: {
      name: 'payments list',
      columns: 'createdAt transactionId merchantId checkoutOrderNo amount transactionThrough status',
    },
    summary: 'List transactions of all merchants, newest first',
    description:
      'The days default to the last 30, at most 93 apart, or to all days with checkoutOrderNo. Phones are masked.',
    query: schema.OperatorTransactionQuery,
    item: schema.OperatorTransaction,
    name: 'Transactions',
    list: async (query, page, at) => listAllTransactions(db, { ...query, range: readDayRangeOfOrder(query, at) }, page),
    present: (row) => ({
      ...presentTransaction(row),
      customerPhone: row.customerPhone === null ? undefined : maskDigits(row.customerPhone),
      merchantId: row.merchantId,
      merchantName: row.merchantName,
      temporalUrl: row.attemptId === null ? null : workflowUrl(paymentWorkflowId(row.attemptId)),
    }),
  });
}

/** Whether the held money needs two operators: the received amount, or the expected one where that is no ETB. */
async function isLarge(
  { tx: { trx } }: AuditContext,
  { params, body }: { params: { transactionId: string }; body: { attemptId: string } },
): Promise<boolean> {
  const payment = (await listAttempts(trx, params.transactionId)).find(({ id }) => id === body.attemptId);
  if (!payment) return false;
  const { receivedCurrency, receivedSantim, amountSantim: expected } = payment;
  const amountSantim = receivedCurrency === 'ETB' ? (receivedSantim ?? expected) : expected;
  return needsTwoPeople(trx, { ...scopeOf(payment), amountSantim });
}

function presentDecision({ transaction, payment, before, fee, isNew }: HeldDecision, message: string): OperatorResult {
  const { id: transactionId, status } = transaction;
  const attempt = presentOperatorAttempt(payment);
  const { attemptId, decision: holdResolution, received, receivedCurrency, returnReference: reference } = attempt;
  const charged = fee && { fee: toBirr(fee.feeSantim), feeTax: toBirr(fee.feeTaxSantim) };
  const after = { status, attemptId, holdResolution, received, currency: receivedCurrency, ...charged };
  const audit: AuditedChange = {
    resourceType: 'transaction',
    resourceId: transactionId,
    ...scopeOf(transaction),
    before: { status: before.status, holdReason: before.holdReason, holdResolution: null },
    after: reference === null ? after : { ...after, reference },
  };
  const amount = toBirr(transaction.amountSantim);
  const data = { ...attempt, ...scopeOf(transaction), transactionId, status, amount, ...charged, reference };
  return { message, data, audit: isNew ? audit : null };
}

async function readDetail({ db, workflowUrl, refundsOfPayments }: Deps, transactionId: string) {
  const row = await readTransaction(db, transactionId);
  const [merchant, payments, refunds, timeline, decisions] = await Promise.all([
    readMerchant(db, row.merchantId),
    listAttempts(db, row.id),
    refundsOfPayments.list(db, row.id),
    readTimeline(db, row.id),
    auditOf(db, row.id),
  ]);
  return {
    ...presentTransaction(row),
    merchantId: row.merchantId,
    merchantName: merchant.name,
    uncertain: row.needsReconciliation,
    payments: payments.map((payment) => ({
      ...presentOperatorAttempt(payment),
      temporalUrl: workflowUrl(paymentWorkflowId(payment.id)),
    })),
    refunds,
    timeline,
    decisions: decisions.map(presentAudit),
  };
}

/** Only held money is decided about, and some of it can only be returned. */
function presentOperatorAttempt(payment: AttemptRow) {
  const verbs = whyOnlyReturnable(payment) === null ? ['accept', 'reject'] : ['reject'];
  const links = actionLinks(`transactions/${payment.transactionId}`, ...(isUndecided(payment) ? verbs : []));
  return { ...presentAttempt(payment), links };
}
