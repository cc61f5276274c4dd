import fc from 'fast-check';

import { readBalance } from '../../src/ledger/balance.ts';
import { post } from '../../src/ledger/post.ts';
import { payoutPosting } from '../../src/ledger/postings.ts';
import { addisDay, endOfAddisDay, startOfAddisDay } from '../../src/lib/dates.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { UnitOfWork } from '../../src/outbox/record.ts';
import { decideReceipt, recordReceipt } from '../../src/reconciliation/receipts/operations.ts';
import {
  bookLateCredit,
  dismissLateCredit,
  markCredited,
  markFailed,
  markReturned,
  markSent,
} from '../../src/settlements/bank-results.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { readSettlement, toPayout } from '../../src/settlements/queries.ts';
import type { TransitionResult } from '../../src/settlements/transition.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount, stateOfSettlement, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

const MONDAY = new Date('2027-01-18T09:00:00.000Z');
const FUNDED = 1_000_00n;
const ASKED = 150_00n;

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db, { start: MONDAY });
});
beforeEach(newMerchant);
afterEach(() => expectLedgerHolds(database.db));
afterAll(() => database.drop());

async function newMerchant(): Promise<void> {
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, FUNDED);
  await linkAccount(fixture, scope);
}

const by = () => ({ operatorId: 'opr_1', at: fixture.clock() });

/** All commands of bank and operators on a settlement, with two different credits: banks err. */
const STEPS = {
  sent: (tx, id) => markSent(tx, id, by()),
  credited: (tx, id) => markCredited(tx, id, { ...by(), bankReference: `FT-${id}`, creditedAt: fixture.clock() }),
  creditedAgain: (tx, id) => markCredited(tx, id, { ...by(), bankReference: `FT2-${id}`, creditedAt: fixture.clock() }),
  failed: (tx, id) => markFailed(tx, id, { ...by(), reason: 'Closed.' }),
  returned: (tx, id) => markReturned(tx, id, { ...by(), reason: 'Dormant.', bankReference: `R-${id}` }),
  book: (tx, id) => bookLateCredit(tx, id, by()),
  dismiss: (tx, id) => dismissLateCredit(tx, id, { ...by(), reason: 'None.' }),
} as const satisfies Record<string, (tx: UnitOfWork, id: string) => Promise<TransitionResult>>;
type Step = keyof typeof STEPS;

const does = (step: Step, id: string) => fixture.runInTransaction<TransitionResult>((tx) => STEPS[step](tx, id));
const money = async () => {
  const { availableSantim, reservedSantim, settledSantim } = await readBalance(database.db, scope);
  return { availableSantim, reservedSantim, settledSantim };
};

async function approved(...steps: Step[]): Promise<string> {
  const { id } = await requestSettlement(fixture, scope, { amount: ASKED });
  await fixture.runInTransaction((tx) => approveSettlement(tx, id, by()));
  for (const step of steps) await does(step, id);
  return id;
}

test('a settlement whose journal was posted before its transition does not change', async () => {
  const id = await approved('sent');
  const twice = fixture.runInTransaction(async (tx) => {
    await post(tx.trx, payoutPosting(toPayout(await readSettlement(tx.trx, id))), fixture.clock());
    return STEPS.credited(tx, id);
  });
  await expect(twice).rejects.toThrow(`settlement ${id} is COMPLETED without its journal: already`);
  expect((await readSettlement(database.db, id)).status).toBe('PROCESSING');
});

test('a settlement that the bank sends back after its credit is FAILED, and its money is released once', async () => {
  const id = await approved('sent', 'credited');
  expect(await money()).toEqual({ availableSantim: FUNDED - ASKED, reservedSantim: 0n, settledSantim: ASKED });
  fixture.pass(3_600_000);
  expect(await does('returned', id)).toMatchObject({
    changed: true,
    before: { status: 'COMPLETED' },
    settlement: {
      status: 'FAILED',
      failure: { code: 'BANK_RETURNED', message: 'Dormant.' },
      bankReference: `FT-${id}`,
      creditedAt: MONDAY,
      completedAt: MONDAY,
      returnedAt: fixture.clock(),
      returnReference: `R-${id}`,
    },
  });
  expect(await does('returned', id)).toMatchObject({ changed: false });
  // The file with the credit is sent once more.
  expect(await does('credited', id)).toMatchObject({ changed: false, settlement: { status: 'FAILED' } });
  expect(await money()).toEqual({ availableSantim: FUNDED, reservedSantim: 0n, settledSantim: 0n });
  expect(await stateOfSettlement(database.db, id)).toMatchObject({
    events: [
      'settlement.requested',
      'settlement.updated',
      'settlement.processing',
      'settlement.completed',
      'settlement.failed',
    ],
    journals: ['SETTLEMENT_RESERVED', 'SETTLEMENT_PAID', 'SETTLEMENT_REVERSED'],
  });
});

test('the trace id of a return is booked for one settlement', async () => {
  const [one, other] = [await approved('sent', 'credited'), await approved('sent', 'credited')];
  await does('returned', one);
  const again = { ...by(), reason: 'Dormant.', bankReference: `R-${one}` };
  await expect(fixture.runInTransaction((tx) => markReturned(tx, other, again))).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringMatching(`was booked as the return of a settlement, .*${one}`),
  });
});

test('marking a credited settlement as failed is rejected with what to do instead', async () => {
  const id = await approved('sent', 'credited');
  await expect(does('failed', id)).rejects.toMatchObject({ message: expect.stringContaining('mark it as returned') });
});

