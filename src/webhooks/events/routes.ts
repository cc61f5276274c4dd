import { z } from 'zod';

import { readRoute, writeRoute, type Route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import { readDayRange, readPage } from '../../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { cancelResendJob, createResendJob, findResendJob } from '../delivery/resend-jobs.ts';
import { requestResend } from '../delivery/resend.ts';
import { presentAttempt, presentDelivery, presentEvent, presentResendJob } from '../present.ts';
import type { WebhookDeps } from '../routes.ts';
import * as schema from '../schema.ts';
import { readStats } from '../subscriptions/stats.ts';
import { listEventTypes } from './catalogue.ts';
import { findDeliveries, findEvent, listAttempts, listEvents } from './queries.ts';

const PATH = '/api/checkout/webhooks';
/** The log of an event takes no parameters in the contract: all of it, in all but the oddest cases. */
const LOG_LIMIT_DEFAULT = 100;

const reading = { tag: 'Webhooks', auth: { by: 'key', scope: 'webhooks:read' } } as const;
const writing = { tag: 'Webhooks', auth: { by: 'key', scope: 'webhooks:write' } } as const;

/** Events, their deliveries and logs, statistics. */
export function eventRoutes(deps: WebhookDeps): Route[] {
  return [...readRoutes(deps), statsRoute(deps), catalogueRoute, ...resendRoutes(deps), ...resendJobRoutes(deps)];
}

/** The key decides whose rows are meant; a `merchantId` can only narrow. */
function narrowedScope(caller: MerchantScope, merchantId: string | undefined): MerchantScope {
  if (merchantId !== undefined && merchantId !== caller.merchantId) throw notFound('merchant');
  return scopeOf(caller);
}

function readRoutes({ db, clock }: WebhookDeps): Route[] {
  return [
    readRoute({
      ...reading,
      method: 'GET',
      path: `${PATH}/events`,
      operationId: 'listWebhookEvents',
      summary: 'List events and what became of their deliveries',
      description: 'Newest first. Without dates, the last 30 days.',
      rateLimit: 'list',
      query: schema.EventListQuery,
      responses: { 200: z.array(schema.Event) },
      errors: ['NOT_FOUND'],
      paginated: true,
      handle: async ({ caller, query }) => {
        const filter = {
          ...narrowedScope(caller, query.merchantId),
          range: readDayRange(query, clock()),
          statuses: query.status ?? null,
          event: query.event,
          subscriptionId: query.subscriptionId,
          resourceId: query.resourceId,
          withPayload: query.include === 'payload',
        };
        const { events, pagination } = await listEvents(db, filter, readPage(query));
        return { message: 'Events', data: events.map(presentEvent), pagination };
      },
    }),
    readRoute({
      ...reading,
      method: 'GET',
      path: `${PATH}/events/:eventId`,
      operationId: 'getWebhookEvent',
      summary: 'One event and its deliveries',
      params: schema.EventParams,
      query: schema.EventQuery,
      responses: { 200: schema.Event },
      handle: async ({ caller, params, query }) => {
        const withPayload = query.include === 'payload';
        const event = await findEvent(db, { ...scopeOf(caller), eventId: params.eventId, withPayload });
        return { message: 'Event', data: presentEvent(event) };
      },
    }),
    readRoute({
      ...reading,
      method: 'GET',
      path: `${PATH}/events/:eventId/logs`,
      operationId: 'listWebhookEventLogs',
      summary: 'Every attempt to deliver an event, oldest first',
      description: `Unlike other lists it shows ${LOG_LIMIT_DEFAULT} unless another limit is given.`,
      params: schema.EventParams,
      query: schema.LogQuery,
      responses: { 200: z.array(schema.Attempt) },
      paginated: true,
      handle: async ({ caller, params, query }) => {
        const wanted = { ...scopeOf(caller), eventId: params.eventId };
        const limit = query.limit ?? query.pageSize ?? LOG_LIMIT_DEFAULT;
        const { attempts, pagination } = await listAttempts(db, wanted, { ...readPage(query), limit });
        return { message: 'Delivery attempts', data: attempts.map(presentAttempt), pagination };
      },
    }),
  ];
}

function statsRoute({ db, clock }: WebhookDeps): Route {
  return readRoute({
    ...reading,
    method: 'GET',
    path: `${PATH}/stats`,
    operationId: 'getWebhookStats',
    summary: 'How deliveries went in a range of days',
    description: 'Counts deliveries by the day they were made. Without dates, the last 30 days.',
    rateLimit: 'list',
    query: schema.StatsQuery,
    responses: { 200: schema.Stats },
    errors: ['NOT_FOUND'],
    handle: async ({ caller, query }) => {
      const scope = narrowedScope(caller, query.merchantId);
      return { message: 'Delivery statistics', data: await readStats(db, scope, readDayRange(query, clock())) };
    },
  });
}

/** The same for everybody: made once, for it is long. */
const EVENT_TYPES_JSON = JSON.stringify(z.array(schema.EventTypeEntry).parse(listEventTypes()));

const catalogueRoute = readRoute({
  ...reading,
  method: 'GET',
  path: `${PATH}/event-types`,
  operationId: 'listWebhookEventTypes',
  summary: 'Every event type, the shape of its data and an example',
  responses: { 200: z.array(schema.EventTypeEntry) },
  handle: async () => ({ message: 'Event types', dataJson: EVENT_TYPES_JSON }),
});

function resendRoutes(deps: WebhookDeps): Route[] {
  return [
    writeRoute({
      ...writing,
      method: 'POST',
      path: `${PATH}/events/:eventId/resend`,
      operationId: 'resendWebhookEvent',
      summary: 'Send an event once more, now',
      description:
        'Without subscriptionId: all its FAILED and SKIPPED deliveries. With it: that one, and a RETRYING one is ' +
        'retried now. force sends a DELIVERED one again. Event id and bytes stay the same.',
      params: schema.EventParams,
      body: schema.ResendBody,
      responses: { 202: schema.Resent },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, params, body, tx }) => {
        const request = { scope: scopeOf(caller), eventId: params.eventId, ...body };
        const requested = await requestResend(deps, tx, request);
        const deliveries = await findDeliveries(tx.trx, requested);
        const data = { eventId: params.eventId, deliveries: deliveries.map(presentDelivery) };
        return { status: 202, message: 'Resend accepted', data };
      },
    }),
    writeRoute({
      ...writing,
      method: 'POST',
      path: `${PATH}/events/resend`,
      operationId: 'resendWebhookEvents',
      summary: 'Send many failed or skipped deliveries once more',
      description: 'Oldest first, at a steady pace. Deliveries of inactive subscriptions do not match.',
      body: schema.ResendJobBody,
      responses: { 202: schema.ResendJobMade },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, body, tx }) => {
        const { startDate, endDate, ...rest } = body;
        const range = readDayRange({ startDate, endDate }, deps.clock());
        const job = await createResendJob(deps, tx, { ...scopeOf(caller), ...rest, range });
        const nothing = 'Nothing matches; deliveries of inactive subscriptions do not: activate the subscription first';
        const message = job.matched > 0 ? 'Resend job started' : nothing;
        return { status: 202, message, data: { jobId: job.id, matched: job.matched } };
      },
    }),
  ];
}

function resendJobRoutes({ db }: WebhookDeps): Route[] {
  return [
    readRoute({
      ...reading,
      method: 'GET',
      path: `${PATH}/resend-jobs/:jobId`,
      operationId: 'getWebhookResendJob',
      summary: 'How far a bulk resend is',
      params: schema.JobParams,
      responses: { 200: schema.ResendJob },
      handle: async ({ caller, params }) => {
        const job = await findResendJob(db, { ...scopeOf(caller), jobId: params.jobId });
        return { message: 'Resend job', data: presentResendJob(job) };
      },
    }),
    writeRoute({
      ...writing,
      method: 'POST',
      path: `${PATH}/resend-jobs/:jobId/cancel`,
      operationId: 'cancelWebhookResendJob',
      summary: 'Stop a bulk resend',
      description: 'What was sent already goes on to its end.',
      params: schema.JobParams,
      responses: { 200: schema.ResendJob },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, params, tx }) => {
        const job = await cancelResendJob(tx, { ...scopeOf(caller), jobId: params.jobId });
        return { message: 'Resend job cancelled', data: presentResendJob(job) };
      },
    }),
  ];
}
