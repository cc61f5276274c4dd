import fc from 'fast-check';

import { readBalance } from '../../src/ledger/balance.ts';
import { rows } from '../../src/lib/db.ts';
import { toBirr } from '../../src/lib/money.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { readWithdrawal } from '../../src/payouts/withdrawals/queries.ts';
import { cancelWithdrawal } from '../../src/payouts/withdrawals/review.ts';
import { markCredited, markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement, cancelSettlement } from '../../src/settlements/decide.ts';
import type { SettlementRow } from '../../src/settlements/queries.ts';
import { settlementRoutes } from '../../src/settlements/routes.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

let database: TestDatabase;
let fixture: Fixture;
let server: TestServer;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db, { start: new Date('2027-01-18T09:00:00.000Z') });
  const { db, clock } = fixture;
  server = await startTestServer(testServerDeps(db, { routes: settlementRoutes({ db, clock }), clock }));
});
afterEach(() => expectLedgerHolds(database.db));
afterAll(async () => {
  await server.close();
  await database.drop();
});

type Statement = {
  previousSettlementId: string | null;
  openingBalance: number;
  closingBalance: number;
  totals: { amount: number; count: number }[];
  movements: { entryId: string; amount: number; balanceAfter: number; resourceId: string }[];
};

const santim = (birr: number): number => Math.round(birr * 100);
const sum = (list: { amount: number }[]): number => list.reduce((all, { amount }) => all + santim(amount), 0);

async function newMerchant(): Promise<MerchantScope> {
  const scope = await buildFreeMerchant(fixture);
  await linkAccount(fixture, scope);
  return scope;
}

/** The whole statement, page by page. */
async function statementOf(scope: MerchantScope, id: string, limit = 3): Promise<Statement> {
  const key = stubKey(scope.merchantId);
  let whole: Statement | undefined;
  for (let cursor = ''; ;) {
    const path = `/api/checkout/settlement/${id}/statement?limit=${limit}${cursor}`;
    const { status, body } = await server.send('GET', path, { key });
    expect(status).toBe(200);
    whole = { ...body.data, movements: [...(whole?.movements ?? []), ...body.data.movements] };
    if (body.pagination.nextCursor === null) {
      expect(whole?.movements).toHaveLength(body.pagination.total);
      return whole!;
    }
    cursor = `&cursor=${body.pagination.nextCursor}`;
  }
}

/** What a merchant's money does, at random: santim, or which of the open things it happens to. */
const anyStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ does: fc.constant('pay' as const), what: fc.integer({ min: 1_00, max: 900_00 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('withdraw' as const), what: fc.integer({ min: 1_00, max: 300_00 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('give back' as const), what: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('settle' as const), what: fc.integer({ min: 10_00, max: 500_00 }) }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('settle all' as const), what: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('cancel' as const), what: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('complete' as const), what: fc.nat(9) }) },
);
type Step = { does: 'pay' | 'withdraw' | 'give back' | 'settle' | 'settle all' | 'cancel' | 'complete'; what: number };
type Story = { scope: MerchantScope; settlements: SettlementRow[]; open: SettlementRow[]; withdrawn: string[] };

/** Does a step where it can be done; what is refused leaves no trace. */
async function live(story: Story, { does, what }: Step): Promise<void> {
  const { scope, open, withdrawn } = story;
  const settle = async (amount: bigint | 'all'): Promise<void> => {
    const row = await requestSettlement(fixture, scope, { amount });
    story.settlements.push(row);
    open.push(row);
  };
  const [picked] = open.splice(
    open.length === 0 ? 0 : what % open.length,
    ['cancel', 'complete'].includes(does) ? 1 : 0,
  );
  if (does === 'pay') await fund(fixture, scope, BigInt(what));
  if (does === 'withdraw') withdrawn.push((await withdraw(fixture, scope, BigInt(what))).id);
  if (does === 'give back' && withdrawn.length > 0) {
    const [id = ''] = withdrawn.splice(what % withdrawn.length, 1);
    const row = await readWithdrawal(database.db, id);
    await fixture.runInTransaction((tx) => cancelWithdrawal(tx, row, fixture.clock()));
  }
  if (does === 'settle') await settle(BigInt(what));
  if (does === 'settle all') await settle('all');
  if (does === 'cancel' && picked) {
    await fixture.runInTransaction((tx) => cancelSettlement(tx, picked, { actor: 'key_test', at: fixture.clock() }));
  }
  if (does === 'complete' && picked) await complete(picked.id);
}

