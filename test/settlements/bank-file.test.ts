import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { importBankFile } from '../../src/settlements/bank-file.ts';
import { markCredited, markSent } from '../../src/settlements/bank-results.ts';
import { approveSettlement } from '../../src/settlements/decide.ts';
import { readSettlement } from '../../src/settlements/queries.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

const MONDAY = new Date('2027-01-18T09:00:00.000Z');
const HEADING = 'settlementId,result,bankReference,date,reason';
const NOBODYS = `stl_${'0'.repeat(26)}`;

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db, { start: MONDAY });
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 50_000_00n);
  await linkAccount(fixture, scope);
  await rows(
    database.db,
    `INSERT INTO operator (id, name, email, role) VALUES ('opr_1', 'Hana', 'hana@example.et', 'finance')`,
  );
});
afterEach(() => expectLedgerHolds(database.db));
afterAll(() => database.drop());

const operator = () => ({ operatorId: 'opr_1', at: fixture.clock() });
const load = (...lines: string[]) =>
  importBankFile(fixture, { operatorId: 'opr_1', requestId: 'req_1', text: [HEADING, ...lines].join('\r\n') });
const stands = async (id: string) => (await readSettlement(database.db, id)).status;

async function sent(): Promise<string> {
  const { id } = await requestSettlement(fixture, scope);
  await fixture.runInTransaction((tx) => approveSettlement(tx, id, operator()));
  await fixture.runInTransaction((tx) => markSent(tx, id, { ...operator(), bankReference: 'BATCH-7' }));
  return id;
}

/** By name: those of one file have one time. */
const audited = (resourceId: string) =>
  rows<{ action: string; reason: string }>(
    database.db,
    `SELECT action, reason FROM operator_audit WHERE resource_id = :resourceId AND operator_id = 'opr_1' ORDER BY action`,
    { resourceId },
  );

test('a bank file books each of its lines, and importing it again changes nothing', async () => {
  const [paid, refused] = [await sent(), await sent()];
  const lines = [`${paid},credited,FT27018A,2027-01-18,`, `${refused},failed,,,"Account closed, says the bank"`];
  const about = [
    { line: 2, settlementId: paid, result: 'credited' },
    { line: 3, settlementId: refused, result: 'failed' },
  ];
  expect(await load(...lines)).toEqual({ applied: about, already: [], wrong: [] });
  expect(await load(...lines)).toEqual({ applied: [], already: about, wrong: [] });
  expect(await readSettlement(database.db, paid)).toMatchObject({
    status: 'COMPLETED',
    bankReference: 'FT27018A',
    // The day alone means no hour before it was sent.
    creditedAt: MONDAY,
  });
  expect(await readSettlement(database.db, refused)).toMatchObject({
    status: 'FAILED',
    bankReference: 'BATCH-7',
    failure: { code: 'BANK_REFUSED', message: 'Account closed, says the bank' },
  });
  expect([await audited(paid), await audited(refused)]).toEqual([
    [{ action: 'settlement.credited', reason: 'By the file of the bank' }],
    [{ action: 'settlement.failed', reason: 'Account closed, says the bank' }],
  ]);
});

test('a credited line with another amount than the settlement’s is not booked', async () => {
  const [exact, less] = [await sent(), await sent()];
  const heading = `amount,${HEADING}`;
  const lines = [
    `150,${exact},credited,FTA,2027-01-18,`,
    `149.90,${less},credited,FTB,2027-01-18,`,
    `1e2,${less},credited,FTC,2027-01-18,`,
  ];
  const { applied, wrong } = await importBankFile(fixture, {
    operatorId: 'opr_1',
    requestId: 'req_1',
    text: [heading, ...lines].join('\n'),
  });
  expect(applied.map(({ line }) => line)).toEqual([2]);
  expect(wrong.map(({ line, issue }) => [line, issue])).toEqual([
    [3, "amount must be the settlement's, 150.00 ETB, got 149.90: clarify it with the bank; nothing was booked"],
    [4, 'amount must be an amount as 1500.50'],
  ]);
  expect([await stands(exact), await stands(less)]).toEqual(['COMPLETED', 'PROCESSING']);
});

