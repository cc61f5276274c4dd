import { addisDay } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { startDesk, type Desk } from './desk.ts';

let desk: Desk;

beforeAll(async () => {
  desk = await startDesk();
});
afterEach(() => expectLedgerHolds(desk.database.db));
afterAll(() => desk.close());

const finance = () => desk.people.finance.key;
const today = addisDay(new Date());

test('a day is compared again when finance asks for it, and not one to come', async () => {
  const path = '/api/ops/reconciliation/run';
  const body = { day: today, channel: 'TELEBIRR', environment: 'sandbox', reason: 'The list was completed' };
  const asked = await desk.send('POST', path, { key: finance(), body });
  expect([asked.status, asked.body.data]).toEqual([202, [{ environment: 'sandbox', channel: 'TELEBIRR', day: today }]]);
  expect((await desk.send('POST', path, { key: finance(), body: { day: '2099-01-01' } })).status).toBe(400);
  expect(await desk.audited(today)).toEqual(['reconciliation.run']);
});

test('a difference waits in the queue until it is closed with a reason, and closing is noted once', async () => {
  const reconciliation = `sandbox-AWASH-${today}`;
  const differenceId = newId('rcd');
  await rows(
    desk.database.db,
    `WITH day AS (
       INSERT INTO reconciliation (id, environment, channel, day, status, open, asked_at)
       VALUES (:reconciliation, 'sandbox', 'AWASH', CAST(:today AS date), 'DIFFERENCES', false, now())
     )
     INSERT INTO reconciliation_difference (id, reconciliation_id, environment, channel, day, kind, type, order_id,
                                            their_santim, their_currency, since)
     VALUES (:differenceId, :reconciliation, 'sandbox', 'AWASH', CAST(:today AS date), 'UNKNOWN_ORDER', 'payment', 'X-1',
             12345, 'ETB', now())`,
    { reconciliation, differenceId, today },
  );
  const listed = await desk.send('GET', '/api/ops/reconciliation/differences?state=OPEN&channel=AWASH');
  expect(listed.body.data).toEqual([
    expect.objectContaining({ differenceId, kind: 'UNKNOWN_ORDER', theirs: 123.45, ours: null, day: today }),
  ]);
  const days = await desk.send('GET', '/api/ops/reconciliation?channel=AWASH');
  expect(days.body.data).toEqual([
    expect.objectContaining({ day: today, status: 'DIFFERENCES', differences: 1, theirs: null }),
  ]);
  const { body } = await desk.send('GET', '/api/ops/queue?kind=RECONCILIATION');
  expect(body.data.items).toEqual([expect.objectContaining({ id: differenceId, amount: 123.45, merchantId: null })]);
  const { close } = body.data.items[0].links;
  expect((await desk.send('POST', close, { key: finance(), body: {} })).body.message).toBe('reason is required');
  for (const _ of [1, 2]) {
    const closed = await desk.send('POST', close, { key: finance(), body: { reason: 'Their test order' } });
    expect(closed.body.data).toMatchObject({ closedBy: desk.people.finance.operatorId, note: 'Their test order' });
  }
  expect((await desk.send('POST', close, { body: { reason: 'Mine' } })).body.error.code).toBe('INVALID_STATE');
  expect((await desk.send('GET', '/api/ops/queue?kind=RECONCILIATION')).body.data.items).toEqual([]);
  expect(await desk.audited(differenceId)).toEqual(['reconciliation.close']);
});

test('money that came to the bank is booked once for each reference, and not with another amount', async () => {
  const transfer = { environment: 'sandbox', channel: 'TELEBIRR', amount: 500.5, bankReference: 'FT-100' };
  const book = (path: string, body: object) =>
    desk.send('POST', `/api/ops/bank-money/${path}`, { key: finance(), body });
  expect((await book('transfers', transfer)).status).toBe(201);
  expect((await book('transfers', transfer)).status).toBe(200);
  const other = await book('transfers', { ...transfer, amount: 1 });
  expect([other.status, other.body.error.code]).toEqual([409, 'DUPLICATE_REFERENCE']);
  const deposit = { environment: 'sandbox', amount: 20, bankReference: 'FT-101' };
  expect((await book('unmatched', deposit)).status).toBe(201);
  expect((await book('unmatched', { ...deposit, bankReference: '???' })).status).toBe(400);
  expect(await desk.audited('FT-100')).toEqual(['bank-money.transfer']);
  expect(await desk.audited('FT-101')).toEqual(['bank-money.unmatched']);
});
