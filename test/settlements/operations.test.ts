import { createRegistry } from '../../src/http/metrics.ts';
import { lockAvailable, readBalance } from '../../src/ledger/balance.ts';
import { DAY_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { UnitOfWork } from '../../src/outbox/record.ts';
import { markCredited, markFailed, markReturned, markSent } from '../../src/settlements/bank-results.ts';
import { bookLateCredit, dismissLateCredit } from '../../src/settlements/bank-results.ts';
import { readSettlementDates } from '../../src/settlements/calendar/operations.ts';
import { createSettlement } from '../../src/settlements/create.ts';
import { approveSettlement, autoDecide, cancelSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { updateDates } from '../../src/settlements/expected-dates.ts';
import { measureSettlements } from '../../src/settlements/monitoring.ts';
import { readSettlement } from '../../src/settlements/queries.ts';
import type { TransitionResult } from '../../src/settlements/transition.ts';
import { findRecoverableSettlements } from '../../src/settlements/workflow.ts';
import { buildFixture, untilServed, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount, stateOfSettlement, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

const FRIDAY = new Date('2027-01-15T09:00:00.000Z');

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => void (database = await createTestDatabase()));
afterAll(() => database.drop());
beforeEach(async () => {
  fixture = buildFixture(database.db, { start: FRIDAY });
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 1_000_00n);
  await linkAccount(fixture, scope);
});
afterEach(() => expectLedgerHolds(database.db));

const operator = (operatorId = 'opr_1') => ({ operatorId, at: fixture.clock() });
const trace = (id: string) => `FT-${id.slice(-10)}`;
const credit = (id: string) => ({ ...operator(), bankReference: trace(id), creditedAt: fixture.clock() });
const run = <T>(work: (tx: UnitOfWork) => Promise<T>) => fixture.runInTransaction(work);

/** Every operation that moves a settlement, in the order of its life. */
const STEPS: Record<string, (tx: UnitOfWork, id: string) => Promise<TransitionResult>> = {
  approve: (tx, id) => approveSettlement(tx, id, operator()),
  sent: (tx, id) => markSent(tx, id, { ...operator(), bankReference: trace(id) }),
  credited: (tx, id) => markCredited(tx, id, credit(id)),
  failed: (tx, id) => markFailed(tx, id, { ...operator(), reason: 'Closed.' }),
  returned: (tx, id) =>
    markReturned(tx, id, { ...operator(), reason: 'Closed since.', bankReference: `R-${trace(id)}` }),
  book: (tx, id) => bookLateCredit(tx, id, operator()),
  dismiss: (tx, id) => dismissLateCredit(tx, id, { ...operator(), reason: 'A mistake of the bank.' }),
  reject: (tx, id) => rejectSettlement(tx, id, { ...operator(), reason: 'No.' }),
  cancel: (tx, id) => cancelSettlement(tx, { id }, { actor: 'key_test', at: fixture.clock() }),
};
const does = (name: string, id: string) => run((tx) => STEPS[name]!(tx, id));

/** Which of its states each story leads to. */
const STORIES: [string[], string][] = [
  [[], 'REQUESTED'],
  [['approve'], 'APPROVED'],
  [['approve', 'sent'], 'PROCESSING'],
  [['approve', 'sent', 'credited'], 'COMPLETED'],
  [['approve', 'sent', 'failed'], 'FAILED'],
  [['approve', 'sent', 'credited', 'returned'], 'FAILED'],
  [['approve', 'sent', 'failed', 'credited', 'book'], 'COMPLETED'],
  [['approve', 'failed', 'credited', 'dismiss'], 'FAILED'],
  [['reject'], 'REJECTED'],
  [['cancel'], 'CANCELLED'],
];
const ALLOWED: Record<string, string[]> = {
  REQUESTED: ['approve', 'reject', 'cancel'],
  APPROVED: ['sent', 'failed'],
  PROCESSING: ['credited', 'failed'],
  COMPLETED: ['credited', 'returned'],
  FAILED: ['credited', 'failed'],
};

describe.each(STORIES)('a settlement after the commands %j', (story, status) => {
  test(`is ${status}, ignores repeats, and accepts only the next commands`, async () => {
    const { id } = await requestSettlement(fixture, scope);
    for (const step of story) expect(await does(step, id)).toMatchObject({ changed: true });
    const before = await stateOfSettlement(database.db, id);
    expect(before['status']).toBe(status);
    const last = story.at(-1);
    if (last) expect(await does(last, id)).toMatchObject({ changed: false });
    for (const step of Object.keys(STEPS)) {
      if (step === last || ALLOWED[status]?.includes(step)) continue;
      await expect(does(step, id)).rejects.toMatchObject({ code: 'INVALID_STATE' });
    }
    expect(await stateOfSettlement(database.db, id)).toEqual(before);
  });
});

describe('separation of duties', () => {
  test('the requester of a settlement cannot approve it in live', async () => {
    const { id } = await requestSettlement(fixture, scope, { requestedBy: 'opr_1' });
    await database.db.knex()('settlement').where({ id }).update({ environment: 'live' });
    await expect(does('approve', id)).rejects.toMatchObject({ code: 'INVALID_STATE' });
    await database.db.knex()('settlement').where({ id }).update({ environment: 'sandbox' });
    await run((tx) => approveSettlement(tx, id, operator('opr_2')));
    expect(await readSettlement(database.db, id)).toMatchObject({ status: 'APPROVED', approvedBy: 'opr_2' });
  });

  test('a settlement approved by one operator is not approved again by another', async () => {
    const { id } = await requestSettlement(fixture, scope);
    await does('approve', id);
    await expect(run((tx) => approveSettlement(tx, id, operator('opr_2')))).rejects.toMatchObject({
      code: 'INVALID_STATE',
    });
  });

  test.each([
    ['the day before it was sent', -DAY_MS],
    ['tomorrow', DAY_MS],
  ])('a credit %s is rejected', async (_, offsetMs) => {
    const { id } = await requestSettlement(fixture, scope);
    await does('approve', id);
    await does('sent', id);
    const creditedAt = new Date(fixture.clock().getTime() + offsetMs);
    await expect(run((tx) => markCredited(tx, id, { ...credit(id), creditedAt }))).rejects.toMatchObject({
      details: [{ field: 'creditedOn' }],
    });
  });
});

describe('concurrent operations', () => {
  test('of 50 concurrent settlements of all, exactly one succeeds', async () => {
    for (let round = 0; round < 4; round += 1) {
      const poor = await buildFreeMerchant(fixture);
      await fund(fixture, poor, 500_00n);
      await linkAccount(fixture, poor);
      const asked = await Promise.all(
        Array.from({ length: 50 }, () =>
          untilServed(() => requestSettlement(fixture, poor, { amount: 'all' })).then(
            ({ amountSantim }) => amountSantim,
            (error: { code?: string }) => error.code,
          ),
        ),
      );
      expect(asked.filter((one) => one === 500_00n)).toHaveLength(1);
      expect(asked.filter((one) => one === 'INSUFFICIENT_BALANCE')).toHaveLength(49);
      expect(await readBalance(database.db, poor)).toMatchObject({ availableSantim: 0n, reservedSantim: 500_00n });
    }
  });

  test('50 concurrent repeats of one request create one settlement', async () => {
    const wanted = { requestId: 'ONCE', amount: 100_00n } as const;
    const asked = await Promise.all(
      Array.from({ length: 50 }, () => untilServed(() => requestSettlement(fixture, scope, wanted))),
    );
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    expect(await readBalance(database.db, scope)).toMatchObject({ reservedSantim: 100_00n });
  });

  test('a settlement of all is exact while payments arrive and withdrawals leave', async () => {
    await rows(
      database.db,
      'INSERT INTO settlement_limit (merchant_id, min_santim, max_santim) VALUES (:merchantId, 1, 100000000)',
      { merchantId: scope.merchantId },
    );
    const { length } = await Promise.all([
      ...Array.from({ length: 5 }, () => untilServed(() => fund(fixture, scope, 10_00n))),
      ...Array.from({ length: 10 }, () =>
        untilServed(() => withdraw(fixture, scope)).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
        }),
      ),
      ...Array.from({ length: 10 }, () =>
        untilServed(() => requestSettlement(fixture, scope, { amount: 'all' })).catch((error: Error) => {
          // What was available when its turn came stayed so until it was taken.
          expect(error.message).toContain('leaves nothing to settle');
        }),
      ),
    ]);
    expect(length).toBe(25);
    await requestSettlement(fixture, scope, { amount: 'all' }).catch(() => {});
    expect(await readBalance(database.db, scope)).toMatchObject({ availableSantim: 0n, reservedSantim: 1_050_00n });
  });

  test('a settlement of all locks the available balance until it is reserved', async () => {
    const { withdrawn, row } = await run(async (tx) => {
      await lockAvailable(tx.trx, scope);
      const meanwhile = withdraw(fixture, scope).catch((error: { code?: string }) => error.code);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const all = { requestId: 'ALL', amount: 'all', requestedBy: 'key_test' } as const;
      return { withdrawn: meanwhile, ...(await createSettlement({ ...fixture, tx }, scope, all)) };
    });
    expect(row.amountSantim).toBe(1_000_00n);
    expect(await withdrawn).toBe('INSUFFICIENT_BALANCE');
  });

  test('of ten settlements credited concurrently under one trace id, exactly one is booked', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 10; count += 1) {
      const { id } = await requestSettlement(fixture, scope, { amount: 20_00n });
      await does('approve', id);
      await does('sent', id);
      ids.push(id);
    }
    const outcomes = await Promise.allSettled(
      ids.map((id) =>
        untilServed(() => run((tx) => markCredited(tx, id, { ...credit(id), bankReference: `ONE-${ids[0]}` }))),
      ),
    );
    const [paid] = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.settlement] : []));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refused).toHaveLength(9);
    for (const reason of refused) {
      expect(reason).toMatchObject({ code: 'DUPLICATE_REFERENCE', existing: { settlementId: paid?.id } });
    }
  });

  test.each([
    [['approve', 'reject', 'cancel'], []],
    [
      ['credited', 'failed'],
      ['approve', 'sent'],
    ],
    [
      ['book', 'dismiss'],
      ['approve', 'sent', 'failed', 'credited'],
    ],
  ])('of the concurrent commands %j exactly one succeeds', async (racing, story) => {
    for (let round = 0; round < 8; round += 1) {
      const { id } = await requestSettlement(fixture, scope, { amount: 20_00n });
      for (const step of story) await does(step, id);
      const outcomes = await Promise.allSettled(racing.map((step) => untilServed(() => does(step, id))));
      const happened = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.settlement] : []));
      // A credit that comes after the failure waits for operators.
      expect(happened.filter((row) => row.lateCredit === null || row.lateCreditResolution !== null)).toHaveLength(1);
      for (const outcome of outcomes.filter((one) => one.status === 'rejected')) {
        expect(outcome.reason).toMatchObject({ code: 'INVALID_STATE' });
      }
    }
  });
});

