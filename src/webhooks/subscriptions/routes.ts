import { z } from 'zod';

import { readRoute, writeRoute, type KeyCaller, type Route } from '../../http/route.ts';
import type { Database, Queryable } from '../../lib/db.ts';
import { scopeOf } from '../../lib/scope.ts';
import type { EventCatalogue } from '../events/catalogue.ts';
import { findHealth, type HealthRow, type SubscriptionRow } from './model.ts';
import {
  changeSubscription,
  createSubscription,
  deleteSubscription,
  findSubscription,
  listSubscriptions,
  rotateSecret,
  sendTestEvent,
  type SubscriptionDeps,
} from './operations.ts';
import * as schema from './schema.ts';

const PATH = '/api/checkout/webhooks/subscriptions';
const ONE = `${PATH}/:subscriptionId`;

const reading = { tag: 'Webhook subscriptions', auth: { by: 'key', scope: 'webhooks:read' } } as const;
const writing = { tag: 'Webhook subscriptions', auth: { by: 'key', scope: 'webhooks:write' } } as const;

type RouteDeps = SubscriptionDeps & { db: Database; catalogue: EventCatalogue };

/** Subscriptions: URL, event types, secret, test events. */
export function subscriptionRoutes(deps: RouteDeps): Route[] {
  return [...collectionRoutes(deps), ...oneRoutes(deps), rotateRoute(deps), testRoute(deps)];
}

type Request = { caller: KeyCaller; params: { subscriptionId: string } };

function targetOf({ caller, params }: Request) {
  return { ...scopeOf(caller), subscriptionId: params.subscriptionId };
}

/** Subscriptions without their secrets, with their health. */
async function present(deps: RouteDeps, db: Queryable, subscriptions: SubscriptionRow[]) {
  const now = deps.clock();
  const ids = subscriptions.map((row) => row.id);
  const health = await findHealth(db, ids, now);
  return subscriptions.map((row) => presentOne(row, now, health.get(row.id)));
}

function presentOne(row: SubscriptionRow, now: Date, health?: HealthRow): z.input<typeof schema.Subscription> {
  const previousUntil = row.previousSecretExpiresAt;
  return {
    subscriptionId: row.id,
    url: row.url,
    eventTypes: row.eventTypes,
    active: row.active,
    description: row.description,
    signatureEncoding: row.signatureEncoding,
    headers: row.headerNames,
    secretHint: row.secretHint,
    previousSecretExpiresAt: previousUntil && previousUntil > now ? previousUntil : null,
    createdAt: row.createdAt,
    health: {
      state: row.verifiedAt === null ? 'UNVERIFIED' : row.consecutiveFailures > 0 ? 'FAILING' : 'HEALTHY',
      successRate24h: health?.successRate ?? null,
      lastFailure: health?.lastFailure ?? null,
    },
  };
}

function collectionRoutes(deps: RouteDeps): Route[] {
  return [
    writeRoute(`POST ${PATH}`, {
      ...writing,
      operationId: 'createWebhookSubscription',
      summary: 'Subscribe a URL to events',
      description: 'Only this response contains the secret. At most 16 per merchant and environment.',
      body: schema.NewSubscription,
      responses: { 201: schema.SubscriptionWithSecret },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, body, tx }) => {
        const input = { ...body, ...scopeOf(caller) };
        const { row, secret } = await createSubscription(deps, tx, input);
        return { status: 201, message: 'Subscription created', data: { ...presentOne(row, deps.clock()), secret } };
      },
    }),
    readRoute(`GET ${PATH}`, {
      ...reading,
      operationId: 'listWebhookSubscriptions',
      summary: 'List all subscriptions',
      description: 'All in one response, oldest first: there are at most 16.',
      rateLimit: 'list',
      responses: { 200: z.array(schema.Subscription) },
      handle: async ({ caller }) => {
        const subscriptions = await listSubscriptions(deps.db, caller);
        return { message: 'Subscriptions', data: await present(deps, deps.db, subscriptions) };
      },
    }),
  ];
}

function oneRoutes(deps: RouteDeps): Route[] {
  return [
    readRoute(`GET ${ONE}`, {
      ...reading,
      operationId: 'getWebhookSubscription',
      summary: 'One subscription and its health',
      params: schema.SubscriptionParams,
      responses: { 200: schema.Subscription },
      handle: async (request) => {
        const row = await findSubscription(deps.db, targetOf(request));
        const [data] = await present(deps, deps.db, [row]);
        return { message: 'Subscription', data };
      },
    }),
    writeRoute(`PATCH ${ONE}`, {
      ...writing,
      operationId: 'changeWebhookSubscription',
      summary: 'Change a subscription',
      description:
        'Waiting retries use the new URL. Reactivating sends nothing by itself: resend the skipped deliveries.',
      params: schema.SubscriptionParams,
      body: schema.SubscriptionChanges,
      responses: { 200: schema.Subscription },
      handle: async ({ tx, body, ...request }) => {
        const row = await changeSubscription(deps, tx, { ...targetOf(request), changes: body });
        const [data] = await present(deps, tx.trx, [row]);
        return { message: 'Subscription changed', data };
      },
    }),
    writeRoute(`DELETE ${ONE}`, {
      ...writing,
      operationId: 'deleteWebhookSubscription',
      summary: 'Delete a subscription',
      description: 'Its waiting deliveries are skipped permanently.',
      params: schema.SubscriptionParams,
      responses: { 200: z.null() },
      handle: async ({ tx, ...request }) => {
        await deleteSubscription(deps, tx, targetOf(request));
        return { message: 'Subscription deleted', data: null };
      },
    }),
  ];
}

function rotateRoute(deps: RouteDeps): Route {
  return writeRoute(`POST ${ONE}/rotate`, {
    ...writing,
    operationId: 'rotateWebhookSecret',
    summary: 'Replace the secret of a subscription',
    description:
      'The new secret signs at once; only this response contains it. For overlapSeconds the old one signs as well; with 0 it stops now.',
    params: schema.SubscriptionParams,
    body: schema.RotateBody,
    responses: { 200: schema.SubscriptionWithSecret },
    errors: ['INVALID_STATE'],
    handle: async ({ tx, body, ...request }) => {
      const { row, secret } = await rotateSecret(deps, tx, { ...targetOf(request), ...body });
      return { message: 'Secret rotated', data: { ...presentOne(row, deps.clock()), secret } };
    },
  });
}

function testRoute(deps: RouteDeps): Route {
  return writeRoute(`POST ${ONE}/test`, {
    ...writing,
    operationId: 'sendWebhookTestEvent',
    summary: 'Send a test event to this subscription only',
    description: 'webhook.test unless another type is given; in live only webhook.test.',
    params: schema.SubscriptionParams,
    body: schema.SubscriptionTestBody,
    responses: { 202: schema.SubscriptionTestSent },
    errors: ['INVALID_STATE'],
    handle: async ({ tx, body, ...request }) => {
      const eventId = await sendTestEvent(deps, tx, { ...targetOf(request), event: body.event });
      return { status: 202, message: 'Test event recorded', data: { eventId } };
    },
  });
}