test('an invalid line of a bank file is reported and holds up no other', async () => {
  const [good, unsent, next] = [await sent(), (await requestSettlement(fixture, scope)).id, await sent()];
  const { applied, wrong } = await load(
    `${good},credited,FT1,2027-01-18,`,
    `${unsent},credited,FT2,2027-01-18,`,
    `${unsent},failed,,,Closed`,
    `${NOBODYS},credited,FT3,2027-01-18,`,
    'nonsense,credited,FT4,2027-01-18,',
    `${next},paid,FT5,2027-01-18,`,
    `${next},credited,,2027-01-18,`,
    `${next},credited,FT6,18/01/2027,`,
    `${next},credited,FT7,2027-01-17,`,
    `${next},failed,,,`,
    `${next},credited,FT8,2027-01-18`,
    `${next},credited,FT9,2027-01-18,`,
    `${next},failed,,,Closed`,
  );
  expect(applied.map(({ line }) => line)).toEqual([2, 13]);
  expect(wrong.map(({ line, issue }) => [line, issue])).toEqual([
    [3, expect.stringContaining('is REQUESTED: only one that is PROCESSING')],
    [4, expect.stringContaining('is REQUESTED: only one that is PROCESSING')],
    [5, expect.stringContaining('Settlement not found')],
    [6, 'settlementId must be a settlement id, stl_…'],
    [7, 'result must be credited, failed or returned'],
    [8, 'bankReference must be given'],
    [9, 'date must be a day as YYYY-MM-DD'],
    [
      10,
      expect.stringContaining('must be a day from 2027-01-18, when it was sent, to 2027-01-18, today; got 2027-01-17'),
    ],
    [11, 'reason must be given'],
    [12, 'has 4 values, the heading 5'],
    [14, expect.stringContaining('is COMPLETED, credited on 2027-01-18')],
  ]);
  expect([await stands(good), await stands(unsent), await stands(next)]).toEqual([
    'COMPLETED',
    'REQUESTED',
    'COMPLETED',
  ]);
});

test('a trace id is booked for one settlement: another line with it is invalid, in the same file or a later one', async () => {
  const [one, other, next] = [await sent(), await sent(), await sent()];
  const { applied, wrong } = await load(
    `${one},credited,FT21,2027-01-18,`,
    `${other},credited,FT21,2027-01-18,`,
    `${next},credited,FT22,2027-01-18,`,
  );
  expect(applied.map(({ line }) => line)).toEqual([2, 4]);
  const issue = `bankReference "FT21" was booked as the credit of a settlement, 150.00 ETB, on 2027-01-18 (${one})`;
  expect(wrong).toEqual([{ line: 3, settlementId: other, issue: expect.stringContaining(issue) }]);
  expect((await load(`${other},credited,FT22,2027-01-18,`)).wrong[0]?.issue).toContain(`(${next})`);
  expect(await stands(other)).toBe('PROCESSING');
});

test('a returned line credits the merchant again, and importing it again changes nothing', async () => {
  const id = await sent();
  const lines = [`${id},credited,FT31,2027-01-18,`, `${id},returned,RT31,,Account dormant`];
  const results = [
    { line: 2, settlementId: id, result: 'credited' },
    { line: 3, settlementId: id, result: 'returned' },
  ];
  expect(await load(...lines)).toEqual({ applied: results, already: [], wrong: [] });
  expect(await load(...lines)).toEqual({ applied: [], already: results, wrong: [] });
  expect(await readSettlement(database.db, id)).toMatchObject({ status: 'FAILED', returnReference: 'RT31' });
  expect(await audited(id)).toEqual([
    { action: 'settlement.credited', reason: 'By the file of the bank' },
    { action: 'settlement.returned', reason: 'Account dormant' },
  ]);
  const { wrong } = await load(`${await sent()},returned,RT32,,Dormant`, `${id},returned,,,Dormant`);
  expect(wrong.map(({ issue }) => issue)).toEqual([
    expect.stringContaining('is PROCESSING: only one that is COMPLETED can become FAILED'),
    'bankReference must be given',
  ]);
});

