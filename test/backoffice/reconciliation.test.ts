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
  const discrepancyId = newId('rcd');
  await rows(
    backOffice.database.db,
    `WITH day AS (
       INSERT INTO reconciliation (id, environment, channel, day, status, is_running, requested_at)
       VALUES (:reconciliation, 'sandbox', 'AWASH', CAST(:today AS date), 'DISCREPANCIES', false, now())
     )
     INSERT INTO reconciliation_discrepancy (id, reconciliation_id, environment, channel, day, kind, type, order_id,
                                            listed_santim, listed_currency, detected_at)
     VALUES (:discrepancyId, :reconciliation, 'sandbox', 'AWASH', CAST(:today AS date), 'UNKNOWN_ORDER', 'payment', 'X-1',
             12345, 'ETB', now())`,
    { reconciliation, discrepancyId, today },
  );
  const listed = await backOffice.send('GET', '/api/ops/reconciliation/discrepancies?state=OPEN&channel=AWASH');
  expect(listed.body.data).toEqual([
    expect.objectContaining({ discrepancyId, kind: 'UNKNOWN_ORDER', theirs: 123.45, ours: null, day: today }),
  ]);
  const days = await backOffice.send('GET', '/api/ops/reconciliation?channel=AWASH');
  expect(days.body.data).toEqual([
    expect.objectContaining({ day: today, status: 'DISCREPANCIES', discrepancies: 1, theirs: null }),
  ]);
  const { body } = await backOffice.send('GET', '/api/ops/queue?kind=RECONCILIATION');
  expect(body.data.items).toEqual([expect.objectContaining({ id: discrepancyId, amount: 123.45, merchantId: null })]);
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
  expect(await backOffice.audited(discrepancyId)).toEqual(['reconciliation.close']);
});

