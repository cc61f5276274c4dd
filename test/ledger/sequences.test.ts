import fc from 'fast-check';

import { readBalance } from '../../src/ledger/balance.ts';
import { post } from '../../src/ledger/post.ts';
import { totalDebit } from '../../src/ledger/postings.ts';
import { LEDGER_CHECKS, verifyLedger } from '../../src/ledger/verify.ts';
import { rows } from '../../src/lib/db.ts';
import { newId, type IdPrefix } from '../../src/lib/ids.ts';
import { buildMerchant } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anyMinutes, bookTimes } from './book-times.ts';
import { anyRule, anySteps, bookAll, step, unmatchedOf, type Story } from './model.ts';

const BEGIN_MS = Date.parse('2026-03-02T09:00:00.000Z');
const atMinute = (minute: number): Date => new Date(BEGIN_MS + minute * 60_000);
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, one) => all + one, 0n);

/** Asserts what holds for the balances after any sequence. */
function expectHolds(story: Story, balances: ReadonlyMap<string, bigint>): void {
  const of = (account: string): bigint => balances.get(account) ?? 0n;
  expect({
    all: sum([...balances.values()]),
    available: of('AVAILABLE'),
    reserved: of('RESERVED'),
    fees: of('FEE_REVENUE') + of('TAX_PAYABLE'),
    providerOwes: -of('CHANNEL_CLEARING'),
    bank: of('BANK'),
    suspense: of('SUSPENSE'),
  }).toEqual({
    all: 0n,
    available: story.available,
    reserved: sum(story.open.map(totalDebit)),
    fees: story.fees,
    providerOwes: story.providerOwes,
    bank: story.settled - story.arrived,
    suspense: sum(story.held.map(({ amountSantim }) => amountSantim)) + unmatchedOf(story) - story.excess,
  });
  expect(of('AVAILABLE') >= 0n && of('RESERVED') >= 0n).toBe(true);
}

test('ten thousand random sequences of postings balance', () => {
  const scope = { merchantId: 'mrc_1', environment: 'sandbox' } as const;
  fc.assert(
    fc.property(anySteps, anyRule, (steps, rule) => {
      let made = 0;
      const story = step(steps, { scope, rule, ids: (prefix) => `${prefix}_${(made += 1)}` });
      const all = [...story.postings, ...story.refused];
      expect(all.filter(({ entries }) => sum(entries.map(({ amountSantim }) => amountSantim)) !== 0n)).toEqual([]);
      expectHolds(story, bookAll(story.postings));
    }),
    { numRuns: 10_000, unbiased: true },
  );
});

describe('random sequences of postings on PostgreSQL', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  test('two hundred sequences end with the balances of the model, and rejected postings leave nothing', async () => {
    const { db } = database;
    const ids = (prefix: string): string => newId(prefix as IdPrefix);
    await fc.assert(
      fc.asyncProperty(anySteps, anyRule, anyMinutes, async (steps, rule, minutes) => {
        const scope = await buildMerchant(db);
        const story = step(steps, { scope, rule, ids });
        for (const [index, posting] of story.postings.entries()) {
          await db.transaction((trx) => post(trx, posting, atMinute(minutes[index % minutes.length]!)));
        }
        for (const posting of story.refused) {
          if (-posting.entries[0]!.amountSantim <= story.available) continue;
          await expect(db.transaction((trx) => post(trx, posting, atMinute(0)))).rejects.toMatchObject({
            code: 'INSUFFICIENT_BALANCE',
          });
        }
        const found = await rows<{ kind: string; amount: bigint }>(
          db,
          `SELECT a.kind, CAST(sum(e.amount_santim) AS bigint) AS amount
           FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
           WHERE j.merchant_id = :merchantId OR j.id = ANY (SELECT id FROM ledger_journal WHERE posting_key = ANY (:keys))
           GROUP BY a.kind`,
          { merchantId: scope.merchantId, keys: story.postings.map(({ key }) => key) },
        );
        expectHolds(story, new Map(found.map(({ kind, amount }) => [kind, amount])));
        const times = await rows<{ key: string; at: Date[] }>(
          db,
          `SELECT j.posting_key AS key, array_agg(DISTINCT e.effective_at) AS at FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id
           WHERE j.posting_key = ANY (:keys) GROUP BY j.posting_key`,
          { keys: story.postings.map(({ key }) => key) },
        );
        const expected = [...bookTimes(story.postings, minutes)];
        expect(new Map(times.map(({ key, at }) => [key, at]))).toEqual(
          new Map(expected.map(([key, minute]) => [key, [atMinute(minute)]])),
        );
        expect(await readBalance(db, scope)).toEqual({
          availableSantim: story.available,
          reservedSantim: sum(story.open.map(totalDebit)),
          feesSantim: story.fees,
          settledSantim: story.settled,
        });
      }),
      { numRuns: 200, unbiased: true },
    );
    expect(await verifyLedger(db, LEDGER_CHECKS)).toEqual([]);
  }, 180_000);
});
