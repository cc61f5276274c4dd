import { createAttempt } from '../../src/webhooks/delivery/attempt.ts';
import { claimOne } from '../../src/webhooks/delivery/claim.ts';
import { recordAttempts } from '../../src/webhooks/delivery/record-attempt.ts';
import { sender } from '../support/sending.ts';
import { createFixture, type Fixture } from './fixture.ts';

let fixture: Fixture;

beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(async () => fixture.drop());

test('a webhook that cannot be signed is a failed attempt, is retried by the schedule and ends as a dead letter', async () => {
  const scope = await fixture.newMerchant();
  const { row } = await fixture.subscribe(scope);
  const deliveryId = await fixture.deliveryId(await fixture.record(scope));
  await fixture.db
    .knex()('webhookSubscription')
    .where({ id: row.id })
    .update({ secret: Buffer.from('not what was sealed') });

  const defects: string[] = [];
  const attempt = createAttempt({
    sender: sender(),
    receiver: sender(),
    keyRing: fixture.deps.keyRing,
    onDefect: (id) => defects.push(id),
  });
  const recorded: unknown[] = [];
  for (const afterMs of [0, 60_000]) {
    const startedAt = new Date(fixture.clock.now.getTime() + afterMs);
    const claimed = await claimOne(fixture.db, { deliveryId, startedAt, reclaim: true });
    if (!claimed) throw new Error('not claimed');
    const outcome = await attempt(claimed, { retryDelaysSeconds: [60], jitter: 0 });
    expect(outcome.failure).toMatchObject({ code: 'internal_error' });
    recorded.push(...(await recordAttempts(fixture.db, [outcome])));
  }

  expect(recorded).toMatchObject([
    { status: 'RETRYING', retryCount: 1, nextAttemptAt: expect.any(Date) },
    { status: 'FAILED', retryCount: 2, nextAttemptAt: null },
  ]);
  expect(defects).toEqual([deliveryId, deliveryId]);
  expect(await fixture.db.knex()('webhookDeadLetter').where({ deliveryId, closedAt: null })).toHaveLength(1);
});
