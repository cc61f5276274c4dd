import { z } from 'zod';

import { changedFields } from '../../http/audit.ts';
import { readRoute, writeRoute, type Route } from '../../http/route.ts';
import type { Database, Queryable } from '../../lib/db.ts';
import { scopeOf } from '../../lib/scope.ts';
import type { EventCatalogue } from '../events/catalogue.ts';
import { listRequests } from '../receiver/requests.ts';
import { findHealth, type SubscriptionRow } from './model.ts';
import {
  changeSubscription,
  createSubscription,
  deleteSubscription,
  findSubscription,
  listSubscriptions,
  rotateSecret,
  sendTestEvent,
  type SubscriptionDeps,
  type WithSecret,
} from './operations.ts';
import * as schema from './schema.ts';

const PATH = '/api/checkout/webhooks/subscriptions';
const ONE = `${PATH}/:subscriptionId`;

const reading = { tag: 'Webhook subscriptions', auth: { by: 'key', scope: 'webhooks:read' } } as const;
const writing = { tag: 'Webhook subscriptions', auth: { by: 'key', scope: 'webhooks:write' } } as const;
const writingOne = { ...writing, params: schema.SubscriptionParams };

type RouteDeps = SubscriptionDeps & { db: Database; catalogue: EventCatalogue };

/** Subscriptions: URL, event types, secret, test events. */
export function subscriptionRoutes(deps: RouteDeps): Route[] {
  return [...collectionRoutes(deps), ...oneRoutes(deps), ...secretRoutes(deps)];
}

/** Subscriptions with their health. The response schema leaves out what is encrypted. */
async function present({ clock }: RouteDeps, db: Queryable, subscriptions: SubscriptionRow[]) {
  const now = clock();
  const ids = subscriptions.map((row) => row.id);
  const health = await findHealth(db, ids, now);
  return subscriptions.map((row) => {
    const previousUntil = row.previousSecretExpiresAt;
    const state = row.verifiedAt === null ? 'UNVERIFIED' : row.consecutiveFailures > 0 ? 'FAILING' : 'HEALTHY';
    return {
      ...row.$toJson(),
      subscriptionId: row.id,
      headers: row.headerNames,
      previousSecretExpiresAt: previousUntil && previousUntil > now ? previousUntil : null,
      health: { state, ...health.get(row.id) },
    };
  });
}

/** One subscription, with its secret where it is new. */
async function presentOne(deps: RouteDeps, db: Queryable, { row, ...secret }: Pick<WithSecret, 'row'>) {
  const [presented] = await present(deps, db, [row]);
  return { ...presented, ...secret };
}

/** What the audit log has of a subscription: of its headers the names. */
function auditedOf({ url, eventTypes, active, description, signatureEncoding, headerNames: headers }: SubscriptionRow) {
  return { url, eventTypes, active, description, signatureEncoding, headers };
}

function collectionRoutes(deps: RouteDeps): Route[] {
  return [
    writeRoute(`POST ${PATH}`, {
      ...writing,
      operationId: 'createWebhookSubscription',
      audit: 'webhook.create',
      stepUp: 'live',
      summary: 'Subscribe a URL to events',
      description:
        'Only this response contains the secret. At most 16 per merchant and environment. In the sandbox sandboxReceiver in place of url subscribes the built-in receiver, one per merchant.',
      body: schema.NewSubscription,
      responses: { 201: schema.SubscriptionWithSecret },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, body, tx }) => {
        const created = await createSubscription(deps, tx, { ...body, ...scopeOf(caller) });
        const data = await presentOne(deps, tx.trx, created);
        const audit = { resourceId: created.row.id, after: auditedOf(created.row) };
        return { status: 201, message: 'Subscription created', data, audit };
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
      handle: async ({ caller, params }) => {
        const row = await findSubscription(deps.db, { ...scopeOf(caller), ...params });
        return { message: 'Subscription', data: await presentOne(deps, deps.db, { row }) };
      },
    }),
    writeRoute(`PATCH ${ONE}`, {
      ...writingOne,
      operationId: 'changeWebhookSubscription',
      audit: 'webhook.change',
      summary: 'Change a subscription',
      description:
        'Waiting retries use the new URL. Reactivating sends nothing by itself: resend the skipped deliveries.',
      body: schema.SubscriptionChanges,
      responses: { 200: schema.Subscription },
      handle: async ({ tx, body: changes, caller, params }) => {
        const target = { ...scopeOf(caller), ...params };
        const before = auditedOf(await findSubscription(tx.trx, target));
        const row = await changeSubscription(deps, tx, { ...target, changes });
        const audit = changedFields(before, auditedOf(row));
        return { message: 'Subscription changed', data: await presentOne(deps, tx.trx, { row }), audit };
      },
    }),
    writeRoute(`DELETE ${ONE}`, {
      ...writingOne,
      operationId: 'deleteWebhookSubscription',
      audit: 'webhook.delete',
      summary: 'Delete a subscription',
      description: 'Its waiting deliveries are skipped permanently.',
      responses: { 200: z.null() },
      handle: async ({ tx, caller, params }) => {
        const row = await deleteSubscription(deps, tx, { ...scopeOf(caller), ...params });
        return { message: 'Subscription deleted', data: null, audit: { before: auditedOf(row) } };
      },
    }),
  ];
}

function secretRoutes(deps: RouteDeps): Route[] {
  return [
    writeRoute(`POST ${ONE}/rotate`, {
      ...writingOne,
      operationId: 'rotateWebhookSecret',
      audit: 'webhook.rotate-secret',
      stepUp: 'live',
      summary: 'Replace the secret of a subscription',
      description:
        'The new secret signs at once; only this response contains it. For overlapSeconds the old one signs as well; with 0 it stops now.',
      body: schema.RotateBody,
      responses: { 200: schema.SubscriptionWithSecret },
      errors: ['INVALID_STATE'],
      handle: async ({ tx, body, caller, params }) => {
        const rotated = await rotateSecret(deps, tx, { ...scopeOf(caller), ...params, ...body });
        const audit = { after: { overlapSeconds: body.overlapSeconds } };
        return { message: 'Secret rotated', data: await presentOne(deps, tx.trx, rotated), audit };
      },
    }),
    writeRoute(`POST ${ONE}/test`, {
      ...writingOne,
      operationId: 'sendWebhookTestEvent',
      summary: 'Send a test event to this subscription only',
      description: 'webhook.test unless another type is given; in live only webhook.test.',
      body: schema.SubscriptionTestBody,
      responses: { 202: schema.SubscriptionTestSent },
      errors: ['INVALID_STATE'],
      handle: async ({ tx, body, caller, params }) => {
        const eventId = await sendTestEvent(deps, tx, { ...scopeOf(caller), ...params, ...body });
        return { status: 202, message: 'Test event recorded', data: { eventId } };
      },
    }),
    readRoute(`GET ${ONE}/requests`, {
      ...reading,
      operationId: 'listReceivedRequests',
      summary: 'What the built-in receiver of the sandbox got',
      description:
        'The last 50 requests of the last 7 days, newest first; none of a subscription with a URL of your own.',
      rateLimit: 'list',
      params: schema.SubscriptionParams,
      responses: { 200: z.array(schema.ReceivedRequest) },
      handle: async ({ caller, params }) => {
        const { id } = await findSubscription(deps.db, { ...scopeOf(caller), ...params });
        return { message: 'Received requests', data: await listRequests(deps.db, id) };
      },
    }),
  ];
}
