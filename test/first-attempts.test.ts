import { createWebhookActivities } from '../activities/webhooks.ts';
import { createFirstAttempts, type FirstAttemptsDeps } from '../src/first-attempts.ts';
import { createLogger } from '../src/lib/log.ts';
import type { OutboxRow } from '../src/lib/outbox.ts';
import { createClaim } from '../src/webhooks/claim.ts';
import { createAttemptDelivery } from '../src/webhooks/deliver.ts';
import { createSave } from '../src/webhooks/save.ts';
import { createSendSlots } from '../src/webhooks/slots.ts';
import { cleanUp, later, receiver, sender, until } from './support/sending.ts';
import { createWorld, type World } from './webhooks/world.ts';

let world: World;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await cleanUp();
  await world.drop();
});

/** First attempts in mode `every` beside an engine that takes every start and gets round to none. */
async function buildFirstAttempts(other: Partial<FirstAttemptsDeps> = {}) {
  const shop = await receiver();
  const owner = await world.newMerchant();
  const { row } = await world.subscribe(owner);
  await world.db('webhookSubscription').where({ id: row.id }).update({ url: shop.url });
  const log = createLogger('silent', 'test');
  const saving = { fails: false };
  const saveNow = createSave(world.db);
  const save: typeof saveNow = async (outcome) => {
    if (saving.fails) throw new Error('the database is away');
    return saveNow(outcome);
  };
  const attempt = createAttemptDelivery({
    claim: createClaim(world.db),
    save,
    sender: sender(),
    keyRing: world.deps.keyRing,
    onProblem: (problem, deliveryId) => expect(saving.fails ? null : [problem, deliveryId]).toBeNull(),
  });
  const started: OutboxRow[] = [];
  const slots = createSendSlots(10);
  const firstAttempts = createFirstAttempts({
    db: world.db,
    log,
    save,
    attempt,
    slots,
    tell: async (message) => {
      started.push(message);
      return 'told';
    },
    reachable: () => true,
    workflows: 'every',
    startsMax: 16,
    retryDelaysSeconds: [60],
    ...other,
  });
  later(firstAttempts.stop);
  later(async () => void (saving.fails = false));
  const { attemptDelivery } = createWebhookActivities({
    attempt,
    save,
    slots,
    started: firstAttempts,
    requestResend: async () => {},
    giveUp: async () => 'FAILED',
  });
  /** Makes the attempt as its workflow does. */
  const attemptByWorkflow = async (deliveryId: string) =>
    attemptDelivery({
      deliveryId,
      subscriptionId: row.id,
      startedAtMs: Date.now(),
      retryDelaysSeconds: [60],
      jitter: 0,
    });
  const record = async (): Promise<string> => {
    const deliveryId = await world.deliveryId(await world.record(owner));
    firstAttempts.poke();
    return deliveryId;
  };
  return { shop, firstAttempts, started, record, saving, subscriptionId: row.id, attemptByWorkflow };
}

