import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Page } from '../../src/lib/pagination.ts';
import {
  beginComparison,
  lockDay,
  writeFound,
  closeDiscrepancy,
  listDiscrepancies,
} from '../../src/reconciliation/discrepancies.ts';
import { matchDay } from '../../src/reconciliation/match.ts';
import { anOrder } from '../providers/sandbox.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationFixture, MINUTE_MS, TODAY, type ReconciliationFixture } from './fixture.ts';

let fixture: ReconciliationFixture;
beforeEach(async () => {
  fixture = await createReconciliationFixture();
});
afterEach(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

const FIRST: Page = { limit: 20, page: 1, after: null };
const listOpen = async () => (await listDiscrepancies(fixture.db, { state: 'OPEN' }, FIRST)).rows;
const close = (id: string, operatorId = 'opr_1') =>
  fixture.runInTransaction((tx) => closeDiscrepancy(tx, id, { operatorId, reason: 'A walk-in.', at: fixture.clock() }));
const day = async () => fixture.db.knex()('reconciliation').where({ channel: 'TELEBIRR' }).first();

/** Money that the provider lists and that is unknown here. */
async function foreignMoney(): Promise<string> {
  const order = anOrder('http://127.0.0.1:9', { expiresAt: new Date(fixture.clock().getTime() + 30 * MINUTE_MS) });
  await fixture.findProvider('TELEBIRR', 'sandbox')?.initiate(order);
  await fixture.live(2_000);
  return order.orderId;
}

test('closing the last discrepancy with a reason makes the day CLEAN, and a later comparison does not reopen it', async () => {
  const orderId = await foreignMoney();
  await fixture.compare('TELEBIRR');
  const [found] = await listOpen();
  expect(found).toMatchObject({
    environment: 'sandbox',
    channel: 'TELEBIRR',
    day: TODAY,
    kind: 'UNKNOWN_ORDER',
    orderId,
    listedSantim: 100_50n,
    listedCurrency: 'ETB',
  });
  const id = found?.id ?? '';
  expect(await close(id)).toMatchObject({ closedBy: 'opr_1', resolutionNote: 'A walk-in.' });
  expect(await close(id)).toMatchObject({ closedBy: 'opr_1' });
  await expect(close(id, 'opr_2')).rejects.toMatchObject({ code: 'INVALID_STATE' });
  await expect(close('rcd_00000000000000000000000000')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await day()).toMatchObject({ status: 'CLEAN', lastCleanAt: null });

  await fixture.live(MINUTE_MS);
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'CLEAN', discrepancies: 0 });
  expect(await listOpen()).toEqual([]);
});

test('a comparison reopens a closed discrepancy when its figures change', async () => {
  await foreignMoney();
  await fixture.compare('TELEBIRR');
  await close((await listOpen())[0]?.id ?? '');
  fixture.alterLists((page) =>
    page.kind === 'unknown' ? page : { ...page, rows: page.rows.map((row) => ({ ...row, amountSantim: 7n })) },
  );
  expect((await fixture.compare('TELEBIRR')).status).toBe('DISCREPANCIES');
  expect(await listOpen()).toMatchObject([{ listedSantim: 7n, closedAt: null }]);
  expect((await listDiscrepancies(fixture.db, {}, FIRST)).pagination.total).toBe(2);
});

/** A statement with so much money that is unknown here. */
function listForeign(count: number): void {
  const ids = Array.from({ length: count }, () => newId('pat'));
  const row = { type: 'payment', amountSantim: 1_00n, currency: 'ETB', at: fixture.clock() } as const;
  fixture.alterLists((page) =>
    page.kind === 'unknown'
      ? page
      : { kind: 'page', next: null, rows: ids.map((orderId) => ({ ...row, orderId, providerReference: orderId })) },
  );
}

test('a day with more discrepancies than a batch stores and counts all of them, and is CLEAN once the last is closed', async () => {
  await fixture.simulator.fault({ kind: 'listDropped', next: 1 });
  const booked = await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  await fixture.checkAttempt(booked.attemptId, { notifyWorkflow: false });
  listForeign(6_001);
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 6_002 });
  expect((await listDiscrepancies(fixture.db, { state: 'OPEN' }, FIRST)).pagination.total).toBe(6_002);
  // The one that is found last of all.
  expect((await listDiscrepancies(fixture.db, { kind: 'MISSING_FROM_STATEMENT' }, FIRST)).rows).toMatchObject([
    { orderId: booked.attemptId },
  ]);

  await rows(
    fixture.db,
    `UPDATE reconciliation_discrepancy SET closed_at = now(), closed_by = 'opr_1', resolution_note = 'Looked into.'
     WHERE id IN (SELECT id FROM reconciliation_discrepancy WHERE kind = 'UNKNOWN_ORDER' LIMIT 5000)`,
  );
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1_002 });
  listForeign(0);
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
});

