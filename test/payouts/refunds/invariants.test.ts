import pg from 'pg';

import { ledgerChecks } from '../../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../../src/ledger/verify.ts';
import { createCheck } from '../../../src/payouts/check.ts';
import { createRefund } from '../../../src/payouts/refunds/create.ts';
import { REFUND_CHECKS } from '../../../src/payouts/refunds/monitoring.ts';
import { REFUND } from '../../../src/payouts/refunds/refund.ts';
import { buildAttempt, buildFixture, buildMerchant, buildSession, PAID } from '../../support/build.ts';
import { createTestDatabase, returnFeesOnRefund, type TestDatabase } from '../../support/database.ts';
import { expectLedgerHolds } from '../../support/ledger.ts';
import { returned } from './fixture.ts';

/** Corruptions that need direct access to the database, and the invariant that finds each. */
const CORRUPTIONS = [
  [
    "UPDATE payout SET status = 'FAILED' WHERE kind = 'refund' AND status = 'SUCCESS'",
    'each refund has the journals of its status, and no others',
  ],
  ["UPDATE payout SET fee_santim = fee_santim + 1 WHERE kind = 'refund'", 'a refund reserves its amount, fee and tax'],
  [
    "UPDATE payout SET amount_santim = amount_santim + 1, fee_santim = fee_santim - 1 WHERE kind = 'refund' AND status = 'SUCCESS'",
    'a refund has paid out, and had reversed, what its beneficiary received',
  ],
  [
    "UPDATE payout SET channel = 'AWASH' WHERE kind = 'refund'",
    'a refund is posted for its own merchant, environment and channel',
  ],
  ["DELETE FROM payout WHERE kind = 'refund' AND status = 'PENDING'", 'each journal of a refund has a refund'],
  ['UPDATE transaction SET refunded_santim = refunded_santim + 1', REFUND_CHECKS.at(-1)!.description],
  ['UPDATE transaction SET fee_santim = 0', REFUND_CHECKS.at(-1)!.description],
  ['UPDATE transaction SET amount_santim = 9999, received_santim = NULL', REFUND_CHECKS.at(-1)!.description],
  // One that the provider contradicts is left out of the sum only: the others are in it, and each is compared itself.
  [
    `UPDATE payout SET first_reported_paid_at = now() WHERE kind = 'refund' AND status = 'SUCCESS';
     UPDATE payout SET amount_santim = 20001 WHERE kind = 'refund' AND status = 'PENDING'`,
    REFUND_CHECKS.at(-1)!.description,
  ],
  [
    "UPDATE payout SET first_reported_paid_at = now(), amount_santim = 20001 WHERE kind = 'refund'",
    REFUND_CHECKS.at(-1)!.description,
  ],
  [
    "UPDATE payout SET amount_santim = amount_santim + 1 WHERE kind = 'refund' AND status = 'PENDING'",
    'the reserved balance is the sum of open withdrawals, refunds and settlements',
  ],
] as const;

let sound: TestDatabase;
let database: TestDatabase;

/** A payment with a refund that is paid, and one that is open. */
beforeAll(async () => {
  sound = await createTestDatabase();
  await returnFeesOnRefund(sound);
  const fixture = buildFixture(sound.db);
  const scope = await buildMerchant(sound.db);
  const { sessionId, transactionId } = await buildSession(fixture, scope, { amountSantim: 200_00n });
  const attemptId = await buildAttempt(fixture, { ...scope, sessionId });
  fixture.provider.returns({ ...PAID, amountSantim: 200_00n });
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  const refund = async (reference: string) => {
    const wanted = { transactionId, reference, amountSantim: 50_00n, returnFee: true, requestedBy: 'key_test' };
    return (await fixture.runInTransaction((tx) => createRefund({ ...fixture, tx }, scope, wanted))).row.id;
  };
  const paid = await refund('R-1');
  fixture.provider.returnsForRefunds(returned(50_00n));
  await createCheck(fixture, REFUND)(paid, { minIntervalMs: 0, notifyWorkflow: true });
  await refund('R-2');
  await expectLedgerHolds(sound.db);
});
beforeEach(async () => {
  database = await createTestDatabase(sound);
});
afterEach(() => database.drop());
afterAll(() => sound.drop());

test.each(CORRUPTIONS)('meskot ledger verify finds: %s', async (sql, check) => {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  await client.query(sql).finally(() => client.end());
  const broken = await verifyLedger(database.db, ledgerChecks);
  expect(broken.map((one) => one.check)).toContain(check);
});

test('each invariant of refunds has a corruption', () => {
  const planted = new Set<string>(CORRUPTIONS.map(([, check]) => check));
  expect(REFUND_CHECKS.filter(({ description }) => !planted.has(description))).toEqual([]);
});
