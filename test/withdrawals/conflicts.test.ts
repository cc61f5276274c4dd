import { createRegistry } from '../../src/http/metrics.ts';
import { rows } from '../../src/lib/db.ts';
import { createLogger } from '../../src/lib/log.ts';
import type { PayoutOutcome } from '../../src/providers/provider.ts';
import { isContradicted, listCases } from '../../src/withdrawals/conflicts.ts';
import { measureWithdrawals } from '../../src/withdrawals/monitoring.ts';
import { readWithdrawal } from '../../src/withdrawals/queries.ts';
import { createCheckPayout, recheckProvenPayouts } from '../../src/withdrawals/sync.ts';
import { NOT_THERE, PAID_OUT, REFUSED, REVERSED } from '../support/withdrawals.ts';
import { CHECK, createWithdrawalWorld, type WithdrawalWorld } from './world.ts';

const FUNDED = 100_000n;
/** 100 birr, 5 fee, 0.75 tax. */
const TOTAL = 105_75n;

let world: WithdrawalWorld;
beforeAll(async () => {
  world = await createWithdrawalWorld();
});
beforeEach(() => world.newMerchant());
afterEach(() => world.expectLedgerHolds());
afterAll(() => world.close());

async function hear(id: string, ...answers: Parameters<WithdrawalWorld['provider']['returnsForPayouts']>) {
  world.provider.returnsForPayouts(...answers);
  for (const _ of answers) await world.checkPayout(id, { ...CHECK, proof: true });
}

async function standing(id: string) {
  const row = await readWithdrawal(world.db, id);
  const cases = await listCases(world.db, id);
  return { status: row.status, stage: row.stage, isContradicted: isContradicted(row, cases), cases };
}

/** How many the worker's metrics show. */
async function contradicted(): Promise<number> {
  const registry = createRegistry('test');
  measureWithdrawals(registry, world.db);
  return (await registry.getSingleMetric('meskot_withdrawals_in_conflict')?.get())?.values[0]?.value ?? NaN;
}

