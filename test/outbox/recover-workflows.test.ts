import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import {
  createWorkflowRecovery,
  type RecoveryDeps,
  type FindRecoverable,
  type OpenPage,
} from '../../src/outbox/recover-workflows.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await rows(database.db, 'DELETE FROM outbox');
  await rows(
    database.db,
    `UPDATE workflow_recovery SET next_run_at = now(), next_full_run_at = now() + interval '1 hour'`,
  );
});
afterAll(async () => database.drop());

type Open = { id: string; overdue?: boolean };

/** Records its calls. */
function sourceOf(open: Open[]): { find: FindRecoverable; asked: OpenPage[] } {
  const asked: OpenPage[] = [];
  const find: FindRecoverable = async (_db, page) => {
    asked.push(page);
    const message = (id: string) =>
      ({
        kind: 'signalWithStart',
        signal: 'deliveryChanged',
        workflowType: 'payment',
        workflowId: id,
        input: {},
      }) as const;
    const found = open.filter(({ id }) => id > page.after).slice(0, page.limit);
    return found.map((one) => ({ ...one, message: message(one.id) }));
  };
  return { find, asked };
}

const recoveryOf = (source: FindRecoverable, more: Partial<RecoveryDeps> = {}) =>
  createWorkflowRecovery({
    db: database.db,
    runInTransaction: createTransactionRunner(database.db, () => {}),
    running: async () => new Set(),
    reachable: () => true,
    sources: [source],
    log: createLogger('silent', 'test'),
    ...more,
  });

const restarted = async (): Promise<unknown[]> =>
  (await rows<{ workflowId: string }>(database.db, 'SELECT workflow_id FROM outbox ORDER BY 1')).map(
    ({ workflowId }) => workflowId,
  );
const setDue = async () => rows(database.db, 'UPDATE workflow_recovery SET next_run_at = now()');

test('recovery restarts lost workflows and signals overdue ones that run; it leaves all others alone', async () => {
  const { find } = sourceOf([{ id: 'a-lost' }, { id: 'b-running' }, { id: 'c-overdue', overdue: true }]);
  const recovery = recoveryOf(find, { running: async () => new Set(['b-running', 'c-overdue']) });
  expect(await recovery.run()).toBe(2);
  expect(await restarted()).toEqual(['a-lost', 'c-overdue']);
});

test('recovery restarts all lost workflows, over many pages', async () => {
  const { find } = sourceOf(Array.from({ length: 450 }, (_, index) => ({ id: `lost-${1_000 + index}` })));
  expect(await recoveryOf(find).run()).toBe(450);
  expect(await restarted()).toHaveLength(450);
});

test('recovery compares only rows that are past due, but all rows after an outage of Temporal and once an hour', async () => {
  const { find, asked } = sourceOf([]);
  const recovery = recoveryOf(find);
  const runs = async (): Promise<(boolean | undefined)[]> => {
    await setDue();
    asked.length = 0;
    await recovery.run();
    return asked.map(({ onlyPastDue }) => onlyPastDue);
  };
  expect(await runs()).toEqual([true]);
  recovery.requestFull();
  expect(await runs()).toEqual([false]);
  expect(await runs()).toEqual([true]);
  await rows(database.db, `UPDATE workflow_recovery SET next_full_run_at = next_full_run_at - interval '59 minutes'`);
  expect(await runs()).toEqual([true]);
  await rows(database.db, `UPDATE workflow_recovery SET next_full_run_at = next_full_run_at - interval '1 minute'`);
  expect(await runs()).toEqual([false]);
  expect(await runs()).toEqual([true]);
});

test('an outage of Temporal during a full recovery run causes another full run', async () => {
  const { find, asked } = sourceOf([{ id: 'open' }]);
  let outages = 1;
  const recovery = recoveryOf(find, {
    running: async () => {
      if (outages-- > 0) recovery.requestFull();
      return new Set(['open']);
    },
  });
  recovery.requestFull();
  const runs: (boolean | undefined)[] = [];
  for (let run = 0; run < 3; run += 1) {
    await setDue();
    asked.length = 0;
    await recovery.run();
    runs.push(asked[0]?.onlyPastDue);
  }
  expect(runs).toEqual([false, false, true]);
});

test('a full run that another worker’s lease delays, or that fails, is made later', async () => {
  const { find, asked } = sourceOf([{ id: 'open' }]);
  let isBroken = true;
  const recovery = recoveryOf(find, {
    running: async () => (isBroken ? Promise.reject(new Error('broken')) : new Set(['open'])),
  });
  await rows(database.db, `UPDATE workflow_recovery SET next_run_at = now() + interval '1 minute'`);
  recovery.requestFull();
  expect(await recovery.run()).toBe(null);
  await setDue();
  await expect(recovery.run()).rejects.toThrow('broken');
  isBroken = false;
  await setDue();
  expect(await recovery.run()).toBe(0);
  expect(asked.map(({ onlyPastDue }) => onlyPastDue)).toEqual([false, false, false]);
});

test('one worker at a time recovers workflows, every ten seconds; another takes over from one that died', async () => {
  const { find, asked } = sourceOf([{ id: 'open' }]);
  const recoveries = Array.from({ length: 3 }, () => recoveryOf(find, { running: async () => new Set(['open']) }));
  const made = await Promise.all(recoveries.map(async ({ run }) => run()));
  expect(made.filter((restarted) => restarted !== null)).toEqual([0]);
  expect(await recoveries[1]?.run()).toBe(null);
  await rows(database.db, `UPDATE workflow_recovery SET next_run_at = next_run_at - interval '10 seconds'`);
  expect(await recoveries[1]?.run()).toBe(0);

  const dying = recoveryOf(find, { running: async () => Promise.reject(new Error('killed')) });
  await setDue();
  await expect(dying.run()).rejects.toThrow('killed');
  expect(await recoveries[2]?.run()).toBe(null);
  await rows(database.db, `UPDATE workflow_recovery SET next_run_at = next_run_at - interval '1 minute'`);
  expect(await recoveries[2]?.run()).toBe(0);
  expect(asked.length).toBeGreaterThan(0);
});

test('recovery compares nothing while Temporal is unavailable', async () => {
  const { find, asked } = sourceOf([{ id: 'open' }]);
  expect(await recoveryOf(find, { reachable: () => false }).run()).toBe(null);
  expect(asked).toEqual([]);
});

test('a full recovery that is requested while another one runs is made after it', async () => {
  const { find, asked } = sourceOf([]);
  const other = recoveryOf(find, { reachable: () => false });
  const requestMeanwhile: FindRecoverable = async (db, page) => {
    other.requestFull();
    await other.run();
    return find(db, page);
  };
  const recovery = recoveryOf(requestMeanwhile);
  recovery.requestFull();
  await recovery.run();
  await setDue();
  await recoveryOf(find).run();
  expect(asked.map(({ onlyPastDue }) => onlyPastDue)).toEqual([false, false]);
});