describe('receipts and recoveries', () => {
  const book = (path: string, body: object) =>
    backOffice.send('POST', `/api/ops/receipts/${path}`, { key: finance(), body });

  test('of one reference are recorded once, as any kind', async () => {
    const remittance = { environment: 'sandbox', channel: 'TELEBIRR', amount: 500.5, bankReference: 'FT-100' };
    const booked = await book('remittances', remittance);
    expect([booked.status, booked.body.data]).toMatchObject([
      201,
      { kind: 'REMITTANCE', channel: 'TELEBIRR', amount: 500.5, bankReference: 'FT-100', outcome: null },
    ]);
    expect((await book('remittances', remittance)).status).toBe(200);
    const { channel: _, ...unallocated } = remittance;
    for (const [path, body] of [
      ['remittances', { ...remittance, amount: 1 }],
      ['remittances', { ...remittance, channel: 'AWASH' }],
      ['unallocated', unallocated],
    ] as const) {
      const other = await book(path, body);
      expect([other.status, other.body.error.code]).toEqual([409, 'DUPLICATE_REFERENCE']);
      expect(other.body.message).toContain('was booked as a remittance of TELEBIRR, 500.50 ETB');
    }
    expect((await book('unallocated', { ...unallocated, bankReference: '???' })).status).toBe(400);
    const { receiptId } = booked.body.data;
    expect(await backOffice.audited(receiptId)).toEqual(['receipt.record-remittance']);
    const audit = await backOffice.send('GET', `/api/ops/audit?resourceId=${receiptId}`);
    expect(audit.body.data).toMatchObject([{ after: { reference: 'FT-100', amount: 500.5, channel: 'TELEBIRR' } }]);
  });

  test('without a known origin are in the work queue until finance allocates them with a reason, with one audit row', async () => {
    const { body } = await book('unallocated', { environment: 'sandbox', amount: 20, bankReference: 'FT-101' });
    const { receiptId } = body.data;
    const queue = () => backOffice.send('GET', '/api/ops/queue?kind=RECEIPT_UNALLOCATED');
    const [item] = (await queue()).body.data.items;
    expect(item).toMatchObject({ id: receiptId, amount: 20, detail: { bankReference: 'FT-101' } });
    const decide = (said: object) => backOffice.send('POST', item.links.decide, { key: finance(), body: said });
    for (const [said, rejection] of [
      [{ as: 'ALLOCATED', channel: 'AWASH' }, 'reason is required'],
      [
        { as: 'ALLOCATED', reason: 'Mail' },
        'channel is needed with ALLOCATED: one of TELEBIRR, CBE_BIRR, AWASH, MPESA',
      ],
      [{ as: 'RETURNED', reason: 'Mail' }, "returnReference is needed with RETURNED: the bank's trace id"],
      [{ as: 'CORRECTED', channel: 'AWASH', reason: 'Mail' }, 'channel belongs to ALLOCATED only, got "AWASH"'],
    ] as const) {
      const answer = await decide(said);
      expect([answer.status, answer.body.message]).toEqual([400, rejection]);
    }
    for (const _ of [1, 2]) {
      const decided = await decide({ as: 'ALLOCATED', channel: 'AWASH', reason: 'Their mail of Monday' });
      expect([decided.status, decided.body.data]).toMatchObject([200, { outcome: 'ALLOCATED', channel: 'AWASH' }]);
    }
    expect((await queue()).body.data.items).toEqual([]);
    expect(await backOffice.audited(receiptId)).toEqual(['receipt.record-unallocated', 'receipt.decide']);
    const listed = await backOffice.send('GET', '/api/ops/receipts?reference=FT-101&waiting=false');
    expect(listed.body.data).toMatchObject([{ receiptId, kind: 'UNALLOCATED', outcome: 'ALLOCATED' }]);
  });

  test('recorded for the wrong channel are corrected, and recorded again under their own trace id', async () => {
    const wrong = { environment: 'sandbox', channel: 'TELEBIRR', amount: 30, bankReference: 'FT-102' };
    const { receiptId } = (await book('remittances', wrong)).body.data;
    const correct = () => book(`${receiptId}/decide`, { as: 'CORRECTED', reason: 'It was of Awash' });
    expect((await correct()).body.data.reversedAt).toEqual(expect.any(String));
    expect((await correct()).status).toBe(200);
    expect((await book('remittances', { ...wrong, channel: 'AWASH' })).status).toBe(201);
    expect(await backOffice.audited(receiptId)).toEqual(['receipt.record-remittance', 'receipt.decide']);
    expect((await backOffice.send('GET', '/api/ops/receipts?reference=FT-102')).body.data).toHaveLength(2);
  });

  test('without an overpayment are rejected as recoveries', async () => {
    const nowhere = { withdrawalId: newId('wd'), reference: 'AW-1', reason: 'Their mail' };
    const unknown = await book('recoveries', nowhere);
    expect([unknown.status, unknown.body.message]).toEqual([404, expect.stringMatching(/^Withdrawal not found/)]);
  });

  test('by a provider are listed under the provider’s reference, which the bank does not know', async () => {
    const scope = await buildFreeMerchant(backOffice.fixture);
    await fund(backOffice.fixture, scope, 100_000n);
    const { id } = await withdraw(backOffice.fixture, scope);
    await rows(
      backOffice.database.db,
      `INSERT INTO bank_receipt (id, environment, kind, reference, channel, payout_id, amount_santim, booked_at)
       VALUES ('rcp_recovery', 'sandbox', 'RECOVERY', 'AW-7', 'TELEBIRR', :id, 100, now())`,
      { id },
    );
    const listed = await backOffice.send('GET', '/api/ops/receipts?reference=AW-7');
    expect(listed.body.data).toMatchObject([{ kind: 'RECOVERY', bankReference: null, providerReference: 'AW-7' }]);
    await runSql(backOffice.database.ownerUrl, `DELETE FROM bank_receipt WHERE id = 'rcp_recovery'`);
  });
});
