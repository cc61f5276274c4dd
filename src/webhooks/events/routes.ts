import { z } from 'zod';

import { readRoute, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import { readDayRange, readPage } from '../../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../../lib/scope.ts';
import { EventParams } from '../delivery/schema.ts';
import { listEventTypes, type EventCatalogue } from './catalogue.ts';
import { findEvent, listEvents } from './queries.ts';
import * as schema from './schema.ts';
import { readStats } from './stats.ts';

const PATH = '/api/checkout/webhooks';

const reading = { tag: 'Webhooks', auth: { by: 'key', scope: 'webhooks:read' } } as const;

type EventDeps = { db: Database; clock: Clock; catalogue: EventCatalogue };

/** Events and their deliveries, statistics, the catalogue of event types. */
export function eventRoutes(deps: EventDeps): Route[] {
  return [...readRoutes(deps), statsRoute(deps), catalogueRoute(deps)];
}

/** The tenant of the key. Throws NOT_FOUND for another `merchantId`. */
function narrowedScope(caller: MerchantScope, merchantId: string | undefined): MerchantScope {
  if (merchantId !== undefined && merchantId !== caller.merchantId) throw notFound('merchant');
  return scopeOf(caller);
}

function readRoutes({ db, clock }: EventDeps): Route[] {
  return [
    readRoute(`GET ${PATH}/events`, {
      ...reading,
      operationId: 'listWebhookEvents',
      summary: 'List events and their deliveries',
      description: 'Newest first. Without dates, the last 30 days.',
      rateLimit: 'list',
      query: schema.EventListQuery,
      responses: { 200: z.array(schema.Event) },
      errors: ['NOT_FOUND'],
      paginated: true,
      handle: async ({ caller, query }) => {
        const { event, subscriptionId, resourceId } = query;
        const filter = {
          ...narrowedScope(caller, query.merchantId),
          range: readDayRange(query, clock()),
          statuses: query.status ?? null,
          withPayload: query.include === 'payload',
        };
        const found = await listEvents(db, { ...filter, event, subscriptionId, resourceId }, readPage(query));
        return { message: 'Events', data: found.events, pagination: found.pagination };
      },
    }),
    readRoute(`GET ${PATH}/events/:eventId`, {
      ...reading,
      operationId: 'getWebhookEvent',
      summary: 'One event and its deliveries',
      params: EventParams,
      query: schema.EventQuery,
      responses: { 200: schema.Event },
      handle: async ({ caller, params, query }) => {
        const withPayload = query.include === 'payload';
        const data = await findEvent(db, { ...scopeOf(caller), eventId: params.eventId, withPayload });
        return { message: 'Event', data };
      },
    }),
  ];
}

function statsRoute({ db, clock }: EventDeps): Route {
  return readRoute(`GET ${PATH}/stats`, {
    ...reading,
    operationId: 'getWebhookStats',
    summary: 'Delivery statistics of a range of days',
    description: 'Counts deliveries by the day of their creation. Without dates, the last 30 days.',
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

function catalogueRoute({ catalogue }: EventDeps): Route {
  // The same for every caller, and long: serialised once.
  const dataJson = JSON.stringify(z.array(schema.EventTypeEntry).parse(listEventTypes(catalogue)));
  return readRoute(`GET ${PATH}/event-types`, {
    ...reading,
    operationId: 'listWebhookEventTypes',
    summary: 'Every event type, the shape of its data and an example',
    responses: { 200: z.array(schema.EventTypeEntry) },
    handle: async () => ({ message: 'Event types', dataJson }),
  });
}
