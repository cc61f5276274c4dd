import pg from 'pg';

import { readBalance } from '../../src/ledger/balance.ts';
import { post, reverse } from '../../src/ledger/post.ts';
import {
  suspenseAcceptedPosting,
  suspensePosting,
  suspenseReturnedPosting,
  payoutPosting,
  paymentPosting,
  releasePosting,
  reservePosting,
  reversalPosting,
  type Payout,
  type Posting,
  receiptPosting,
} from '../../src/ledger/postings.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { buildMerchant, untilServed } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const AT = new Date('2026-03-02T09:00:00.000Z');

describe('posting to the ledger', () => {
  let database: TestDatabase;
  let scope: MerchantScope;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    scope = await buildMerchant(database.db);
  });
  afterAll(() => database.drop());

  const book = (posting: Posting, at = AT) => database.db.transaction((trx) => post(trx, posting, at));
  const balance = () => readBalance(database.db, scope);
  const payment = (amountSantim = 100_00n, feeSantim = 2_50n, feeTaxSantim = 38n) => {
    const transactionId = newId('txn');
    return paymentPosting({ ...scope, transactionId, channel: 'TELEBIRR', amountSantim, feeSantim, feeTaxSantim });
  };
  const withdrawal = (amountSantim: bigint): Payout & { type: 'withdrawal' } => ({
    ...scope,
    type: 'withdrawal',
    id: newId('txn'),
    channel: 'TELEBIRR',
    amountSantim,
    feeSantim: 5_00n,
    feeTaxSantim: 75n,
  });
  const entriesOf = (key: string) =>
    rows<Record<string, unknown>>(
      database.db,
      `SELECT a.kind, a.channel, e.amount_santim, e.balance_after_santim AS after FROM ledger_journal j
       JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
       WHERE j.posting_key = :key ORDER BY e.position`,
      { key },
    );
  const journals = async () =>
    (await rows<{ n: number }>(database.db, 'SELECT count(*)::int AS n FROM ledger_journal'))[0]!.n;

  test('a payment debits the provider’s clearing account and credits the merchant less fee and tax', async () => {
    const fact = payment();
    expect(await book(fact)).toBe('posted');
    expect(await entriesOf(fact.key)).toEqual([
      { kind: 'CHANNEL_CLEARING', channel: 'TELEBIRR', amountSantim: -100_00n, after: null },
      { kind: 'AVAILABLE', channel: null, amountSantim: 97_12n, after: 97_12n },
      { kind: 'FEE_REVENUE', channel: null, amountSantim: 2_50n, after: null },
      { kind: 'TAX_PAYABLE', channel: null, amountSantim: 38n, after: null },
    ]);
    expect(await balance()).toEqual({
      availableSantim: 97_12n,
      reservedSantim: 0n,
      feesSantim: 2_88n,
      settledSantim: 0n,
    });
  });

  test('fifty concurrent postings of one key post once', async () => {
    const fact = payment();
    const answers = await Promise.all(Array.from({ length: 50 }, () => untilServed(() => book(fact))));
    expect(answers.filter((answer) => answer === 'posted')).toHaveLength(1);
    expect((await balance()).availableSantim).toBe(97_12n);
  });

  test('another posting under the same key is rejected', async () => {
    const fact = payment();
    await book(fact);
    const twice = { ...payment(200_00n), key: fact.key };
    await expect(book(twice)).rejects.toMatchObject({ code: 'MK002' });
  });

  test('a payout is reserved, then paid, then credited again when it is reversed', async () => {
    await book(payment(1_000_00n, 0n, 0n));
    const out = withdrawal(100_00n);
    await book(reservePosting(out));
    expect(await balance()).toMatchObject({ availableSantim: 894_25n, reservedSantim: 105_75n, feesSantim: 0n });
    await book(payoutPosting(out));
    expect(await balance()).toMatchObject({ availableSantim: 894_25n, reservedSantim: 0n, feesSantim: 5_75n });
    await book(reversalPosting(out));
    expect(await balance()).toMatchObject({ availableSantim: 1_000_00n, reservedSantim: 0n, feesSantim: 0n });
  });

  test('a payout that was paid cannot be released, and one that was released cannot be paid', async () => {
    await book(payment(1_000_00n, 0n, 0n));
    for (const [first, second] of [
      [payoutPosting, releasePosting],
      [releasePosting, payoutPosting],
    ] as const) {
      const out = withdrawal(100_00n);
      await book(reservePosting(out));
      await book(first(out));
      const before = await balance();
      await expect(book(second(out))).rejects.toMatchObject({ code: 'MK002' });
      expect(await balance()).toEqual(before);
    }
  });

  test('held money is in suspense until it is accepted, and cannot be returned as well', async () => {
    const held = { ...scope, transactionId: newId('txn'), attemptId: newId('pat'), channel: 'AWASH' } as const;
    await book(suspensePosting({ ...held, amountSantim: 101_00n }));
    expect((await balance()).availableSantim).toBe(0n);
    await book(suspenseAcceptedPosting({ ...held, amountSantim: 101_00n, feeSantim: 2_53n, feeTaxSantim: 38n }));
    expect((await balance()).availableSantim).toBe(98_09n);
    await expect(book(suspenseReturnedPosting({ ...held, amountSantim: 101_00n }))).rejects.toMatchObject({
      code: 'MK002',
    });
  });

  test('a payout above the available balance answers INSUFFICIENT_BALANCE with that balance and posts nothing', async () => {
    await book(payment(100_00n, 0n, 0n));
    const before = [await balance(), await journals()];
    await expect(book(reservePosting(withdrawal(94_26n)))).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      message: expect.stringContaining('takes 100.01 ETB with its fee and tax, and 100.00 ETB are available'),
    });
    expect([await balance(), await journals()]).toEqual(before);
  });

  test('a payout of a merchant without a balance answers INSUFFICIENT_BALANCE with 0.00 ETB', async () => {
    await expect(book(reservePosting(withdrawal(1n)))).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
      message: expect.stringContaining('0.00 ETB are available'),
    });
  });

  test('of fifty concurrent payouts of the whole balance one succeeds', async () => {
    await book(payment(105_75n, 0n, 0n));
    const answers = await Promise.allSettled(
      Array.from({ length: 50 }, () => untilServed(() => book(reservePosting(withdrawal(100_00n))))),
    );
    const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []));
    expect(errors).toEqual(Array.from({ length: 49 }, () => 'INSUFFICIENT_BALANCE'));
    expect(await balance()).toMatchObject({ availableSantim: 0n, reservedSantim: 105_75n });
  });

  test('a remittance reduces the provider’s debt, and unallocated money is posted to suspense', async () => {
    const bank = { environment: 'sandbox', amountSantim: 40_00n } as const;
    const transfer = receiptPosting({ ...bank, id: newId('rcp'), kind: 'REMITTANCE', channel: 'AWASH' });
    const unmatched = receiptPosting({ ...bank, id: newId('rcp'), kind: 'UNALLOCATED' });
    expect([await book(transfer), await book(unmatched)]).toEqual(['posted', 'posted']);
    expect([await book(transfer), await book(unmatched)]).toEqual(['already', 'already']);
    expect(await entriesOf(transfer.key)).toEqual([
      { kind: 'BANK', channel: null, amountSantim: -40_00n, after: null },
      { kind: 'CHANNEL_CLEARING', channel: 'AWASH', amountSantim: 40_00n, after: null },
    ]);
    expect(await entriesOf(unmatched.key)).toEqual([
      { kind: 'BANK', channel: null, amountSantim: -40_00n, after: null },
      { kind: 'SUSPENSE', channel: null, amountSantim: 40_00n, after: null },
    ]);
  });

  test('reversing a journal posts its mirror, once', async () => {
    const receipt = { id: newId('rcp'), environment: 'sandbox', amountSantim: 40_00n, kind: 'UNALLOCATED' } as const;
    const { key } = receiptPosting(receipt);
    await book(receiptPosting(receipt));
    for (const _ of [1, 2]) await database.db.transaction((trx) => reverse(trx, key, AT));
    expect(await entriesOf(`reversal:${key}`)).toEqual([
      { kind: 'BANK', channel: null, amountSantim: 40_00n, after: null },
      { kind: 'SUSPENSE', channel: null, amountSantim: -40_00n, after: null },
    ]);
  });

  test('reversing a journal that does not exist, or that is of a merchant, throws', async () => {
    const fact = payment();
    await book(fact);
    for (const key of ['receipt:none', fact.key]) {
      await expect(database.db.transaction((trx) => reverse(trx, key, AT))).rejects.toThrow(`no journal ${key}`);
    }
  });

  test('sandbox and live never share an account', async () => {
    await book(payment(100_00n, 0n, 0n));
    expect(await readBalance(database.db, { ...scope, environment: 'live' })).toMatchObject({ availableSantim: 0n });
  });

  test('a posting older than the merchant’s last entry gets the time of that entry, and its journal keeps its own time', async () => {
    const before = new Date(AT.getTime() - 3_600_000);
    const after = new Date(AT.getTime() + 1);
    const facts = [payment(), payment(), reservePosting(withdrawal(10_00n)), payment()];
    const times = [AT, before, after, AT];
    for (const [index, fact] of facts.entries()) await book(fact, times[index]);
    const found = await rows<{ fact: Date; entries: Date[] }>(
      database.db,
      `SELECT j.effective_at AS fact, array_agg(DISTINCT e.effective_at) AS entries FROM ledger_journal j
       JOIN ledger_entry e ON e.journal_id = j.id WHERE j.merchant_id = :merchantId
       GROUP BY j.id, j.effective_at ORDER BY min(e.sequence)`,
      scope,
    );
    expect(found).toEqual([
      { fact: AT, entries: [AT] },
      { fact: before, entries: [AT] },
      { fact: after, entries: [after] },
      { fact: AT, entries: [after] },
    ]);
  });

  test('the times of a merchant’s entries do not affect other merchants or the other environment', async () => {
    const before = new Date(AT.getTime() - 1);
    const other = await buildMerchant(database.db);
    await book(payment());
    await book({ ...payment(), merchantId: other.merchantId }, before);
    await book({ ...payment(), environment: 'live' }, before);
    const timesOf = async ({ merchantId }: MerchantScope) =>
      rows<{ environment: string; at: Date }>(
        database.db,
        'SELECT environment, last_effective_at AS at FROM ledger_balance WHERE merchant_id = :merchantId ORDER BY environment',
        { merchantId },
      );
    expect(await timesOf(scope)).toEqual([
      { environment: 'live', at: before },
      { environment: 'sandbox', at: AT },
    ]);
    expect(await timesOf(other)).toEqual([{ environment: 'sandbox', at: before }]);
  });

  test('the database rejects entries that do not sum to zero', async () => {
    const fact = payment();
    const lost = { ...fact, entries: fact.entries.slice(0, 2) };
    await expect(book(lost)).rejects.toMatchObject({ code: 'MK002' });
    expect((await balance()).availableSantim).toBe(0n);
  });

  test('the application can write the ledger only through ledger_post, and not even the owner can change it', async () => {
    await book(payment());
    for (const table of ['ledger_journal', 'ledger_entry', 'ledger_balance', 'ledger_account']) {
      await expect(rows(database.db, `DELETE FROM ${table}`)).rejects.toMatchObject({ code: '42501' });
    }
    const ownerClient = new pg.Client({ connectionString: database.superuserUrl });
    await ownerClient.connect();
    try {
      for (const table of ['ledger_journal', 'ledger_entry']) {
        for (const sql of [`DELETE FROM ${table}`, `UPDATE ${table} SET effective_at = now()`, `TRUNCATE ${table}`]) {
          await expect(ownerClient.query(sql)).rejects.toMatchObject({ code: 'MK002' });
          // Superusers cannot disable the triggers by replication role either.
          await ownerClient.query('SET session_replication_role = replica');
          await expect(ownerClient.query(sql)).rejects.toMatchObject({ code: 'MK002' });
          await ownerClient.query('SET session_replication_role = origin');
        }
      }
    } finally {
      await ownerClient.end();
    }
  });
});
