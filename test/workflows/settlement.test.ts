import type { RunningWorker } from '../../src/app/worker.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { markCredited, markFailed, markSent } from '../../src/settlements/bank-results.ts';
import { addHoliday, removeHoliday } from '../../src/settlements/calendar/operations.ts';
import type { NewSettlement } from '../../src/settlements/create.ts';
import { approveSettlement, cancelSettlement } from '../../src/settlements/decide.ts';
import { enqueueCalendarChanged } from '../../src/settlements/expected-dates.ts';
import { readSettlement } from '../../src/settlements/queries.ts';
import { settlementWorkflowId } from '../../src/settlements/workflow.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount, stateOfSettlement } from '../support/settlements.ts';
import { resultOf, skipTime } from '../support/temporal.ts';
import { until, WAIT_MS } from '../support/until.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { createWorkerFixture, type WorkerFixture } from '../support/worker.ts';

const DAY_MS = 24 * 3_600_000;

let fixture: WorkerFixture;
let worker: RunningWorker;
let money: Fixture;
let scope: MerchantScope;
const clock = () => new Date();

beforeAll(async () => {
  fixture = await createWorkerFixture({ TASK_QUEUES: 'money' });
  worker = fixture.startWorker();
  await worker.ready;
  money = buildFixture(fixture.db, { clock });
  scope = await buildFreeMerchant(money);
  await fund(money, scope, 50_000_00n);
  await linkAccount({ runInTransaction: fixture.runInTransaction, clock }, scope);
});
afterEach(() => expectLedgerHolds(fixture.db));
afterAll(() => fixture.close());

/** Requests a settlement at an instant, like the API. An amount that ends in .14 waits for an operator. */
async function requested(at: Date, amount: NewSettlement['amount'] = 100_14n) {
  const { id } = await requestSettlement({ runInTransaction: fixture.runInTransaction, clock: () => at }, scope, {
    amount,
  });
  return { id, workflowId: settlementWorkflowId(id) };
}

const operator = () => ({ operatorId: 'opr_1', at: clock() });
const result = async (workflowId: string) => resultOf(fixture.temporal.client.workflow.getHandle(workflowId));
const description = async (workflowId: string) => fixture.temporal.client.workflow.getHandle(workflowId).describe();
/** The workflow's published progress. */
async function details(workflowId: string): Promise<string> {
  const metadata = await fixture.temporal.client.workflow
    .getHandle(workflowId)
    .query('__temporal_workflow_metadata')
    .catch(() => ({}));
  return (metadata as { currentDetails?: string }).currentDetails ?? '';
}

const stands = async (id: string, wanted: string) =>
  until(`settlement ${wanted}`, async () => {
    const now = await stateOfSettlement(fixture.db, id);
    return now['status'] === wanted && now;
  });

/** Advances the settlement to an instant of its own time. */
async function liveTo(workflowId: string, at: Date): Promise<void> {
  const seen = await until('the workflow', async () => description(workflowId).catch(() => null));
  livedMs.set(workflowId, livedMs.get(workflowId) ?? seen.startTime.getTime());
  const from = Math.max(livedMs.get(workflowId) ?? 0, Date.now());
  await skipTime(fixture.temporal.client, workflowId, at.getTime() - from);
  livedMs.set(workflowId, at.getTime());
}
const livedMs = new Map<string, number>();

// Noon on a Friday in Addis Ababa: Monday is a business day, Tuesday is Timkat, so the credit is expected by Wednesday.
const FRIDAY = new Date('2027-01-15T09:00:00.000Z');
const endOf = (day: string) => new Date(Date.parse(`${day}T21:00:00.000Z`));
const MINUTE_MS = 60_000;

