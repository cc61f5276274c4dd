import type { Database } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createTransactionRunner, type OutboxRow, type RunInTransaction } from '../../src/outbox/record.ts';
import { claimOne } from '../../src/webhooks/delivery/claim.ts';
import type { FailureCode } from '../../src/webhooks/delivery/failure.ts';
import { recordAttempts } from '../../src/webhooks/delivery/record-attempt.ts';
import type { DeliveryStatus } from '../../src/webhooks/delivery/states.ts';
import { createEgressGuard } from '../../src/webhooks/egress/egress.ts';
import type { EventTypeName } from '../../src/webhooks/events/catalogue.ts';
import { recordEvents } from '../../src/webhooks/events/record.ts';
import {
  createSubscription,
  type SubscriptionDeps,
  type WithSecret,
} from '../../src/webhooks/subscriptions/operations.ts';
import { NewSubscription } from '../../src/webhooks/subscriptions/schema.ts';
import { createTestDatabase } from '../support/database.ts';
import { EVENT_CATALOGUE } from '../support/event-catalogue.ts';

export type Outcome = { httpStatus: number; durationMs?: number } | { code: string };

/** A database with the webhook operations around it, a clock of its own, and the messages in the outbox. */
export type Fixture = {
  db: Database;
  deps: SubscriptionDeps & { db: Database; catalogue: typeof EVENT_CATALOGUE };
  clock: { now: Date };
  enqueued: OutboxRow[];
  runInTransaction: RunInTransaction;
  newMerchant: () => Promise<MerchantScope>;
  subscribe: (scope: MerchantScope, fields?: Partial<NewSubscription>) => Promise<WithSecret>;
  record: (scope: MerchantScope, event?: EventTypeName) => Promise<string>;
  deliveryId: (eventId: string, subscriptionId?: string) => Promise<string>;
  /** One attempt of a delivery with this outcome; `last` = no retry follows. */
  attempt: (deliveryId: string, outcome: Outcome, last?: boolean) => Promise<DeliveryStatus>;
  /** An event of which the only delivery ended FAILED. */
  failedDelivery: (scope: MerchantScope, event?: EventTypeName) => Promise<{ eventId: string; deliveryId: string }>;
  /** SQL that only the database's administrator may run. */
  asOwner: (sql: string) => Promise<void>;
  drop: () => Promise<void>;
};

export async function createFixture(): Promise<Fixture> {
  const { db, drop, asOwner } = await createTestDatabase();
  const clock = { now: new Date('2025-06-15T12:00:00.000Z') };
  const enqueued: OutboxRow[] = [];
  const runInTransaction = createTransactionRunner(db, (messages) => void enqueued.push(...messages));
  const guard = createEgressGuard({ ports: [443, 8443], allowLoopback: false, deny: [] });
  const deps: Fixture['deps'] = {
    db,
    clock: () => clock.now,
    keyRing: { currentId: 'test', keys: new Map([['test', Buffer.alloc(32, 7)]]) },
    checkUrl: guard.checkUrl,
    baseUrl: 'https://pay.example.et',
    catalogue: EVENT_CATALOGUE,
  };

  const fixture: Fixture = {
    db,
    deps,
    clock,
    enqueued,
    runInTransaction,
    drop,
    asOwner,
    newMerchant: async () => {
      const merchantId = newId('mrc');
      await db.knex()('merchant').insert({ id: merchantId, name: 'Abyssinia Coffee' });
      return { merchantId, environment: 'sandbox' };
    },
    subscribe: async (scope, fields = {}) => {
      const url = fields.sandboxReceiver ? {} : { url: 'https://hooks.example.com/meskot' };
      const defaults = { ...url, eventTypes: ['*'] };
      const input = { ...NewSubscription.parse({ ...defaults, ...fields }), ...scope };
      return runInTransaction(async (tx) => createSubscription(deps, tx, input));
    },
    record: async (scope, event = 'payment.succeeded') => {
      const data = { ...EVENT_CATALOGUE[event].example, ...scope };
      const resource = { resourceType: 'transaction', resourceId: newId('txn') };
      const ids = await runInTransaction(async (tx) =>
        recordEvents(tx, [{ event, ...scope, ...resource, data, createdAt: clock.now }]),
      );
      return String(ids[0]);
    },
    deliveryId: async (eventId, subscriptionId) => {
      const row = await db
        .knex()('webhookDelivery')
        .where({ eventId, ...(subscriptionId && { subscriptionId }) })
        .first('id');
      return String(row.id);
    },
    attempt: async (deliveryId, outcome, last = false) => {
      // A retry is made when it is due.
      const { nextAttemptAt: due } = await db
        .knex()('webhookDelivery')
        .where({ id: deliveryId })
        .first('nextAttemptAt');
      const startedAt = new Date(Math.max(clock.now.getTime(), due.getTime()));
      const claimed = await claimOne(db, { deliveryId, startedAt, reclaim: true });
      if (!claimed) throw new Error('not claimed');
      const httpStatus = 'httpStatus' in outcome ? outcome.httpStatus : null;
      const ok = httpStatus !== null && httpStatus >= 200 && httpStatus <= 299;
      const code = 'code' in outcome ? outcome.code : 'http_status';
      const nextAttemptAt = new Date(startedAt.getTime() + 60_000).toISOString();
      const recording = {
        ...claimed,
        ok,
        httpStatus,
        failure: ok ? null : { code: code as FailureCode, message: `it was ${code}` },
        startedAt: startedAt.toISOString(),
        endedAt: startedAt.toISOString(),
        durationMs: ('durationMs' in outcome && outcome.durationMs) || 12,
        timings: { dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: 6 },
        responseHeaders: { 'content-type': 'text/plain' },
        responseExcerpt: 'hello',
        answer: 'hello',
        nextAttemptAt: ok || last || claimed.manual ? null : nextAttemptAt,
        reason: null,
        deadLetterId: newId('whl'),
      };
      const [recorded] = await recordAttempts(db, [recording]);
      return recorded?.status as DeliveryStatus;
    },
    failedDelivery: async (scope, event) => {
      const eventId = await fixture.record(scope, event);
      const deliveryId = await fixture.deliveryId(eventId);
      await fixture.attempt(deliveryId, { httpStatus: 500 }, true);
      return { eventId, deliveryId };
    },
  };
  return fixture;
}
