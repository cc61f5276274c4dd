import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { runSql } from '../support/database.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { withdraw } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';
import { startBackOffice, type BackOffice } from './back-office.ts';

let backOffice: BackOffice;

beforeAll(async () => {
  backOffice = await startBackOffice();
});
afterEach(() => expectLedgerHolds(backOffice.database.db));
afterAll(() => backOffice.close());

const finance = () => backOffice.people.finance.key;
const today = addisDay(new Date());

test("finance can request a past day's comparison again, and no future day's", async () => {
  const path = '/api/ops/reconciliation/run';
  const body = { day: today, channel: 'TELEBIRR', environment: 'sandbox', reason: 'The list was completed' };
  const asked = await backOffice.send('POST', path, { key: finance(), body });
  expect([asked.status, asked.body.data]).toEqual([202, [{ environment: 'sandbox', channel: 'TELEBIRR', day: today }]]);
  expect((await backOffice.send('POST', path, { key: finance(), body: { day: '2099-01-01' } })).status).toBe(400);
  expect(await backOffice.audited(today)).toEqual(['reconciliation.run']);
});

test('a discrepancy is in the work queue until it is closed with a reason, with one audit row', async () => {
  const reconciliation = `sandbox-AWASH-${today}`;
  const differenceId = newId('rcd');
  await rows(
    backOffice.database.db,
    `WITH day AS (
       INSERT INTO reconciliation (id, environment, channel, day, status, is_running, requested_at)
       VALUES (:reconciliation, 'sandbox', 'AWASH', CAST(:today AS date), 'DIFFERENCES', false, now())
     )
     INSERT INTO reconciliation_discrepancy (id, reconciliation_id, environment, channel, day, kind, type, order_id,
                                            listed_santim, listed_currency, detected_at)
     VALUES (:differenceId, :reconciliation, 'sandbox', 'AWASH', CAST(:today AS date), 'UNKNOWN_ORDER', 'payment', 'X-1',
             12345, 'ETB', now())`,
    { reconciliation, differenceId, today },
  );
  const listed = await backOffice.send('GET', '/api/ops/reconciliation/differences?state=OPEN&channel=AWASH');
  expect(listed.body.data).toEqual([
    expect.objectContaining({ differenceId, kind: 'UNKNOWN_ORDER', theirs: 123.45, ours: null, day: today }),
  ]);
  const days = await backOffice.send('GET', '/api/ops/reconciliation?channel=AWASH');
  expect(days.body.data).toEqual([
    expect.objectContaining({ day: today, status: 'DIFFERENCES', differences: 1, theirs: null }),
  ]);
  const { body } = await backOffice.send('GET', '/api/ops/queue?kind=RECONCILIATION');
  expect(body.data.items).toEqual([expect.objectContaining({ id: differenceId, amount: 123.45, merchantId: null })]);
  const { close } = body.data.items[0].links;
  expect((await backOffice.send('POST', close, { key: finance(), body: {} })).body.message).toBe('reason is required');
  for (const _ of [1, 2]) {
    const closed = await backOffice.send('POST', close, { key: finance(), body: { reason: 'Their test order' } });
    expect(closed.body.data).toMatchObject({
      closedBy: backOffice.people.finance.operatorId,
      resolutionNote: 'Their test order',
    });
  }
  expect((await backOffice.send('POST', close, { body: { reason: 'Mine' } })).body.error.code).toBe('INVALID_STATE');
  expect((await backOffice.send('GET', '/api/ops/queue?kind=RECONCILIATION')).body.data.items).toEqual([]);
  expect(await backOffice.audited(differenceId)).toEqual(['reconciliation.close']);
});