test('a no after the provider has said that it paid, be it another amount, gives nothing back and sends nothing', async () => {
  const id = await world.ready();
  await hear(id, { ...PAID_OUT, amountSantim: 99_50n }, REFUSED);
  expect(await standing(id)).toMatchObject({
    status: 'PENDING',
    stage: 'UNKNOWN',
    isContradicted: false,
    cases: [{ status: 'PENDING', evidence: { outcome: 'declined' }, closedAt: null }],
  });
  const { payoutQueries } = world.provider;
  const before = payoutQueries.length;
  await hear(id, NOT_THERE, REFUSED);
  expect(payoutQueries.slice(before).filter(({ question }) => question === 'payout')).toEqual([]);
  expect(await standing(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  expect(await world.balance()).toEqual([FUNDED - TOTAL, TOTAL]);
  // The right amount is an end all the same.
  await hear(id, PAID_OUT);
  expect(await standing(id)).toMatchObject({
    status: 'SUCCESS',
    isContradicted: false,
    cases: [{ status: 'PENDING', decision: null, closedAt: expect.any(Date) }],
  });
});

test('a no after it was paid moves nothing and waits for operators; said again it is not new', async () => {
  const id = await world.ready();
  const before = await contradicted();
  await hear(id, PAID_OUT, REFUSED);
  expect(await standing(id)).toMatchObject({ status: 'SUCCESS', isContradicted: true });
  expect(await contradicted()).toBe(before + 1);
  expect(await world.balance()).toEqual([FUNDED - TOTAL, 0n]);
  await rows(world.db, 'UPDATE payout_case SET closed_at = now() WHERE withdrawal_id = :id', { id });
  await hear(id, REFUSED);
  expect(await standing(id)).toMatchObject({ isContradicted: false });
  await hear(id, PAID_OUT, REFUSED);
  expect(await standing(id)).toMatchObject({ status: 'SUCCESS', isContradicted: true });
  const { timeline } = await world.read(id);
  expect(timeline.filter(({ kind }: { kind: string }) => kind === 'provider.conflict')).toHaveLength(2);
});

const PHONE = '251911000001';
/** A provider that repeats in its words whom it was to pay. */
const REFUSED_BY_NAME: PayoutOutcome = {
  kind: 'declined',
  failure: {
    code: 'INVALID_PAYEE',
    message: `No wallet ${PHONE} of Abebe Bikila.`,
    providerCode: 'E404',
    retryable: false,
  },
};

test.each([
  ['paid, then refused', [PAID_OUT, REFUSED_BY_NAME], /had paid/],
  ['refused, then paid', [REFUSED_BY_NAME, PAID_OUT], /had declined/],
  ['another amount, then refused', [{ ...PAID_OUT, amountSantim: 99_50n }, REFUSED_BY_NAME], /itself/],
])('%s: the log names the withdrawal, never its phone or name', async (_, answers, says) => {
  const id = await world.ready();
  const lines: Record<string, unknown>[] = [];
  const log = createLogger('trace', 'test', { destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const checkPayout = createCheckPayout({ ...world, log });
  world.provider.returnsForPayouts(...answers);
  for (const _answer of answers) await checkPayout(id, { ...CHECK, proof: true });
  expect(lines.at(-1)).toMatchObject({ withdrawalId: id, msg: expect.stringMatching(says) });
  expect(JSON.stringify(lines)).not.toMatch(/911000001|Abebe/);
});

test('only all of it comes back by the provider’s word: a part waits for operators', async () => {
  const id = await world.ready();
  await hear(id, PAID_OUT, { ...REVERSED, amountSantim: 40_00n });
  expect(await standing(id)).toMatchObject({ status: 'SUCCESS', isContradicted: true });
  expect(await world.balance()).toEqual([FUNDED - TOTAL, 0n]);
  await hear(id, REVERSED);
  expect(await standing(id)).toMatchObject({ status: 'REVERSED' });
  expect(await world.balance()).toEqual([FUNDED, 0n]);
});

test('a part that came back before anybody heard that it was paid ends nothing', async () => {
  const id = await world.ready();
  await hear(id, { ...REVERSED, amountSantim: 40_00n });
  expect(await standing(id)).toMatchObject({ status: 'PENDING', stage: 'UNKNOWN' });
  expect(await world.balance()).toEqual([FUNDED - TOTAL, TOTAL]);
});

/** Paid, and a second later its provider has sent a genuine callback. */
async function paidAndCalledBack(): Promise<string> {
  const id = await world.ready();
  await hear(id, PAID_OUT);
  await rows(
    world.db,
    `INSERT INTO provider_callback (withdrawal_id, channel, body, verified, created_at)
     VALUES (:id, 'TELEBIRR', 'a callback', true, CAST(:now AS timestamptz) + interval '1 second')`,
    { id, now: world.clock() },
  );
  return id;
}

test('a genuine callback after the end is asked about until its provider knows', async () => {
  const id = await paidAndCalledBack();
  world.pass(2 * 60_000);
  expect(await recheckProvenPayouts(world, 10)).toBe(1);
  expect(await recheckProvenPayouts(world, 10)).toBe(0);
  world.pass(30 * 60_000);
  world.provider.returnsForPayouts(REVERSED);
  expect(await recheckProvenPayouts(world, 10)).toBe(1);
  expect((await world.read(id)).status).toBe('REVERSED');
  expect(await world.balance()).toEqual([FUNDED, 0n]);
});

test('a genuine callback after the end is done with once its provider has answered well after it', async () => {
  await paidAndCalledBack();
  let queried = 0;
  for (let minutes = 0; minutes < 600; minutes += 2) {
    world.pass(2 * 60_000);
    queried += await recheckProvenPayouts(world, 10);
  }
  // One each two minutes, until one came twenty minutes after the callback.
  expect(queried).toBe(11);
});