test('a late credit is not booked before an operator books it', async () => {
  const id = await approved('sent', 'failed');
  expect(await does('credited', id)).toMatchObject({
    changed: true,
    settlement: {
      status: 'FAILED',
      creditedAt: null,
      lateCredit: { bankReference: `FT-${id}` },
      lateCreditResolution: null,
    },
  });
  expect(await does('credited', id)).toMatchObject({ changed: false });
  await expect(does('creditedAgain', id)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  expect(await money()).toEqual({ availableSantim: FUNDED, reservedSantim: 0n, settledSantim: 0n });
  expect(await does('book', id)).toMatchObject({
    settlement: { status: 'COMPLETED', bankReference: `FT-${id}`, creditedAt: fixture.clock(), failure: null },
  });
  expect(await does('book', id)).toMatchObject({ changed: false });
  expect(await money()).toEqual({ availableSantim: FUNDED - ASKED, reservedSantim: 0n, settledSantim: ASKED });
});

test('booking a late credit without sufficient balance is rejected, and the credit stays pending', async () => {
  const id = await approved('sent', 'failed', 'credited');
  await withdraw(fixture, scope, 900_00n);
  await expect(does('book', id)).rejects.toMatchObject({ code: 'INSUFFICIENT_BALANCE' });
  await fund(fixture, scope, 200_00n);
  expect(await does('book', id)).toMatchObject({ settlement: { status: 'COMPLETED' } });
});

test('a late credit reported under the trace id of another settlement is rejected and not stored', async () => {
  const [other, failed] = [await approved('sent', 'credited'), await approved('sent', 'failed')];
  const credit = { ...by(), bankReference: `FT-${other}`, creditedAt: fixture.clock() };
  await expect(fixture.runInTransaction((tx) => markCredited(tx, failed, credit))).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    existing: { settlementId: other },
  });
  expect(await readSettlement(database.db, failed)).toMatchObject({ status: 'FAILED', lateCredit: null });
});

test('a late credit is accepted under the trace id of an inbound transfer, or of an outbound one in live', async () => {
  const id = await approved('sent', 'failed');
  const [at, reference] = [fixture.clock(), `FT-${id}`];
  await fixture.runInTransaction(async (tx) => {
    const receipt = { amountSantim: 1_00n, at } as const;
    await recordReceipt(tx, { ...receipt, environment: 'sandbox', bankReference: reference });
    const { money } = await recordReceipt(tx, { ...receipt, environment: 'live', bankReference: `IN-${id}` });
    await decideReceipt(tx, money.id, { decision: { as: 'RETURNED', returnReference: reference }, at });
  });
  expect(await does('credited', id)).toMatchObject({ changed: true, settlement: { status: 'FAILED' } });
  expect(await readSettlement(database.db, id)).toMatchObject({ lateCredit: { bankReference: reference } });
});

test('a late credit whose trace id is booked for another settlement is not booked', async () => {
  const [late, other] = [await approved('sent', 'failed', 'credited'), await approved('sent')];
  const credit = { ...by(), bankReference: `FT-${late}`, creditedAt: fixture.clock() };
  await fixture.runInTransaction((tx) => markCredited(tx, other, credit));
  await expect(does('book', late)).rejects.toMatchObject({
    code: 'DUPLICATE_REFERENCE',
    message: expect.stringMatching(`was booked as the credit of a settlement, .*${other}`),
  });
});

test('a late credit with a day only is booked no earlier than the time of sending', async () => {
  const id = await approved('sent', 'failed');
  const creditedAt = startOfAddisDay(addisDay(MONDAY));
  await fixture.runInTransaction((tx) => markCredited(tx, id, { ...by(), bankReference: `FT-${id}`, creditedAt }));
  const { settlement } = await does('book', id);
  const { sentAt, lateCredit } = settlement;
  expect([settlement.creditedAt, lateCredit?.creditedAt]).toEqual([sentAt, sentAt?.toISOString()]);
});

test('dismissing a late credit leaves the settlement FAILED, and a repeated report changes nothing', async () => {
  const id = await approved('failed', 'credited', 'dismiss');
  expect(await does('credited', id)).toMatchObject({
    changed: false,
    settlement: { lateCreditResolution: 'DISMISSED' },
  });
  await expect(does('book', id)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  expect(await does('creditedAgain', id)).toMatchObject({ changed: true, settlement: { lateCreditResolution: null } });
});

test('a credit of today is accepted half an hour after midnight in Addis Ababa, when it is yesterday in UTC', async () => {
  const id = await approved('sent');
  const halfPast = endOfAddisDay(addisDay(fixture.clock())).getTime() + 1_800_000;
  fixture.pass(halfPast - fixture.clock().getTime());
  expect(await does('credited', id)).toMatchObject({
    settlement: { status: 'COMPLETED', creditedAt: fixture.clock() },
  });
});

test('any sequence of bank results leaves the money either paid once or with the merchant, and the ledger consistent', async () => {
  const anyStep = fc.constantFrom<Step>(...(Object.keys(STEPS) as Step[]));
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 14 }), async (steps) => {
      await newMerchant();
      const id = await approved();
      for (const step of steps) {
        await does(step, id).catch((error: { code?: string }) => expect(error.code).toBe('INVALID_STATE'));
        const { status } = await readSettlement(database.db, id);
        const settledSantim = status === 'COMPLETED' ? ASKED : 0n;
        const reservedSantim = status === 'APPROVED' || status === 'PROCESSING' ? ASKED : 0n;
        const availableSantim = FUNDED - settledSantim - reservedSantim;
        expect(await money()).toEqual({ availableSantim, reservedSantim, settledSantim });
      }
      await expectLedgerHolds(database.db);
    }),
    { numRuns: 30 },
  );
}, 120_000);
