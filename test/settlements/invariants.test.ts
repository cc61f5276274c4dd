import { ledgerChecks } from '../../src/app/ledger-invariants.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { rows } from '../../src/lib/db.ts';
import { buildFixture } from '../support/build.ts';
import { runSql, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount, withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

const JOURNALS = 'each settlement has the journals of its status, and no others';
const AMOUNTS = 'a settlement reserves its amount, fee and tax';
const NO_SETTLEMENT = 'each journal of a settlement has a settlement';
const REFERENCES = 'each reference of the bank or a provider belongs to the one booking that has it';
const RESERVED = 'the reserved balance is the sum of open withdrawals, refunds and settlements';

let database: TestDatabase;
let id: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const fixture = buildFixture(database.db);
  const scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 1_000_00n);
  await linkAccount(fixture, scope);
  ({ id } = await requestSettlement(fixture, scope));
  await withdraw(fixture, scope);
});
afterAll(() => database.drop());

test.each([
  ['amount_santim = amount_santim + 1', 'amount_santim = amount_santim - 1', [AMOUNTS, RESERVED]],
  ["status = 'CANCELLED', completed_at = now()", "status = 'REQUESTED', completed_at = NULL", [JOURNALS, RESERVED]],
  [
    "status = 'COMPLETED', completed_at = now(), credited_at = now()",
    "status = 'REQUESTED', completed_at = NULL, credited_at = NULL",
    [JOURNALS, REFERENCES, RESERVED],
  ],
  [
    "status = 'FAILED', failure = '{}', completed_at = now(), credited_at = now(), returned_at = now(), return_reference = 'R'",
    "status = 'REQUESTED', failure = NULL, completed_at = NULL, credited_at = NULL, returned_at = NULL, return_reference = NULL",
    [JOURNALS, REFERENCES, RESERVED],
  ],
])('the ledger check finds a settlement with %s', async (wrong, right, found) => {
  await rows(database.db, `UPDATE settlement SET ${wrong} WHERE id = :id`, { id });
  expect((await verifyLedger(database.db, ledgerChecks)).map(({ check }) => check)).toEqual(found);
  await rows(database.db, `UPDATE settlement SET ${right} WHERE id = :id`, { id });
  await expectLedgerHolds(database.db);
});

test('the ledger check finds journals of a deleted settlement', async () => {
  await runSql(database.ownerUrl, 'DELETE FROM settlement');
  expect((await verifyLedger(database.db, ledgerChecks)).map(({ check }) => check)).toEqual([NO_SETTLEMENT, RESERVED]);
});
