import { z } from 'zod';

import { changedFields } from '../../http/audit.ts';
import { actorOf, readRoute, writeRoute, type AuditedFields, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { toSantim } from '../../lib/money.ts';
import { readDayRange, readPage } from '../../lib/pagination.ts';
import { scopeOf } from '../../lib/scope.ts';
import { readTimeline } from '../../lib/timeline.ts';
import type { FindProvider } from '../../providers/provider.ts';
import { type Check } from '../check.ts';
import { createWithdrawal } from './create.ts';
import { presentWithdrawal } from './present.ts';
import { findWithdrawal, listWithdrawals } from './queries.ts';
import type { WithdrawalFilter, WithdrawalRow } from './queries.ts';
import { quoteRoutes } from './quote-routes.ts';
import { cancelWithdrawal } from './review.ts';
import * as schema from './schema.ts';

export type WithdrawalRouteDeps = {
  db: Database;
  clock: Clock;
  findProvider: FindProvider;
  checkPayout: Check<WithdrawalRow>;
};

/** `verify` queries the provider about a PENDING withdrawal at most this often. */
const VERIFY_INTERVAL_MS = 30_000;

/** Merchants' withdrawals: create, cancel, list, read, verify; and the limits and fees that apply to them. */
export function withdrawalRoutes(deps: WithdrawalRouteDeps): Route[] {
  return [...commandRoutes(deps), ...queryRoutes(deps), ...quoteRoutes(deps)];
}

const READ = { tag: 'Withdrawals', auth: { by: 'key', scope: 'withdrawals:read' } } as const;
const WRITE = {
  tag: 'Withdrawals',
  auth: { by: 'key', scope: 'withdrawals:write' },
  serialize: 'merchantBalance',
} as const;

function commandRoutes({ clock, findProvider }: WithdrawalRouteDeps): Route[] {
  return [
    writeRoute('POST /api/checkout/withdrawal', {
      ...WRITE,
      operationId: 'createWithdrawal',
      audit: 'withdrawal.create',
      stepUp: 'live',
      summary: 'Request a withdrawal; its money is reserved at once, and it is PENDING until it is paid or has failed',
      description:
        'Idempotent by requestId, without an expiry: a repeat with the same body returns the same withdrawal with 200. ' +
        'Concurrent requests of one merchant are queued; where the queue is full the response is 429. ' +
        'From the amount of the policy of the merchant on it is AWAITING_CONFIRMATION until another person confirms it in the portal, and CANCELLED after 7 days without.',
      rateLimit: 'burst',
      body: schema.NewWithdrawal,
      responses: { 200: schema.Withdrawal, 202: schema.Withdrawal },
      errors: [
        'INSUFFICIENT_BALANCE',
        'DAILY_LIMIT_EXCEEDED',
        'CHANNEL_DISABLED',
        'CHANNEL_NOT_AVAILABLE',
        'DUPLICATE_REFERENCE',
        'AMOUNT_BELOW_MINIMUM',
        'AMOUNT_ABOVE_MAXIMUM',
      ],
      handle: async ({ caller, tx, body }) => {
        const { amount, currency: _, ...rest } = body;
        const request = { ...rest, amountSantim: toSantim(amount), requestedBy: actorOf(caller) };
        const created = await createWithdrawal({ tx, clock, findProvider }, scopeOf(caller), request);
        const message = created.isNew ? 'Withdrawal requested' : 'This withdrawal was requested before';
        const data = presentWithdrawal(created.row);
        return { status: created.isNew ? 202 : 200, message, data, audit: created.isNew ? auditOf(data) : null };
      },
    }),
    writeRoute('POST /api/checkout/withdrawal/:withdrawalId/cancel', {
      ...WRITE,
      operationId: 'cancelWithdrawal',
      audit: 'withdrawal.cancel',
      summary: 'Cancel a withdrawal that was not sent yet',
      params: schema.WithdrawalParams,
      responses: { 200: schema.Withdrawal },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, tx, params }) => {
        const row = await findWithdrawal(tx.trx, scopeOf(caller), params.withdrawalId);
        const cancelled = row.status === 'CANCELLED' ? row : await cancelWithdrawal(tx, row, clock());
        const changed = changedFields({ status: row.status }, { status: cancelled.status });
        const audit = changed && { ...changed, resourceId: row.id };
        return { message: 'Withdrawal cancelled', data: presentWithdrawal(cancelled), audit };
      },
    }),
  ];
}

function auditOf(created: ReturnType<typeof presentWithdrawal>): AuditedFields {
  const { withdrawalRequestId: resourceId, requestId, amount, channel, destination } = created;
  return { resourceId, after: { requestId, amount, channel, destination } };
}

function queryRoutes({ db, clock, checkPayout }: WithdrawalRouteDeps): Route[] {
  return [
    readRoute('GET /api/checkout/withdrawal', {
      ...READ,
      operationId: 'listWithdrawals',
      summary: 'Withdrawals of a range of days, newest first',
      query: schema.WithdrawalListQuery,
      responses: { 200: z.array(schema.Withdrawal) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const { status, stage, channel, search } = query;
        const range = readDayRange(query, clock());
        const narrowed = { statuses: status ?? null, stage, channel, search };
        const filter: WithdrawalFilter = { ...scopeOf(caller), range, ...narrowed };
        const { rows, pagination } = await listWithdrawals(db, filter, readPage(query));
        return { message: 'Withdrawals retrieved', data: rows.map(presentWithdrawal), pagination };
      },
    }),
    readRoute('GET /api/checkout/withdrawal/:withdrawalId', {
      ...READ,
      operationId: 'getWithdrawal',
      summary: 'One withdrawal with its timeline',
      params: schema.WithdrawalParams,
      responses: { 200: schema.WithdrawalDetail },
      handle: async ({ caller, params }) => {
        const row = await findWithdrawal(db, scopeOf(caller), params.withdrawalId);
        return { message: 'Withdrawal retrieved', data: await presentWithTimeline(db, row) };
      },
    }),
    readRoute('GET /api/checkout/withdrawal/verify/:withdrawal_requestID', {
      ...READ,
      operationId: 'verifyWithdrawal',
      summary: "A withdrawal's status; queries the provider if the last query is more than 30 s ago",
      params: schema.VerifyParams,
      responses: { 200: schema.WithdrawalDetail },
      handle: async ({ caller, params }) => {
        const found = await findWithdrawal(db, scopeOf(caller), params.withdrawal_requestID);
        // Only sent withdrawals are queried: sending is the workflow's.
        const isSent = found.stage === 'SUBMITTED' || found.stage === 'UNKNOWN';
        const { row } = isSent
          ? await checkPayout(found.id, { minIntervalMs: VERIFY_INTERVAL_MS, queryOnly: true, notifyWorkflow: true })
          : { row: found };
        return { message: `Withdrawal is ${row.status}`, data: await presentWithTimeline(db, row) };
      },
    }),
  ];
}

async function presentWithTimeline(db: Database, row: WithdrawalRow) {
  return { ...presentWithdrawal(row), timeline: await readTimeline(db, row.id) };
}