test('a comparison writes nothing once a later one has started', async () => {
  await foreignMoney();
  const ended = await fixture.compare('TELEBIRR');
  const id = `sandbox-TELEBIRR-${TODAY}`;
  const old = await beginComparison(fixture.db, id);
  await beginComparison(fixture.db, id);
  await matchDay(fixture.db, id, async (found) => {
    if (found.length > 0) {
      const written = fixture.runInTransaction((tx) => writeFound(tx, old, { found, at: fixture.clock() }));
      await expect(written).rejects.toMatchObject({ code: 'INVALID_STATE' });
    }
  });
  await expect(fixture.runInTransaction(({ trx }) => lockDay(trx, old))).rejects.toMatchObject({
    code: 'INVALID_STATE',
  });
  expect(await listOpen()).toHaveLength(ended.discrepancies);
});

test('closing the last discrepancy during a comparison does not make the day CLEAN', async () => {
  await foreignMoney();
  await fixture.compare('TELEBIRR');
  await fixture.db.knex()('reconciliation').update({ isRunning: true });
  await close((await listOpen())[0]?.id ?? '');
  expect(await day()).toMatchObject({ status: 'DISCREPANCIES', isRunning: true });
});

test('a discrepancy that a comparison closed is another row when it reappears', async () => {
  await foreignMoney();
  await fixture.compare('TELEBIRR');
  fixture.alterLists((page) => (page.kind === 'unknown' ? page : { ...page, rows: [] }));
  await fixture.compare('TELEBIRR');
  fixture.alterLists((page) => page);
  expect((await fixture.compare('TELEBIRR')).status).toBe('DISCREPANCIES');
  const { rows: all } = await listDiscrepancies(fixture.db, { kind: 'UNKNOWN_ORDER', day: TODAY }, FIRST);
  expect(all.map(({ closedAt, resolutionNote }) => [closedAt !== null, resolutionNote])).toEqual([
    [false, null],
    [true, 'A later comparison no longer found it.'],
  ]);
});

test('listing discrepancies applies its filters and continues at a cursor', async () => {
  for (let nth = 0; nth < 3; nth += 1) await foreignMoney();
  await fixture.compare('TELEBIRR');
  expect((await listDiscrepancies(fixture.db, { channel: 'AWASH' }, FIRST)).rows).toEqual([]);
  expect((await listDiscrepancies(fixture.db, { environment: 'live' }, FIRST)).rows).toEqual([]);
  const one = await listDiscrepancies(fixture.db, { state: 'OPEN' }, { ...FIRST, limit: 2 });
  expect([one.rows.length, one.pagination.total]).toEqual([2, 3]);
  const last = one.rows.at(-1);
  const after = { at: last?.position ?? '', id: last?.id ?? '' };
  const two = await listDiscrepancies(fixture.db, { state: 'OPEN' }, { limit: 2, page: 2, after });
  expect(new Set([...one.rows, ...two.rows].map(({ id }) => id)).size).toBe(3);
});

test('a held payment that no statement lists is a discrepancy of its attempt', async () => {
  const paid = await fixture.pay('CBE_BIRR', '0911000008');
  await fixture.live(2_000);
  await fixture.checkAttempt(paid.attemptId, { notifyWorkflow: false });
  fixture.alterLists((page) => (page.kind === 'unknown' ? page : { ...page, rows: [] }));
  expect(await fixture.compare('CBE_BIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  expect(await fixture.open()).toMatchObject([
    { kind: 'MISSING_FROM_STATEMENT', type: 'payment', orderId: paid.attemptId, orderStatus: 'HELD' },
  ]);
});

test('an unlisted payment next to midnight is no discrepancy while the neighbouring day was not imported', async () => {
  // Noon there: 23:55.
  await fixture.live((11 * 60 + 55) * MINUTE_MS);
  await fixture.simulator.fault({ kind: 'listDropped', next: 1 });
  const { attemptId } = await fixture.pay('TELEBIRR');
  await fixture.live(2_000);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'CLEAN', discrepancies: 0 });
  await fixture.live(10 * MINUTE_MS);
  await fixture.compare('TELEBIRR', '2026-03-03');
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 1 });
  expect(await listOpen()).toMatchObject([{ kind: 'MISSING_FROM_STATEMENT', orderId: attemptId, day: TODAY }]);
});

test('a payment that is paid before midnight and posted after it belongs to the day that lists it', async () => {
  await fixture.live((11 * 60 + 59) * MINUTE_MS);
  const { attemptId } = await fixture.pay('TELEBIRR');
  await fixture.live(5 * MINUTE_MS);
  await fixture.checkAttempt(attemptId, { notifyWorkflow: false });
  expect(await fixture.compare('TELEBIRR', '2026-03-03')).toMatchObject({ status: 'CLEAN' });
  expect(await fixture.compare('TELEBIRR')).toMatchObject({ status: 'CLEAN' });
  expect(await fixture.compare('TELEBIRR', '2026-03-03')).toMatchObject({ status: 'CLEAN' });
  const days = await rows(
    fixture.db,
    "SELECT CAST(day AS text) AS day, listed #> '{payments,count}' AS listed, booked #> '{payments,count}' AS booked FROM reconciliation ORDER BY day",
  );
  expect(days).toEqual([
    { day: '2026-03-02', listed: 1, booked: 1 },
    { day: '2026-03-03', listed: 0, booked: 0 },
  ]);
});
