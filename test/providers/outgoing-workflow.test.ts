import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { findRecoverableWithdrawals } from '../../src/payouts/withdrawals/workflow.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;
beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 10_000_00n);
});
afterAll(() => database.drop());

/** A withdrawal without a message to its workflow: seconds since it was created, requested, sent and last queried. */
type State = {
  stage: string;
  created?: number;
  requested?: number;
  sent?: number;
  queried?: number;
  environment?: string;
};

async function build({ sent, queried, ...state }: State): Promise<string> {
  const { id } = await withdraw(fixture, scope);
  const ago = (seconds: string) => `now() - CAST(:${seconds} AS integer) * interval '1 second'`;
  await rows(
    fixture.db,
    `WITH taken AS (DELETE FROM outbox)
     UPDATE payout SET stage = :stage, environment = :environment, created_at = ${ago('created')}, requested_at = ${ago('requested')},
       submitted_at = ${ago('sent')}, last_checked_at = ${ago('queried')} WHERE id = :id`,
    {
      id,
      created: 10_000,
      requested: 100,
      environment: 'sandbox',
      ...state,
      sent: sent ?? null,
      queried: queried ?? null,
    },
  );
  return id;
}

const isFound = async (id: string, onlyPastDue: boolean) =>
  (await findRecoverableWithdrawals(fixture.db, { after: '', limit: 100, onlyPastDue })).some((one) => one.id === id);

const WEEK_SECONDS = 7 * 24 * 60 * 60;

test.each<[State, 'no run' | 'full runs' | 'all runs']>([
  [{ stage: 'CREATED', created: 25 }, 'no run'],
  [{ stage: 'CREATED', created: 35 }, 'all runs'],
  [{ stage: 'SUBMITTED', sent: 100 }, 'all runs'],
  [{ stage: 'SUBMITTED', sent: 600, queried: 325 }, 'full runs'],
  [{ stage: 'SUBMITTED', sent: 600, queried: 335 }, 'all runs'],
  [{ stage: 'UNKNOWN', sent: 9_000, queried: 1_855 }, 'full runs'],
  [{ stage: 'UNKNOWN', sent: 9_000, queried: 1_865 }, 'all runs'],
  [{ stage: 'AWAITING_CONFIRMATION', requested: WEEK_SECONDS + 59 * 60 }, 'full runs'],
  [{ stage: 'AWAITING_CONFIRMATION', requested: WEEK_SECONDS + 61 * 60 }, 'all runs'],
  [{ stage: 'UNDER_REVIEW' }, 'all runs'],
  [{ stage: 'UNDER_REVIEW', environment: 'live' }, 'full runs'],
])('a withdrawal %o is found by %s of the recovery', async (state, runs) => {
  const id = await build(state);
  expect([await isFound(id, false), await isFound(id, true)]).toEqual([runs !== 'no run', runs === 'all runs']);
});
