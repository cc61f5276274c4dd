import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { findRecoverableAttempts } from '../../src/payments/workflow.ts';
import { buildFixture, buildMerchant, buildPendingPayment, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  scope = await buildMerchant(database.db);
});
afterAll(() => database.drop());

/** Seconds since an attempt was created, since it was last queried, and since the end of its session. */
type Ages = { created: number; queried?: number; over?: number };

/** An attempt without a message to its workflow. */
async function attempt({ created, queried, over = -600 }: Ages): Promise<string> {
  const { attemptId, sessionId } = await buildPendingPayment(fixture, scope);
  const ago = (seconds: string) => `now() - CAST(:${seconds} AS integer) * interval '1 second'`;
  await rows(
    fixture.db,
    `WITH taken AS (DELETE FROM outbox), session AS (UPDATE checkout_session SET expires_at = ${ago('over')} WHERE id = :sessionId)
     UPDATE payment_attempt SET created_at = ${ago('created')}, last_checked_at = ${ago('queried')} WHERE id = :attemptId`,
    { attemptId, sessionId, created, queried: queried ?? null, over },
  );
  return attemptId;
}

const find = async (onlyPastDue: boolean) =>
  findRecoverableAttempts(fixture.db, { after: '', limit: 100, onlyPastDue });
const isFound = async (id: string, onlyPastDue = true) => (await find(onlyPastDue)).some((one) => one.id === id);

test.each<[string, Ages, 'no run' | 'full runs' | 'all runs']>([
  ['just created', { created: 25 }, 'no run'],
  ['created half a minute ago', { created: 35, queried: 33 }, 'full runs'],
  ['not queried for less than two minutes', { created: 900, queried: 115 }, 'full runs'],
  ['not queried for two minutes', { created: 900, queried: 125 }, 'all runs'],
  ['never queried in two minutes', { created: 125 }, 'all runs'],
  [
    'queried 10 minutes after its session, and 10 minutes ago',
    { created: 3_000, queried: 655, over: 1_255 },
    'full runs',
  ],
  [
    'queried 10 minutes after its session, and 11 minutes ago',
    { created: 3_000, queried: 665, over: 1_265 },
    'all runs',
  ],
  [
    'queried an hour after its session, and 30 minutes ago',
    { created: 9_000, queried: 1_855, over: 5_455 },
    'full runs',
  ],
  [
    'queried an hour after its session, and 31 minutes ago',
    { created: 9_000, queried: 1_865, over: 5_465 },
    'all runs',
  ],
])('an attempt %s, %o, is found by %s of the recovery', async (_what, ages, runs) => {
  const id = await attempt(ages);
  expect([await isFound(id, false), await isFound(id)]).toEqual([runs !== 'no run', runs === 'all runs']);
});

test('an attempt that is over, or has a message to its workflow, is not recovered', async () => {
  const [over, lost] = [await attempt({ created: 900 }), await attempt({ created: 900 })];
  const found = await find(true);
  expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining([over, lost]));
  await rows(fixture.db, `UPDATE payment_attempt SET status = 'DECLINED' WHERE id = :over`, { over });
  await fixture.runInTransaction((tx) =>
    tx.enqueue(found.filter(({ id }) => id === lost).map(({ message }) => message)),
  );
  expect([await isFound(over), await isFound(lost)]).toEqual([false, false]);
});
