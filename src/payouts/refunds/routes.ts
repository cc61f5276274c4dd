import { z } from 'zod';

import { actorOf, readRoute, writeRoute, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { toSantim } from '../../lib/money.ts';
import { readDayRange, readPage } from '../../lib/pagination.ts';
import { scopeOf } from '../../lib/scope.ts';
import { readTimeline } from '../../lib/timeline.ts';
import { findTransaction } from '../../payments/queries.ts';
import type { FindProvider } from '../../providers/provider.ts';
import { createRefund } from './create.ts';
import { findRefund, listRefunds, listRefundsOf } from './queries.ts';
import * as schema from './schema.ts';

const READ = { tag: 'Refunds', auth: { by: 'key', scope: 'refunds:read' } } as const;

type Deps = { db: Database; clock: Clock; findProvider: FindProvider };

/** Merchants' refunds: create, list, read. */
export function refundRoutes({ db, clock, findProvider }: Deps): Route[] {
  return [
    createRoute({ clock, findProvider }),
    readRoute('GET /api/checkout/txns/:transactionId/refunds', {
      ...READ,
      operationId: 'listTransactionRefunds',
      summary: 'The refunds of a transaction, oldest first',
      params: schema.RefundedParams,
      responses: { 200: z.array(schema.Refund) },
      handle: async ({ caller, params }) => {
        const { id } = await findTransaction(db, caller, params.transactionId);
        return { message: 'Refunds retrieved', data: (await listRefundsOf(db, id)).map(schema.presentRefund) };
      },
    }),
    readRoute('GET /api/checkout/refunds', {
      ...READ,
      operationId: 'listRefunds',
      summary: 'Refunds of a range of days, newest first',
      query: schema.RefundListQuery,
      responses: { 200: z.array(schema.Refund) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const range = readDayRange(query, clock());
        const filter = { ...query, ...scopeOf(caller), range, statuses: query.status ?? null };
        const { rows, pagination } = await listRefunds(db, filter, readPage(query));
        return { message: 'Refunds retrieved', data: rows.map(schema.presentRefund), pagination };
      },
    }),
    readRoute('GET /api/checkout/refunds/:refundId', {
      ...READ,
      operationId: 'getRefund',
      summary: 'One refund with its timeline',
      params: schema.RefundParams,
      responses: { 200: schema.RefundDetail },
      handle: async ({ caller, params }) => {
        const row = await findRefund(db, scopeOf(caller), params.refundId);
        const timeline = await readTimeline(db, row.transactionId);
        const own = timeline.filter(({ detail }) => detail['refundId'] === row.id);
        return { message: 'Refund retrieved', data: { ...schema.presentRefund(row), timeline: own } };
      },
    }),
  ];
}

function createRoute({ clock, findProvider }: Omit<Deps, 'db'>): Route {
  return writeRoute('POST /api/checkout/txns/:transactionId/refunds', {
    tag: 'Refunds',
    auth: { by: 'key', scope: 'refunds:write' },
    serialize: 'merchantBalance',
    operationId: 'createRefund',
    audit: 'refund.create',
    stepUp: 'live',
    summary:
      'Refund a payment, whole or in part; the money is reserved at once, and it is PENDING until it is paid back or has failed',
    description:
      'Of a SUCCESS transaction without held money, to its payer, over the channel that was paid. Idempotent by reference, ' +
      'without an expiry: a repeat with the same body returns the same refund with 200. From the amount of the policy of the ' +
      'merchant on, counted with the earlier refunds of the payment, it is AWAITING_CONFIRMATION until another person confirms ' +
      'it in the portal, and fails after 7 days without.',
    rateLimit: 'burst',
    params: schema.RefundedParams,
    body: schema.NewRefund,
    responses: { 200: schema.Refund, 202: schema.Refund },
    errors: [
      'DUPLICATE_REFERENCE',
      'INVALID_STATE',
      'AMOUNT_ABOVE_MAXIMUM',
      'CHANNEL_NOT_AVAILABLE',
      'INSUFFICIENT_BALANCE',
    ],
    handle: async ({ caller, tx, params, body: { amount, ...body } }) => {
      const amountSantim = amount === undefined ? amount : toSantim(amount);
      const request = { ...params, ...body, amountSantim, requestedBy: actorOf(caller) };
      const { row, isNew } = await createRefund({ tx, clock, findProvider }, scopeOf(caller), request);
      const data = schema.presentRefund(row);
      const { refundId: resourceId, transactionId, reference } = data;
      const audit = isNew ? { resourceId, after: { transactionId, reference, amount: data.amount } } : null;
      const message = isNew ? 'Refund requested' : 'This refund was requested before';
      return { status: isNew ? 202 : 200, message, data, audit };
    },
  });
}