describe('operations of the workflow, repeated', () => {
  test('the sandbox decides a settlement once', async () => {
    const { id } = await requestSettlement(fixture, scope);
    const before = fixture.enqueued.length;
    for (let again = 0; again < 3; again += 1) await autoDecide(fixture, id, fixture.clock());
    expect(fixture.enqueued.slice(before)).toEqual([]);
    expect(await stateOfSettlement(database.db, id)).toMatchObject({
      status: 'APPROVED',
      timeline: ['settlement.requested', 'review.approved'],
    });
  });

  test('an amount that ends in .14, and every live settlement, waits for an operator', async () => {
    const { id } = await requestSettlement(fixture, scope, { amount: 100_14n });
    await autoDecide(fixture, id, fixture.clock());
    expect(await readSettlement(database.db, id)).toMatchObject({ status: 'REQUESTED' });
    const { id: other } = await requestSettlement(fixture, scope);
    await rows(database.db, `UPDATE settlement SET environment = 'live' WHERE id = :other`, { other });
    await autoDecide(fixture, other, fixture.clock());
    expect(await readSettlement(database.db, other)).toMatchObject({ status: 'REQUESTED' });
    await rows(database.db, `UPDATE settlement SET environment = 'sandbox' WHERE id = :other`, { other });
  });

  test('a settlement is marked overdue once, and counted in the metrics while it is open', async () => {
    const { id } = await requestSettlement(fixture, scope);
    const late = new Date(FRIDAY.getTime() + 10 * DAY_MS);
    for (let again = 0; again < 3; again += 1) await updateDates(fixture, id, late);
    const marked = { overdue: true, timeline: ['settlement.requested', 'settlement.overdue'] };
    expect(await stateOfSettlement(database.db, id)).toMatchObject(marked);
    // With a registry of its own: the gauges of one share a measurement for some milliseconds.
    const overdueCount = async (registry = createRegistry('test')) => {
      measureSettlements(registry, database.db);
      return (await registry.getSingleMetric('meskot_settlements_overdue')?.get())?.values[0]?.value ?? NaN;
    };
    const overdue = await overdueCount();
    expect(overdue).toBeGreaterThanOrEqual(1);
    await does('cancel', id);
    expect(await overdueCount()).toBe(overdue - 1);
  });

  test('recomputing the dates by an unchanged calendar changes nothing', async () => {
    const { id, version } = await requestSettlement(fixture, scope);
    const row = await updateDates(fixture, id, fixture.clock());
    const { effectiveDate, expectedFrom, expectedUntil } = await readSettlementDates(database.db, FRIDAY);
    const promised = { effectiveDate, expectedFrom, expectedUntil };
    expect(row).toMatchObject({ version, ...promised });
    expect(await stateOfSettlement(database.db, id)).toMatchObject({ events: ['settlement.requested'] });
  });

  test('a settlement whose workflow is lost is found as recoverable', async () => {
    const { id } = await requestSettlement(fixture, scope);
    const { id: ended } = await requestSettlement(fixture, scope);
    await does('cancel', ended);
    await rows(database.db, `UPDATE settlement SET created_at = now() - interval '1 minute'`);
    await rows(database.db, 'DELETE FROM outbox');
    const open = await findRecoverableSettlements(database.db, { after: '', limit: 1_000, onlyPastDue: false });
    const wake = { kind: 'signalWithStart', workflowId: `settlement-${id}` };
    expect(open.find((one) => one.id === id)?.message).toMatchObject(wake);
    expect(open.some((one) => one.id === ended)).toBe(false);
  });
});
