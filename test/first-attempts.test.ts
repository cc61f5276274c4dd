import { createFirstAttempts } from '../src/first-attempts.ts';
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
async function buildFirstAttempts() {
  const shop = await receiver();
  const owner = await world.newMerchant();
  const { row } = await world.subscribe(owner);
  await world.db('webhookSubscription').where({ id: row.id }).update({ url: shop.url });
  const log = createLogger('silent', 'test');
  const save = createSave(world.db);
  const attempt = createAttemptDelivery({
    claim: createClaim(world.db),
    save,
    sender: sender(),
    keyRing: world.deps.keyRing,
    onProblem: (problem, deliveryId) => expect([problem, deliveryId]).toBeNull(),
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
  });
  later(firstAttempts.stop);
  const record = async (): Promise<string> => {
    const deliveryId = await world.deliveryId(await world.record(owner));
    firstAttempts.poke();
    return deliveryId;
  };
  return { shop, firstAttempts, started, record };
}

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
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const third = await record();
  await until(() => started.length === 2);
  expect(started[1]?.deliveryId).toBe(third);
});

test('an attempt that its workflow has begun is left to it, however long it takes', async () => {
  const { shop, firstAttempts, started, record } = await buildFirstAttempts();
  const deliveryId = await record();
  await until(() => started.length === 1);
  expect(await firstAttempts.begin(deliveryId)).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(shop.requests).toHaveLength(0);
});