test('a credited line of a FAILED settlement is reported, stored for operators, and holds up no other', async () => {
  const [late, good] = [await sent(), await sent()];
  await load(`${late},failed,,,Account closed`);
  const lines = [`${late},credited,FT41,2027-01-18,`, `${good},credited,FT42,2027-01-18,`];
  const issue = expect.stringMatching(/FT41 is not booked[.] Book or dismiss it/);
  const first = await load(...lines);
  expect(first).toMatchObject({ applied: [{ line: 3 }], wrong: [{ line: 2, settlementId: late, issue }] });
  expect(await load(...lines)).toMatchObject({ applied: [], already: [{ line: 3 }], wrong: [{ line: 2, issue }] });
  expect(await readSettlement(database.db, late)).toMatchObject({
    status: 'FAILED',
    lateCredit: { bankReference: 'FT41', operatorId: 'opr_1' },
  });
});

test('a credited line with another amount is no repeat of a credit that an operator recorded', async () => {
  const id = await sent();
  const creditedAt = fixture.clock();
  await fixture.runInTransaction((tx) => markCredited(tx, id, { ...operator(), bankReference: 'FT14', creditedAt }));
  const text = (amount: string) => `${HEADING},amount\n${id},credited,FT14,2027-01-18,,${amount}\n`;
  const other = await importBankFile(fixture, { operatorId: 'opr_1', requestId: 'req_1', text: text('149.00') });
  expect(other).toMatchObject({ already: [], wrong: [{ issue: expect.stringContaining('150.00 ETB, got 149.00') }] });
  const same = await importBankFile(fixture, { operatorId: 'opr_1', requestId: 'req_1', text: text('150.00') });
  expect(same).toMatchObject({ already: [{ line: 2 }], wrong: [] });
});

test('a credited line with another trace id or day than the booked one is invalid, not a repeat', async () => {
  const id = await sent();
  await load(`${id},credited,FT11,2027-01-18,`);
  const { already, wrong } = await load(`${id},credited,FT12,2027-01-18,`, `${id},credited,FT11,2027-01-17,`);
  expect({ already, lines: wrong.map(({ line }) => line) }).toEqual({ already: [], lines: [2, 3] });
});

test.each([
  { what: 'no text', text: '', issue: 'must begin with the line' },
  { what: 'a column missing', text: 'settlementId,result\n', issue: 'must begin with the line' },
  { what: 'a column too many', text: `${HEADING},extra\n`, issue: 'must begin with the line' },
  { what: 'an open quotation mark', text: `${HEADING}\n"open`, issue: 'is not CSV' },
  { what: 'too many lines', text: `${HEADING}\n${'x,failed,,,y\n'.repeat(2_001)}`, issue: 'at most 2000 lines' },
])('a bank file is rejected as a whole: $what', async ({ text, issue }) => {
  await expect(importBankFile(fixture, { operatorId: 'opr_1', requestId: 'req_1', text })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    message: expect.stringContaining(issue),
  });
});

test('a bank file may have its columns in any order and begin with a byte order mark', async () => {
  const id = await sent();
  const text = `\uFEFFresult,settlementId,date,reason,bankReference\ncredited, ${id} ,2027-01-18,,FT13\n`;
  expect(await importBankFile(fixture, { operatorId: 'opr_1', requestId: 'req_1', text })).toMatchObject({
    applied: [{ line: 2 }],
  });
});