async function complete(id: string): Promise<void> {
  const operator = { operatorId: 'opr_1', at: fixture.clock() };
  const credit = { ...operator, bankReference: `FT-${id}`, creditedAt: fixture.clock() };
  await fixture.runInTransaction((tx) => approveSettlement(tx, id, operator));
  await fixture.runInTransaction((tx) => markSent(tx, id, operator));
  await fixture.runInTransaction((tx) => markCredited(tx, id, credit));
}

const REFUSED = ['INSUFFICIENT_BALANCE', 'AMOUNT_BELOW_MINIMUM'];

test('every statement adds up, opens with the previous closing balance, and never changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 30 }), async (steps) => {
      const story: Story = { scope: await newMerchant(), settlements: [], open: [], withdrawn: [] };
      const seen = new Map<string, Statement>();
      for (const step of steps as Step[]) {
        await live(story, step).catch((error: { code?: string }) => expect(REFUSED).toContain(error.code));
        const last = story.settlements.at(-1);
        if (last && !seen.has(last.id)) seen.set(last.id, await statementOf(story.scope, last.id));
      }
      let before: { id: string | null; closing: number } = { id: null, closing: 0 };
      for (const { id } of story.settlements) {
        const statement = await statementOf(story.scope, id, 100);
        const { openingBalance, closingBalance, movements, totals, previousSettlementId } = statement;
        expect({ opening: santim(openingBalance), previous: previousSettlementId }).toEqual({
          opening: before.closing,
          previous: before.id,
        });
        expect(santim(openingBalance) + sum(movements)).toBe(santim(closingBalance));
        expect(santim(openingBalance) + sum(totals)).toBe(santim(closingBalance));
        let balance = santim(openingBalance);
        for (const { amount, balanceAfter } of movements)
          expect((balance += santim(amount))).toBe(santim(balanceAfter));
        expect(movements.at(-1)?.resourceId).toBe(id);
        const { movements: then, closingBalance: closed } = seen.get(id)!;
        expect({ movements: then, closed }).toEqual({ movements, closed: closingBalance });
        before = { id, closing: santim(closingBalance) };
      }
      await expectAllListed(story, before.closing);
    }),
    { numRuns: 25 },
  );
}, 120_000);

/** Nothing falls between: what came after the last statement leads from its closing balance to what there is now. */
async function expectAllListed({ scope, settlements }: Story, closing: number): Promise<void> {
  const listed = (await Promise.all(settlements.map(({ id }) => statementOf(scope, id, 100)))).flatMap(
    ({ movements }) => movements.map(({ entryId }) => entryId),
  );
  const entries = await rows<{ id: string; santim: bigint }>(
    database.db,
    `SELECT e.journal_id || '-' || e.position AS id, e.amount_santim AS santim
     FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
     WHERE a.merchant_id = :merchantId AND a.kind = 'AVAILABLE' ORDER BY e.sequence`,
    { merchantId: scope.merchantId },
  );
  expect(listed).toEqual(entries.slice(0, listed.length).map(({ id }) => id));
  const rest = entries.slice(listed.length).reduce((all, entry) => all + Number(entry.santim), closing);
  expect(rest).toBe(santim(toBirr((await readBalance(database.db, scope)).availableSantim)));
}

test("a statement has the bank's trace id and time once its settlement is credited", async () => {
  const scope = await newMerchant();
  await fund(fixture, scope, 100_00n);
  const { id } = await requestSettlement(fixture, scope, { amount: 'all' });
  const before = await statementOf(scope, id);
  expect(before).toMatchObject({ status: 'REQUESTED', openingBalance: 0, closingBalance: 0, amount: 100 });
  expect(before).not.toHaveProperty('bankReference');
  await complete(id);
  expect(await statementOf(scope, id)).toEqual({
    ...before,
    status: 'COMPLETED',
    bankReference: `FT-${id}`,
    creditedAt: fixture.clock().toISOString(),
  });
});

test('money returned from a settlement is part of the next statement', async () => {
  const scope = await newMerchant();
  await fund(fixture, scope, 100_00n);
  const first = await requestSettlement(fixture, scope, { amount: 'all' });
  await fixture.runInTransaction((tx) => cancelSettlement(tx, first, { actor: 'key_test', at: fixture.clock() }));
  const second = await requestSettlement(fixture, scope, { amount: 40_00n });
  const { openingBalance, movements, closingBalance, previousSettlementId } = await statementOf(scope, second.id);
  expect({ openingBalance, closingBalance, previousSettlementId }).toEqual({
    openingBalance: 0,
    closingBalance: 60,
    previousSettlementId: first.id,
  });
  expect(movements).toMatchObject([
    { type: 'SETTLEMENT_RELEASED', amount: 100, balanceAfter: 100 },
    { type: 'SETTLEMENT_RESERVED', amount: -40, balanceAfter: 60 },
  ]);
});