describe('the workflow of a settlement', () => {
  test('a sandbox settlement is approved automatically after 5 s, and rejected when its amount ends in .13', async () => {
    const [yes, no] = [await requested(clock(), 100_00n), await requested(clock(), 100_13n)];
    await skipTime(fixture.temporal.client, yes.workflowId, 6_000);
    await stands(yes.id, 'APPROVED');
    await skipTime(fixture.temporal.client, no.workflowId, 6_000);
    expect(await stands(no.id, 'REJECTED')).toMatchObject({
      events: ['settlement.requested', 'settlement.rejected'],
      journals: ['SETTLEMENT_RESERVED', 'SETTLEMENT_RELEASED'],
    });
    expect(await result(no.workflowId)).toBe('REJECTED');
  });

  test('a settlement becomes overdue exactly after its second business day, with a holiday skipped, and waits on', async () => {
    const { id, workflowId } = await requested(FRIDAY);
    await liveTo(workflowId, new Date(endOf('2027-01-20').getTime() - MINUTE_MS));
    expect(await stateOfSettlement(fixture.db, id)).toMatchObject({ overdue: false, expectedUntil: '2027-01-20' });
    await liveTo(workflowId, new Date(endOf('2027-01-20').getTime() + MINUTE_MS));
    await until('it is overdue', async () => (await stateOfSettlement(fixture.db, id))['overdue']);
    await liveTo(workflowId, new Date(FRIDAY.getTime() + 14 * DAY_MS));
    expect(await stateOfSettlement(fixture.db, id)).toMatchObject({
      status: 'REQUESTED',
      timeline: ['settlement.requested', 'settlement.overdue'],
    });
    await fixture.runInTransaction((tx) => approveSettlement(tx, id, operator()));
    await fixture.runInTransaction((tx) => markSent(tx, id, { ...operator(), bankReference: 'FT1' }));
    const credit = { ...operator(), bankReference: 'FT1', creditedAt: clock() };
    await fixture.runInTransaction((tx) => markCredited(tx, id, credit));
    expect(await result(workflowId)).toBe('COMPLETED');
  });

  test('a holiday added while a settlement waits delays its days, and its removal restores them', async () => {
    const { id, workflowId } = await requested(FRIDAY);
    await until('the workflow', async () => description(workflowId).catch(() => null));
    const day = '2027-01-18';
    const holiday = await fixture.runInTransaction(async (tx) => {
      const added = await addHoliday(tx, { date: day, name: 'National mourning', kind: 'closed' });
      expect(await enqueueCalendarChanged(tx, { from: day, until: day })).toBeGreaterThanOrEqual(1);
      return added;
    });
    await until(
      'it is expected a day later',
      async () => (await stateOfSettlement(fixture.db, id))['expectedUntil'] === '2027-01-21',
    );
    const moved = await readSettlement(fixture.db, id);
    expect(moved).toMatchObject({ expectedFrom: '2027-01-20', effectiveDate: '2027-01-15' });
    expect(moved.skippedDays.map(({ reason }) => reason)).toContain('National mourning, Monday 18 January 2027');
    await liveTo(workflowId, new Date(endOf('2027-01-20').getTime() + MINUTE_MS));
    expect(await stateOfSettlement(fixture.db, id)).toMatchObject({ overdue: false });

    await fixture.runInTransaction(async (tx) => {
      await removeHoliday(tx, holiday.id);
      await enqueueCalendarChanged(tx, { from: day, until: day });
    });
    await until(
      'it is overdue, for its day is over now',
      async () => (await stateOfSettlement(fixture.db, id))['overdue'],
    );
    expect(await stateOfSettlement(fixture.db, id)).toMatchObject({
      expectedUntil: '2027-01-20',
      timeline: ['settlement.requested', 'expected_dates.changed', 'expected_dates.changed', 'settlement.overdue'],
      events: ['settlement.requested', 'settlement.updated', 'settlement.updated'],
    });
    await fixture.runInTransaction((tx) => cancelSettlement(tx, { id }, { actor: 'key_test', at: clock() }));
    expect(await result(workflowId)).toBe('CANCELLED');
  });

  test('a holiday added without a signal is applied on the first expected day', async () => {
    const { id, workflowId } = await requested(FRIDAY);
    await liveTo(workflowId, FRIDAY);
    const day = '2027-01-20';
    const holiday = await fixture.runInTransaction((tx) =>
      addHoliday(tx, { date: day, name: 'Election day', kind: 'closed' }),
    );
    await liveTo(workflowId, new Date(endOf('2027-01-17').getTime() + MINUTE_MS));
    await until(
      'it is expected a day later',
      async () => (await stateOfSettlement(fixture.db, id))['expectedUntil'] === '2027-01-21',
    );
    await fixture.runInTransaction((tx) => removeHoliday(tx, holiday.id));
    await fixture.runInTransaction((tx) => cancelSettlement(tx, { id }, { actor: 'key_test', at: clock() }));
    expect(await result(workflowId)).toBe('CANCELLED');
  });

  test('a settlement may be approved after weeks, and fail at the bank', async () => {
    const { id, workflowId } = await requested(clock());
    await liveTo(workflowId, new Date(Date.now() + 20 * DAY_MS));
    expect(await stateOfSettlement(fixture.db, id)).toMatchObject({ status: 'REQUESTED', overdue: true });
    await fixture.runInTransaction((tx) => approveSettlement(tx, id, operator()));
    await until('the workflow has seen it', async () =>
      (await details(workflowId)).startsWith('wait for it to be sent to the bank, overdue'),
    );
    await fixture.runInTransaction((tx) => markFailed(tx, id, { ...operator(), reason: 'The account is closed.' }));
    expect(await result(workflowId)).toBe('FAILED');
    expect(await stateOfSettlement(fixture.db, id)).toMatchObject({
      journals: ['SETTLEMENT_RESERVED', 'SETTLEMENT_RELEASED'],
    });
  });

  test('a settlement that waits for months continues as new, and is marked overdue once', async () => {
    const { id, workflowId } = await requested(clock());
    const first = await until('the workflow', async () => description(workflowId).catch(() => null));
    let now = first;
    for (let days = 0; days < 150 && now.runId === first.runId; days += 10) {
      await skipTime(fixture.temporal.client, workflowId, 10 * DAY_MS);
      now = await description(workflowId);
    }
    const { status } = await fixture.temporal.client.workflow.getHandle(workflowId, first.runId).describe();
    expect(status.name).toBe('CONTINUED_AS_NEW');
    await fixture.runInTransaction((tx) => approveSettlement(tx, id, operator()));
    await until('the next run has seen it', async () =>
      (await details(workflowId)).startsWith('wait for it to be sent to the bank, overdue'),
    );
    await fixture.runInTransaction((tx) => markFailed(tx, id, { ...operator(), reason: 'The account is closed.' }));
    expect(await result(workflowId)).toBe('FAILED');
    expect(await stateOfSettlement(fixture.db, id)).toMatchObject({
      timeline: ['settlement.requested', 'settlement.overdue', 'review.approved', 'bank.failed'],
    });
  }, 120_000);

  test('changes without a running worker are applied by the next one, and a lost workflow is restarted', async () => {
    const { id, workflowId } = await requested(clock());
    await until('the workflow', async () => description(workflowId).catch(() => null));
    await worker.stop();
    await fixture.runInTransaction((tx) => approveSettlement(tx, id, operator()));
    await fixture.runInTransaction((tx) => markSent(tx, id, operator()));
    await fixture.temporal.client.workflow.getHandle(workflowId).terminate('lost');
    await rows(fixture.db, `UPDATE settlement SET created_at = now() - interval '1 minute' WHERE id = :id`, { id });
    // The settlement is not overdue yet, so the hourly recovery of all rows finds it.
    await rows(fixture.db, 'UPDATE workflow_recovery SET next_full_run_at = now()');
    worker = fixture.startWorker();
    const runs = async () => (await description(workflowId)).status.name === 'RUNNING';
    await until('the workflow to run again', runs, 2 * WAIT_MS);
    await until('it waits for the bank', async () => (await details(workflowId)).startsWith('wait for the bank'));
    const credit = { ...operator(), bankReference: 'FT2', creditedAt: clock() };
    await fixture.runInTransaction((tx) => markCredited(tx, id, credit));
    expect(await result(workflowId)).toBe('COMPLETED');
    expect(await stateOfSettlement(fixture.db, id)).toMatchObject({
      timeline: ['settlement.requested', 'review.approved', 'bank.sent', 'bank.credited'],
      journals: ['SETTLEMENT_RESERVED', 'SETTLEMENT_PAID'],
    });
  });

  test('a settlement that does not exist fails its workflow at once, without retries', async () => {
    const settlementId = 'stl_00000000000000000000000000';
    const handle = await fixture.temporal.client.workflow.start('settlement', {
      workflowId: settlementWorkflowId(settlementId),
      taskQueue: `${fixture.config.TASK_QUEUE_PREFIX}money`,
      args: [{ ...scope, settlementId }],
    });
    const failed: unknown = await resultOf(handle).catch((error: unknown) => error);
    expect(failed).toMatchObject({ cause: { cause: { type: 'NOT_FOUND', nonRetryable: true } } });
  });
});
