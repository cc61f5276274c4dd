import { z } from 'zod';

import { readRoute, type Route } from '../http/route.ts';
import { listResourceMovements, presentMovement } from '../ledger/balance.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import { readPage } from '../lib/pagination.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { readTimeline } from '../lib/timeline.ts';
import type { ResourceDelivery } from '../webhooks/events/queries.ts';
import {
  findTransaction,
  listAttempts,
  listedTransactions,
  presentAttempt,
  presentTransaction,
  readTransactionFilter,
  type ListedTransaction,
} from './queries.ts';
import * as schema from './transaction-schema.ts';

/** The deliveries of a transaction's events, as the webhooks slice presents them. */
export type FindDeliveries = (scope: MerchantScope, transactionId: string) => Promise<ResourceDelivery[]>;

/** The contract's transaction list, and one transaction with its timeline and deliveries. */
export function transactionRoutes(deps: { db: Database; clock: Clock; findDeliveries: FindDeliveries }): Route[] {
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
      responses: { 200: schema.TransactionDetail },
      handle: async ({ caller, params }) => {
        const transaction = await findTransaction(deps.db, caller, params.transactionId);
        const { id } = transaction;
        const [attempts, movements, timeline, deliveries] = await Promise.all([
          listAttempts(deps.db, id),
          listResourceMovements(deps.db, caller, id),
          readTimeline(deps.db, id),
          deps.findDeliveries(caller, id),
        ]);
        const data = {
          ...presentTransaction(transaction),
          attempts: attempts.map(presentAttempt),
          movements: movements.map(presentMovement),
          timeline,
          deliveries,
        };
        return { message: 'Transaction retrieved', data };
      },
    }),
  ];
}
