import { z } from 'zod';

import { readRoute, type Route } from '../http/route.ts';
import { listResourceMovements, presentMovement } from '../ledger/balance.ts';
import { isFeeReturnable } from '../ledger/fees.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { invalidState, sandboxOnly, serviceUnavailable } from '../lib/errors.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import { readPage } from '../lib/pagination.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { readTimeline } from '../lib/timeline.ts';
import type { FindProvider } from '../providers/provider.ts';
import { findResourceDeliveries } from '../webhooks/events/queries.ts';
import {
  findTransaction,
  listAttempts,
  listedTransactions,
  presentAttempt,
  presentTransaction,
  readTransactionFilter,
  type ListedTransaction,
  type TransactionRow,
} from './queries.ts';
import type { RefundsOfPayments } from './refunds-of-payments.ts';
import { isAttemptOver } from './states.ts';
import type { CheckAttempt } from './sync.ts';
import * as schema from './transaction-schema.ts';

type TransactionDeps = {
  db: Database;
  clock: Clock;
  findProvider: FindProvider;
  checkAttempt: CheckAttempt;
  refundsOfPayments: RefundsOfPayments;
};

/** The contract's transaction list, one transaction with its timeline and deliveries, and its payer's part in the sandbox. */
export function transactionRoutes(deps: TransactionDeps): Route[] {
  return [
    readRoute('GET /api/checkout/txns/get_all_txns', {
      operationId: 'listTransactions',
      tag: 'Transactions',
      summary: 'Transactions of a range of days',
      description:
        'Newest first unless sorted. Days are whole days in Addis Ababa, both ends included, at most 93 days apart.',
      auth: { by: 'key', scope: 'transactions:read' },
      query: schema.TransactionListQuery,
      responses: { 200: z.array(schema.Transaction) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const filter = readTransactionFilter(caller, query, deps.clock());
        const listed = listedTransactions(filter, query.sort);
        const { rows, pagination } = await paginateNewest<ListedTransaction>(deps.db, listed, readPage(query));
        // As JSON text: validating 100 rows against their schema costs more than reading them. A test compares the two.
        const dataJson = JSON.stringify(rows.map(presentTransaction));
        return { message: 'Transactions retrieved', dataJson, pagination };
      },
    }),
    readRoute('GET /api/checkout/txns/:transactionId', {
      operationId: 'getTransaction',
      tag: 'Transactions',
      summary: 'One transaction with its attempts, movements of the balance, timeline and webhook deliveries',
      auth: { by: 'key', scope: 'transactions:read' },
      params: schema.TransactionParams,
      responses: { 200: schema.transactionDetail(deps.refundsOfPayments.shape) },
      handle: async ({ caller, params }) => {
        const transaction = await findTransaction(deps.db, caller, params.transactionId);
        return { message: 'Transaction retrieved', data: await readDetail(deps, caller, transaction) };
      },
    }),
    decisionRoute(deps),
  ];
}

async function readDetail(
  { db, refundsOfPayments }: TransactionDeps,
  scope: MerchantScope,
  transaction: TransactionRow,
) {
  const { id } = transaction;
  const refunds = await refundsOfPayments.list(db, id);
  const isPaid = transaction.status === 'SUCCESS';
  const [feeReturnable, attempts, movements, timeline, deliveries] = await Promise.all([
    isPaid && isFeeReturnable(db, transaction),
    listAttempts(db, id),
    listResourceMovements(db, scope, [id, ...refunds.map(({ refundId }) => refundId)]),
    readTimeline(db, id),
    findResourceDeliveries(db, scope, id),
  ]);
  return {
    ...presentTransaction(transaction),
    attempts: attempts.map(presentAttempt),
    movements: movements.map(presentMovement),
    refunds,
    feeReturnable,
    timeline,
    deliveries,
  };
}

function decisionRoute(deps: TransactionDeps): Route {
  return readRoute('POST /api/checkout/sandbox/txns/:transactionId/decision', {
    operationId: 'decideSandboxPayment',
    tag: 'Transactions',
    summary: 'Sandbox: approve or decline a payment that waits for its payer, in place of the payer',
    description:
      'The provider is queried at once: the response has the result. Webhooks follow as after any payment. A phone that ' +
      'pays a wrong amount, or whose callback is lost, does so here too.',
    auth: { by: 'key', scope: 'checkout:write' },
    params: schema.TransactionParams,
    body: schema.PayerDecision,
    responses: { 200: schema.Transaction },
    errors: ['INVALID_STATE'],
    handle: async ({ caller, params, body: { decision } }) => {
      if (caller.environment !== 'sandbox') throw sandboxOnly();
      const { id } = await findTransaction(deps.db, caller, params.transactionId);
      const waiting = (await listAttempts(deps.db, id)).find(({ status }) => !isAttemptOver(status));
      if (!waiting) throw invalidState('No payment waits for its payer: start one on the checkout page.');
      const decided = await deps.findProvider(waiting.channel, 'sandbox')?.decide?.(waiting.id, decision);
      if (decided === undefined || decided === 'unknown') {
        throw serviceUnavailable('The sandbox provider does not respond. Repeat the request.');
      }
      // An earlier request may have decided, whose response was lost.
      const { final, attemptStatus } = await deps.checkAttempt(waiting.id, { notifyWorkflow: true });
      if (!final) throw invalidState('The provider has not accepted the payment yet. Repeat the request in a moment.');
      if ((attemptStatus === 'DECLINED') !== (decision === 'decline')) {
        throw invalidState(`The payment was decided before: it is ${attemptStatus}.`);
      }
      const transaction = await findTransaction(deps.db, caller, params.transactionId);
      return { message: `Transaction is ${transaction.status}`, data: presentTransaction(transaction) };
    },
  });
}