describe('receipts and recoveries', () => {
  const book = (path: string, body: object) =>
    backOffice.send('POST', `/api/ops/bank-money/${path}`, { key: finance(), body });

  test('of one reference are recorded once, as any kind', async () => {
    const transfer = { environment: 'sandbox', channel: 'TELEBIRR', amount: 500.5, bankReference: 'FT-100' };
    const booked = await book('transfers', transfer);
    expect([booked.status, booked.body.data]).toMatchObject([
      201,
      { kind: 'REMITTANCE', channel: 'TELEBIRR', amount: 500.5, bankReference: 'FT-100', outcome: null },
    ]);
    expect((await book('transfers', transfer)).status).toBe(200);
    const { channel: _, ...unmatched } = transfer;
    for (const [path, body] of [
      ['transfers', { ...transfer, amount: 1 }],
      ['transfers', { ...transfer, channel: 'AWASH' }],
      ['unmatched', unmatched],
    ] as const) {
      const other = await book(path, body);
      expect([other.status, other.body.error.code]).toEqual([409, 'DUPLICATE_REFERENCE']);
      expect(other.body.message).toContain('was booked as a transfer of TELEBIRR, 500.50 ETB');
    }
    expect((await book('unmatched', { ...unmatched, bankReference: '???' })).status).toBe(400);
    const { bankMoneyId } = booked.body.data;
    expect(await backOffice.audited(bankMoneyId)).toEqual(['bank-money.transfer']);
    const audit = await backOffice.send('GET', `/api/ops/audit?resourceId=${bankMoneyId}`);
    expect(audit.body.data).toMatchObject([{ after: { reference: 'FT-100', amount: 500.5, channel: 'TELEBIRR' } }]);
  });

  test('without a known origin are in the work queue until finance allocates them with a reason, with one audit row', async () => {
    const { body } = await book('unmatched', { environment: 'sandbox', amount: 20, bankReference: 'FT-101' });
    const { bankMoneyId } = body.data;
    const queue = () => backOffice.send('GET', '/api/ops/queue?kind=RECEIPT_UNALLOCATED');
    const [item] = (await queue()).body.data.items;
    expect(item).toMatchObject({ id: bankMoneyId, amount: 20, detail: { bankReference: 'FT-101' } });
    const settle = (said: object) => backOffice.send('POST', item.links.settle, { key: finance(), body: said });
    for (const [said, rejection] of [
      [{ as: 'ALLOCATED', channel: 'AWASH' }, 'reason is required'],
      [
        { as: 'ALLOCATED', reason: 'Mail' },
        'channel is needed with ALLOCATED: one of TELEBIRR, CBE_BIRR, AWASH, MPESA',
      ],
      [{ as: 'RETURNED', reason: 'Mail' }, "returnReference is needed with RETURNED: the bank's trace id"],
      [{ as: 'CORRECTED', channel: 'AWASH', reason: 'Mail' }, 'channel belongs to ALLOCATED only, got "AWASH"'],
    ] as const) {
      const answer = await settle(said);
      expect([answer.status, answer.body.message]).toEqual([400, rejection]);
    }
    for (const _ of [1, 2]) {
      const settled = await settle({ as: 'ALLOCATED', channel: 'AWASH', reason: 'Their mail of Monday' });
      expect([settled.status, settled.body.data]).toMatchObject([200, { outcome: 'ALLOCATED', channel: 'AWASH' }]);
    }
    expect((await queue()).body.data.items).toEqual([]);
    expect(await backOffice.audited(bankMoneyId)).toEqual(['bank-money.unmatched', 'bank-money.settle']);
    const listed = await backOffice.send('GET', '/api/ops/bank-money?reference=FT-101&waiting=false');
    expect(listed.body.data).toMatchObject([{ bankMoneyId, kind: 'UNALLOCATED', outcome: 'ALLOCATED' }]);
  });

  test('recorded for the wrong channel are corrected, and recorded again under their own trace id', async () => {
    const wrong = { environment: 'sandbox', channel: 'TELEBIRR', amount: 30, bankReference: 'FT-102' };
    const { bankMoneyId } = (await book('transfers', wrong)).body.data;
    const correct = () => book(`${bankMoneyId}/settle`, { as: 'CORRECTED', reason: 'It was of Awash' });
    expect((await correct()).body.data.reversedAt).toEqual(expect.any(String));
    expect((await correct()).status).toBe(200);
    expect((await book('transfers', { ...wrong, channel: 'AWASH' })).status).toBe(201);
    expect(await backOffice.audited(bankMoneyId)).toEqual(['bank-money.transfer', 'bank-money.settle']);
    expect((await backOffice.send('GET', '/api/ops/bank-money?reference=FT-102')).body.data).toHaveLength(2);
  });

  test('without an overpayment are rejected as recoveries', async () => {
    const nowhere = { withdrawalId: newId('wd'), reference: 'AW-1', reason: 'Their mail' };
    expect((await book('excess', nowhere)).status).toBe(404);
  });

  test('by a provider are listed under the provider’s reference, which the bank does not know', async () => {
    const scope = await buildFreeMerchant(backOffice.fixture);
    await fund(backOffice.fixture, scope, 100_000n);
    const { id } = await withdraw(backOffice.fixture, scope);
    await rows(
      backOffice.database.db,
      `INSERT INTO bank_receipt (id, environment, kind, reference, channel, withdrawal_id, amount_santim, booked_at)
       VALUES ('bkm_excess', 'sandbox', 'RECOVERY', 'AW-7', 'TELEBIRR', :id, 100, now())`,
      { id },
    );
    const listed = await backOffice.send('GET', '/api/ops/bank-money?reference=AW-7');
    expect(listed.body.data).toMatchObject([{ kind: 'RECOVERY', bankReference: null, providerReference: 'AW-7' }]);
    await runSql(backOffice.database.ownerUrl, `DELETE FROM bank_receipt WHERE id = 'bkm_excess'`);
  });
});
