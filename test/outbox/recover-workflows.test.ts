import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import { createTransactionRunner } from '../../src/outbox/record.ts';
import { createRepair, type RepairDeps } from '../../src/outbox/recover-workflows.ts';
import type { FindRecoverable, OpenPage } from '../../src/outbox/recoverable.ts';
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

/** Notes for what it is asked. */
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

const repairOf = (source: FindRecoverable, more: Partial<RepairDeps> = {}) =>
  createRepair({
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

test('recovery wakes what Temporal has lost, and what is overdue but running; it leaves the rest alone', async () => {
  const { find } = sourceOf([{ id: 'a-lost' }, { id: 'b-running' }, { id: 'c-overdue', overdue: true }]);
  const repair = repairOf(find, { running: async () => new Set(['b-running', 'c-overdue']) });
  expect(await repair.run()).toBe(2);
  expect(await restarted()).toEqual(['a-lost', 'c-overdue']);
});

test('however many are lost, all are woken', async () => {
  const { find } = sourceOf(Array.from({ length: 450 }, (_, index) => ({ id: `lost-${1_000 + index}` })));
  expect(await repairOf(find).run()).toBe(450);
  expect(await restarted()).toHaveLength(450);
});

test('only what is past due is compared, and everything after an absence of Temporal and once an hour', async () => {
  const { find, asked } = sourceOf([]);
  const repair = repairOf(find);
  const runs = async (): Promise<(boolean | undefined)[]> => {
    await setDue();
    asked.length = 0;
    await repair.run();
    return asked.map(({ onlyPastDue }) => onlyPastDue);
  };
  expect(await runs()).toEqual([true]);
  repair.wantFull();
  expect(await runs()).toEqual([false]);
  expect(await runs()).toEqual([true]);
  await rows(database.db, `UPDATE workflow_recovery SET next_full_run_at = next_full_run_at - interval '59 minutes'`);
  expect(await runs()).toEqual([true]);
  await rows(database.db, `UPDATE workflow_recovery SET next_full_run_at = next_full_run_at - interval '1 minute'`);
  expect(await runs()).toEqual([false]);
  expect(await runs()).toEqual([true]);
});

test('an absence during a run over everything makes for another one', async () => {
  const { find, asked } = sourceOf([{ id: 'open' }]);
  const repair = repairOf(find);
  const other = repairOf(find, { reachable: () => false });
  repair.wantFull();
  const interrupted = repairOf(find, {
    running: async () => {
      other.wantFull();
      await other.run();
      return new Set(['open']);
    },
  });
  interrupted.wantFull();
  await interrupted.run();
  await setDue();
  asked.length = 0;
  await repairOf(find).run();
  expect(asked[0]?.onlyPastDue).toBe(false);
});

test('one worker compares at a time, every ten seconds; another takes over from one that died', async () => {
  const { find, asked } = sourceOf([{ id: 'open' }]);
  const repairs = Array.from({ length: 3 }, () => repairOf(find, { running: async () => new Set(['open']) }));
  const made = await Promise.all(repairs.map(async ({ run }) => run()));
  expect(made.filter((restarted) => restarted !== null)).toEqual([0]);
  expect(await repairs[1]?.run()).toBe(null);
  await rows(database.db, `UPDATE workflow_recovery SET next_run_at = next_run_at - interval '10 seconds'`);
  expect(await repairs[1]?.run()).toBe(0);

  const dying = repairOf(find, { running: async () => Promise.reject(new Error('killed')) });
  await setDue();
  await expect(dying.run()).rejects.toThrow('killed');
  expect(await repairs[2]?.run()).toBe(null);
  await rows(database.db, `UPDATE workflow_recovery SET next_run_at = next_run_at - interval '1 minute'`);
  expect(await repairs[2]?.run()).toBe(0);
  expect(asked.length).toBeGreaterThan(0);
});

test('nothing is compared while Temporal is away', async () => {
  const { find, asked } = sourceOf([{ id: 'open' }]);
  expect(await repairOf(find, { reachable: () => false }).run()).toBe(null);
  expect(asked).toEqual([]);
});
