import { createClaim } from '../../src/webhooks/claim.ts';
import { createAttemptDelivery, type AttemptReport } from '../../src/webhooks/deliver.ts';
import { createSave } from '../../src/webhooks/save.ts';
import { sender } from '../support/sending.ts';
import { createWorld, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => world.drop());

test('a webhook that cannot be signed is an attempt that failed: the ladder goes on, and it ends as a dead letter', async () => {
  const owner = await world.newMerchant();
  const { row } = await world.subscribe(owner);
  const deliveryId = await world.deliveryId(await world.record(owner));
  await world
    .db('webhookSubscription')
    .where({ id: row.id })
    .update({ secret: Buffer.from('not what was sealed') });

  const problems: string[] = [];
  const attempt = createAttemptDelivery({
    claim: createClaim(world.db),
    save: createSave(world.db),
    sender: sender(),
    keyRing: world.deps.keyRing,
    onProblem: (problem, id) => problems.push(`${problem} ${id}`),
  });
  const reports: AttemptReport[] = [];
  for (const startedAtMs of [world.clock.now.getTime(), world.clock.now.getTime() + 60_000]) {
    reports.push(await attempt({ deliveryId, startedAtMs, retryDelaysSeconds: [60], jitter: 0, lane: 'direct' }));
  }

  expect(reports).toMatchObject([
    { kind: 'failed', status: 'RETRYING', code: 'internal', rungsUsed: 1 },
    { kind: 'failed', status: 'FAILED', code: 'internal', nextAttemptAtMs: null },
  ]);
  expect(problems).toEqual([`unsent ${deliveryId}`, `unsent ${deliveryId}`]);
  expect(await world.db('webhookAttempt').where({ deliveryId }).whereNull('endedAt')).toEqual([]);
  expect(await world.db('webhookDeadLetter').where({ deliveryId, closedAt: null })).toHaveLength(1);
});
