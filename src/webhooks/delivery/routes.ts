import { z } from 'zod';

import { readRoute, writeRoute, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { readDayRange, readPage } from '../../lib/pagination.ts';
import { scopeOf } from '../../lib/scope.ts';
import { findDeliveries, listAttempts } from './queries.ts';
import { cancelResendJob, createResendJob, findResendJob } from './resend-jobs.ts';
import { requestResend } from './resend.ts';
import * as schema from './schema.ts';

const PATH = '/api/checkout/webhooks';
/** The contract's log has no parameters: the default limit returns almost every log as a whole. */
const LOG_LIMIT_DEFAULT = 100;

const reading = { tag: 'Webhooks', auth: { by: 'key', scope: 'webhooks:read' } } as const;
const writing = { tag: 'Webhooks', auth: { by: 'key', scope: 'webhooks:write' } } as const;

type DeliveryDeps = { db: Database; clock: Clock };

/** The log of attempts, and resends: of one event, and in bulk. */
export function deliveryRoutes(deps: DeliveryDeps): Route[] {
  return [logRoute(deps), ...resendRoutes(deps), ...resendJobRoutes(deps)];
}

function logRoute({ db }: DeliveryDeps): Route {
  return readRoute(`GET ${PATH}/events/:eventId/logs`, {
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
      const wanted = { ...scopeOf(caller), eventId: params.eventId };
      const limit = query.limit ?? query.pageSize ?? LOG_LIMIT_DEFAULT;
      const { rows: data, pagination } = await listAttempts(db, wanted, { ...readPage(query), limit });
      return { message: 'Delivery attempts', data, pagination };
    },
  });
}

function resendRoutes(deps: DeliveryDeps): Route[] {
  return [
    writeRoute(`POST ${PATH}/events/:eventId/resend`, {
      ...writing,
      operationId: 'resendWebhookEvent',
      summary: 'Resend an event now',
      description:
        'Without subscriptionId all FAILED and SKIPPED deliveries of the event; with it that one, also a RETRYING one. ' +
        'force includes DELIVERED ones. Event id and bytes stay the same.',
      params: schema.EventParams,
      body: schema.ResendBody,
      responses: { 202: schema.Resent },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, params, body, tx }) => {
        const request = { scope: scopeOf(caller), eventId: params.eventId, ...body };
        const requested = await requestResend(deps, tx, request);
        const deliveries = await findDeliveries(tx.trx, requested);
        return { status: 202, message: 'Resend accepted', data: { eventId: params.eventId, deliveries } };
      },
    }),
    writeRoute(`POST ${PATH}/events/resend`, {
      ...writing,
      operationId: 'resendWebhookEvents',
      summary: 'Resend failed or skipped deliveries in bulk',
      description: 'Oldest first, at a constant rate. Deliveries of inactive subscriptions do not match.',
      body: schema.ResendJobBody,
      responses: { 202: schema.CreatedResendJob },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, body, tx }) => {
        const { startDate, endDate, ...rest } = body;
        const range = readDayRange({ startDate, endDate }, deps.clock());
        const job = await createResendJob(deps, tx, { ...scopeOf(caller), ...rest, range });
        const nothing =
          'No delivery matches. Deliveries of inactive subscriptions never match: activate the subscription first.';
        return { status: 202, message: job.matched > 0 ? 'Resend job started' : nothing, data: job };
      },
    }),
  ];
}

function resendJobRoutes({ db }: DeliveryDeps): Route[] {
  return [
    readRoute(`GET ${PATH}/resend-jobs/:jobId`, {
      ...reading,
      operationId: 'getWebhookResendJob',
      summary: 'The progress of a bulk resend',
      params: schema.JobParams,
      responses: { 200: schema.ResendJob },
      handle: async ({ caller, params }) => {
        const data = await findResendJob(db, { ...scopeOf(caller), jobId: params.jobId });
        return { message: 'Resend job', data };
      },
    }),
    writeRoute(`POST ${PATH}/resend-jobs/:jobId/cancel`, {
      ...writing,
      operationId: 'cancelWebhookResendJob',
      summary: 'Stop a bulk resend',
      description: 'Resends that were requested already still complete.',
      params: schema.JobParams,
      responses: { 200: schema.ResendJob },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, params, tx }) => {
        const data = await cancelResendJob(tx, { ...scopeOf(caller), jobId: params.jobId });
        return { message: 'Resend job cancelled', data };
      },
    }),
  ];
}