const pause = async (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const laneOf = async (deliveryId: string): Promise<unknown> =>
  world.db('webhookAttempt').where({ deliveryId }).first('lane', 'trigger');

test('an engine that is behind delays no receiver: its attempt is taken over, and the next are not given to it', async () => {
  const { shop, firstAttempts, started, record } = await buildFirstAttempts();
  const first = await record();
  await until(() => shop.requests.length === 1);
  expect(started.map((one) => one.deliveryId)).toEqual([first]);
  expect(await laneOf(first)).toEqual({ lane: 'direct', trigger: 'auto' });

  await record();
  await until(() => shop.requests.length === 2);
  expect(started).toHaveLength(1);

  // The workflow's turn comes: there is nothing left to attempt.
  expect(await firstAttempts.begin(first)).toBe(false);
  firstAttempts.finished(first);
  // And after a while the engine is tried again.
  await pause(1_000);
  const third = await record();
  await until(() => started.length === 2);
  expect(started[1]?.deliveryId).toBe(third);
});

test('an attempt that its workflow has begun is left to it, however long it takes', async () => {
  const { shop, firstAttempts, started, record } = await buildFirstAttempts();
  const deliveryId = await record();
  await until(() => started.length === 1);
  expect(await firstAttempts.begin(deliveryId)).toBe(true);
  await pause(250);
  expect(shop.requests).toHaveLength(0);
});

test('an attempt that its workflow has begun is left to it, also when the answer to its start is lost', async () => {
  const tellAndLose = async ({ deliveryId = '' }: OutboxRow): Promise<never> => {
    expect(await built.firstAttempts.begin(deliveryId)).toBe(true);
    throw new Error('the answer was lost');
  };
  const slots = createSendSlots(1);
  const built = await buildFirstAttempts({ tell: tellAndLose, slots });
  const deliveryId = await built.record();
  await pause(250);
  expect(built.shop.requests).toHaveLength(0);

  // It keeps its slot until it is over.
  expect(slots.isFull(built.subscriptionId)).toBe(true);
  built.firstAttempts.finished(deliveryId);
  expect(slots.isFull(built.subscriptionId)).toBe(false);
});

test('what was sent but not saved is not sent again, however long the database is away, and saved when it is back', async () => {
  const { shop, firstAttempts, started, record, saving, attemptByWorkflow } = await buildFirstAttempts();
  const deliveryId = await record();
  await until(() => started.length === 1);
  saving.fails = true;
  expect(await attemptByWorkflow(deliveryId)).toMatchObject({ kind: 'unsaved' });
  expect(shop.requests).toHaveLength(1);

  // Long after: neither the claim nor the lease of its outbox row protects it any more.
  const longAgo = world.db.raw(`now() - interval '1 hour'`);
  await world.db('webhookDelivery').where({ id: deliveryId }).update({ sendingSince: longAgo });
  await world.db('outbox').where({ deliveryId }).update({ leaseUntil: longAgo });
  firstAttempts.poke();
  await pause(300);
  expect(started).toHaveLength(1);
  expect(shop.requests).toHaveLength(1);

  saving.fails = false;
  const statusOf = async (): Promise<unknown> => world.db('webhookDelivery').where({ id: deliveryId }).first('status');
  await pause(400);
  expect(await statusOf()).toEqual({ status: 'DELIVERED' });
  expect(await world.db('outbox')).toEqual([]);
  expect(shop.requests).toHaveLength(1);
});

/** Fills the outbox with deliveries of nobody, for attempts that only seem to be made. */
const fillOutbox = async (count: number, lane: 'fast' | 'slow'): Promise<unknown> =>
  world.db.raw(
    `INSERT INTO outbox (id, kind, workflow_type, workflow_id, input, delivery_id, subscription_id)
     SELECT 'obx_' || :lane || n, 'start', 'webhookDelivery', 'delivery-' || n, jsonb_build_object('lane', CAST(:lane AS text)),
            :lane || n, 'whs_1'
     FROM generate_series(1, :count) AS n`,
    { count, lane },
  );

test('deliveries to receivers that hang are taken as soon as less than half of all room is in use', async () => {
  const ends = new Map<string, () => void>();
  const attempt: FirstAttemptsDeps['attempt'] = async ({ deliveryId }) => {
    await new Promise<void>((end) => ends.set(deliveryId, end));
    return { kind: 'delivered', httpStatus: 200 };
  };
  const { firstAttempts } = await buildFirstAttempts({ attempt, workflows: 'failed', slots: createSendSlots(1_000) });
  later(async () => ends.forEach((end) => end()));
  await fillOutbox(250, 'fast');
  firstAttempts.poke();
  await until(() => ends.size === 250);
  await fillOutbox(1, 'slow');
  firstAttempts.poke();
  await pause(100);
  expect(ends.size).toBe(250);

  ends.get('fast1')?.();
  await until(() => ends.has('slow1'));
});

test('a delivery that is gone leaves nothing in the outbox', async () => {
  const { firstAttempts, shop } = await buildFirstAttempts({ workflows: 'failed' });
  await fillOutbox(1, 'fast');
  firstAttempts.poke();
  await pause(200);
  expect(await world.db('outbox')).toEqual([]);
  expect(shop.requests).toHaveLength(0);
});
