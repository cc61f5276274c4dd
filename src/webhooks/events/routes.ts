import { z } from 'zod';

import { readRoute, writeRoute, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import { readDayRange, readPage } from '../../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { deliveryConditions } from '../delivery/queries.ts';
import { cancelResendJob, countResendJob, createResendJob, findResendJob } from '../delivery/resend-jobs.ts';
import { requestResend } from '../delivery/resend.ts';
import { listEventTypes, type EventCatalogue } from './catalogue.ts';
import { findDeliveries, findEvent, listAttempts, listEvents, readStats } from './queries.ts';
import * as schema from './schema.ts';

const PATH = '/api/checkout/webhooks';
/** The contract's log has no parameters: the default limit returns almost every log as a whole. */
const LOG_LIMIT_DEFAULT = 100;

const reading = { tag: 'Webhooks', auth: { by: 'key', scope: 'webhooks:read' } } as const;
const resending = {
  tag: 'Webhooks',
  auth: { by: 'key', scope: 'webhooks:write', permission: 'webhooks:resend' },
} as const;

type EventDeps = {
  db: Database;
  clock: Clock;
  catalogue: EventCatalogue;
  findTransactionIds: (checkoutOrderNo: string, scope: MerchantScope) => Promise<string[]>;
};

/** Events, their deliveries and attempts, resends, statistics, the catalogue of event types. */
export function eventRoutes(deps: EventDeps): Route[] {
  return [...eventReads(deps), ...overviews(deps), ...resends(deps)];
}

/** The tenant of the key. Throws NOT_FOUND for another `merchantId`. */
function narrowedScope(caller: MerchantScope, merchantId: string | undefined): MerchantScope {
  if (merchantId !== undefined && merchantId !== caller.merchantId) throw notFound('merchant');
  return scopeOf(caller);
}

function eventReads({ db, findTransactionIds }: EventDeps): Route[] {
  return [
    readRoute(`GET ${PATH}/events`, {
      ...reading,
      operationId: 'listWebhookEvents',
      summary: 'List events and their deliveries',
      description: 'Newest first. Without dates, the last 30 days.',
      query: schema.EventListQuery,
      responses: { 200: z.array(schema.Event) },
      errors: ['NOT_FOUND'],
      paginated: true,
      handle: async ({ caller, query, at }) => {
        const scope = narrowedScope(caller, query.merchantId);
        const { checkoutOrderNo } = query;
        const resourceIds = checkoutOrderNo === undefined ? null : await findTransactionIds(checkoutOrderNo, scope);
        const page = await listEvents(db, { ...query, ...scope, range: readDayRange(query, at), resourceIds });
        return { message: 'Events', ...page };
      },
    }),
    readRoute(`GET ${PATH}/events/:eventId`, {
      ...reading,
      operationId: 'getWebhookEvent',
      summary: 'One event and its deliveries',
      params: schema.EventParams,
      query: schema.EventQuery,
      responses: { 200: schema.Event },
      handle: async ({ caller, params, query }) => {
        return { message: 'Event', data: await findEvent(db, { ...scopeOf(caller), ...params, ...query }) };
      },
    }),
    readRoute(`GET ${PATH}/events/:eventId/logs`, {
      ...reading,
      operationId: 'listWebhookEventLogs',
      summary: 'Every attempt to deliver an event, oldest first',
      description: `Unlike other lists it has ${LOG_LIMIT_DEFAULT} entries a page unless a limit is given.`,
      params: schema.EventParams,
      query: schema.LogQuery,
      responses: { 200: z.array(schema.Attempt) },
      paginated: true,
      rateLimit: 'default',
      handle: async ({ caller, params, query }) => {
        const page = { ...readPage(query), limit: query.limit ?? query.pageSize ?? LOG_LIMIT_DEFAULT };
        const { rows: data, pagination } = await listAttempts(db, { ...scopeOf(caller), ...params }, page);
        return { message: 'Delivery attempts', data, pagination };
      },
    }),
  ];
}

function overviews({ db, catalogue }: EventDeps): Route[] {
  // The same for every caller, and long: serialised once.
  const dataJson = JSON.stringify(z.array(schema.EventTypeEntry).parse(listEventTypes(catalogue)));
  return [
    readRoute(`GET ${PATH}/stats`, {
      ...reading,
      operationId: 'getWebhookStats',
      summary: 'Delivery statistics of a range of days',
      description:
        'Counts deliveries by the day of their creation: of one subscription where `subscriptionId` is given. Without dates, the last 30 days.',
      rateLimit: 'list',
      query: schema.StatsQuery,
      responses: { 200: schema.Stats },
      errors: ['NOT_FOUND'],
      handle: async ({ caller, query, at }) => {
        const scope = { ...narrowedScope(caller, query.merchantId), subscriptionId: query.subscriptionId };
        return { message: 'Delivery statistics', data: await readStats(db, scope, readDayRange(query, at)) };
      },
    }),
    readRoute(`GET ${PATH}/event-types`, {
      ...reading,
      operationId: 'listWebhookEventTypes',
      summary: 'Every event type, the shape of its data and an example',
      responses: { 200: z.array(schema.EventTypeEntry) },
      handle: async () => ({ message: 'Event types', dataJson }),
    }),
  ];
}

function resends(deps: EventDeps): Route[] {
  const job = { params: schema.JobParams, responses: { 200: schema.ResendJob } };
  return [
    writeRoute(`POST ${PATH}/events/:eventId/resend`, {
      ...resending,
      operationId: 'resendWebhookEvent',
      audit: 'event.resend',
      summary: 'Resend an event now',
      description:
        'Without subscriptionId all FAILED and SKIPPED deliveries of the event; with it that one, also a RETRYING one. ' +
        'force includes DELIVERED ones. Event id and bytes stay the same.',
      params: schema.EventParams,
      body: schema.ResendBody,
      responses: { 202: schema.Resent },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, params, body, tx }) => {
        const requested = await requestResend(deps, tx, { scope: scopeOf(caller), ...params, ...body });
        const deliveries = await findDeliveries(tx.trx, requested);
        return { status: 202, message: 'Resend accepted', data: { ...params, deliveries }, audit: { after: body } };
      },
    }),
    writeRoute(`POST ${PATH}/events/resend`, {
      ...resending,
      operationId: 'resendWebhookEvents',
      audit: 'event.resend-many',
      summary: 'Resend failed or skipped deliveries in bulk',
      description:
        'Oldest first, at a constant rate. Deliveries of inactive subscriptions do not match. With dryRun only their number: 200.',
      body: schema.ResendJobBody,
      responses: { 200: schema.ResendCount, 202: schema.CreatedResendJob },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, body: { dryRun, ...body }, tx, at }) => {
        const { ratePerSecond, status, subscriptionId, limit } = body;
        const owner = scopeOf(caller);
        const filter = { ...owner, subscriptionId, status: [status], range: readDayRange(body, at), resourceIds: null };
        const selection = { ...deliveryConditions(filter), limit };
        if (dryRun) {
          const data = await countResendJob(tx.trx, selection);
          return { status: 200, message: 'Counted; nothing is resent', data, audit: null };
        }
        const job = await createResendJob(deps, tx, { owner, selection, ratePerSecond });
        const nothing =
          'No delivery matches. Deliveries of inactive subscriptions never match: activate the subscription first.';
        const audit = { resourceId: job.jobId, after: { ...body, matched: job.matched } };
        return { status: 202, message: job.matched > 0 ? 'Resend job started' : nothing, data: job, audit };
      },
    }),
    readRoute(`GET ${PATH}/resend-jobs/:jobId`, {
      ...reading,
      ...job,
      operationId: 'getWebhookResendJob',
      summary: 'The progress of a bulk resend',
      handle: async ({ caller, params }) => {
        return { message: 'Resend job', data: await findResendJob(deps.db, { ...scopeOf(caller), ...params }) };
      },
    }),
    writeRoute(`POST ${PATH}/resend-jobs/:jobId/cancel`, {
      ...resending,
      ...job,
      operationId: 'cancelWebhookResendJob',
      audit: 'event.cancel-resend',
      summary: 'Stop a bulk resend',
      description: 'Resends that were requested already still complete.',
      errors: ['INVALID_STATE'],
      handle: async ({ caller, params, tx }) => {
        return { message: 'Resend job cancelled', data: await cancelResendJob(tx, { ...scopeOf(caller), ...params }) };
      },
    }),
  ];
}
