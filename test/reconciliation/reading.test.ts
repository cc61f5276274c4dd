import { createRegistry } from '../../src/http/metrics.ts';
import { DAY_MS } from '../../src/lib/dates.ts';
import { rows } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import type { StatementPage, StatementRow } from '../../src/providers/provider.ts';
import { importNextPage, type Import } from '../../src/reconciliation/import.ts';
import { DISCREPANCY_REVIEW_ITEMS, measureReconciliation } from '../../src/reconciliation/monitoring.ts';
import { requestRun, requestLastDays } from '../../src/reconciliation/request.ts';
import { findRecoverableRuns } from '../../src/reconciliation/runs.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { createReconciliationFixture, NOON, readDay, TODAY, type ReconciliationFixture } from './fixture.ts';

const ID = `sandbox-TELEBIRR-${TODAY}`;
let fixture: ReconciliationFixture;
beforeEach(async () => {
  fixture = await createReconciliationFixture();
});
afterEach(async () => {
  await expectLedgerHolds(fixture.db);
  await fixture.close();
});

const ask = (wanted: Parameters<typeof requestRun>[2]) =>
  fixture.runInTransaction((tx) => requestRun(tx, fixture, wanted));
const startImport = () => fixture.steps.startImport(ID, fixture.clock());

/** Three pages of two rows each. */
function listOfThreePages(): string[] {
  const ids = Array.from({ length: 6 }, () => newId('pat')).toSorted();
  const rowOf = (orderId: string): StatementRow => ({
    orderId,
    type: 'payment',
    amountSantim: 1_00n,
    currency: 'ETB',
    providerReference: `REF-${orderId}`,
    at: NOON,
  });
  fixture.alterLists((_page, { cursor }) => {
    const from = Number(cursor ?? 0);
    return { kind: 'page', rows: ids.slice(from, from + 2).map(rowOf), next: from < 4 ? String(from + 2) : null };
  });
  return ids;
}
const listed = async () =>
  (await fixture.db.knex()('statementRow').orderBy('orderId')).map(({ orderId }) => orderId as string);
const storedRun = () => readDay(fixture.db);
test('a statement is imported page by page, and another process continues where one has crashed', async () => {
  const ids = listOfThreePages();
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  const reading = await startImport();
  expect(await fixture.steps.importNextPage(reading)).toEqual({ kind: 'more', pages: 1 });
  expect(await listed()).toEqual(ids.slice(0, 2));
  expect(await fixture.steps.importNextPage(reading)).toEqual({ kind: 'more', pages: 2 });
  expect(await fixture.steps.importNextPage(reading)).toEqual({ kind: 'end', pages: 3 });
  expect(await fixture.steps.importNextPage(reading)).toEqual({ kind: 'end', pages: 3 });
  expect(await listed()).toEqual(ids);
});

test('two concurrent imports of one page store it once and skip none', async () => {
  const ids = listOfThreePages();
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  const reading = await startImport();
  for (let turn = 0; turn < 3; turn += 1) await Promise.all([1, 2].map(() => fixture.steps.importNextPage(reading)));
  expect(await listed()).toEqual(ids);
});

test('a slow call that gets the end of the statement for an outdated page does not end the import', async () => {
  const ids = listOfThreePages();
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  const reading = await startImport();
  const slow = readSlowly(reading);
  await slow.asked;
  expect(await fixture.steps.importNextPage(reading)).toEqual({ kind: 'more', pages: 1 });
  slow.answer({ kind: 'page', rows: [], next: null });
  expect(await slow.page).toEqual({ kind: 'more', pages: 0 });
  expect(await storedRun()).toMatchObject({
    completedImportNo: 0,
    pages: 1,
    cursor: '2',
  });
  await expect(fixture.steps.compareDay(ID, fixture.clock())).rejects.toMatchObject({ code: 'INVALID_STATE' });
  while ((await fixture.steps.importNextPage(reading)).kind !== 'end');
  expect(await listed()).toEqual(ids);
});

/** A call for the next page whose answer is late; other calls are answered as before. */
function readSlowly(reading: Import) {
  const [asked, answered] = [signal<void>(), signal<StatementPage>()];
  const find: typeof fixture.findProvider = (...place) => {
    const provider = fixture.findProvider(...place);
    const statement = async () => {
      asked.give();
      return answered.given;
    };
    return provider && { ...provider, statement };
  };
  const page = importNextPage({ ...fixture, findProvider: find }, reading);
  return { page, asked: asked.given, answer: answered.give };
}

function signal<T>() {
  let give: (value: T) => void = () => {};
  const given = new Promise<T>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

test('rows that the next page repeats are stored once and do not end the import', async () => {
  const ids = listOfThreePages();
  const row = { type: 'payment', amountSantim: 1_00n, currency: 'ETB', at: NOON } as const;
  // Each page begins with the last row of the one before; the third has nothing new at all.
  const pages = [ids.slice(0, 2), ids.slice(1, 4), ids.slice(2, 4), ids.slice(3)];
  fixture.alterLists((_page, { cursor }) => {
    const nth = Number(cursor ?? 0);
    const rows = (pages[nth] ?? []).map((orderId) => ({ ...row, orderId, providerReference: `REF-${orderId}` }));
    return { kind: 'page', rows, next: nth + 1 < pages.length ? String(nth + 1) : null };
  });
  expect(await fixture.compare('TELEBIRR')).toEqual({ status: 'DISCREPANCIES', discrepancies: 6 });
  expect(await listed()).toEqual(ids);
  expect(await storedRun()).toMatchObject({ pages: 4, listed: { payments: { count: 6, santim: '600' } } });
});

test('a page that is unavailable or malformed is unknown, and the import continues with it later', async () => {
  const ids = listOfThreePages();
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  const reading = await startImport();
  await fixture.steps.importNextPage(reading);
  const away = { kind: 'unknown', reason: 'http', message: '500' } as const;
  const nonsense = { kind: 'page' as const, rows: [], next: '2' };
  for (const page of [away, nonsense]) {
    fixture.alterLists(() => page);
    expect(await fixture.steps.importNextPage(reading)).toMatchObject({ kind: 'unknown' });
  }
  fixture.alterLists(() => ({ kind: 'page', next: null, rows: [{ ...rowWith('pat_\u0000'), at: NOON }] }));
  expect(await fixture.steps.importNextPage(reading)).toEqual({ kind: 'unknown', reason: 'unreadable' });
  expect(await listed()).toEqual(ids.slice(0, 2));
  expect(await storedRun()).toMatchObject({
    status: 'INCOMPLETE',
    completedImportNo: 0,
    pages: 1,
  });
});

const rowWith = (orderId: string): Omit<StatementRow, 'at'> => ({
  orderId,
  type: 'payment',
  amountSantim: 1n,
  currency: 'ETB',
  providerReference: 'R',
});

test('an import throws INVALID_STATE once a later one has started, and a restarted one loses no rows', async () => {
  const ids = listOfThreePages();
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  const old = await startImport();
  await fixture.steps.importNextPage(old);
  const reading = await startImport();
  await expect(fixture.steps.importNextPage(old)).rejects.toMatchObject({ code: 'INVALID_STATE' });
  await fixture.steps.importNextPage(reading);
  const restarted = await startImport();
  while ((await fixture.steps.importNextPage(restarted)).kind !== 'end');
  expect(await listed()).toEqual(ids);
  await expect(fixture.steps.startImport('sandbox-AWASH-2020-01-01', fixture.clock())).rejects.toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('an abandoned day is INCOMPLETE and keeps its open discrepancies', async () => {
  listOfThreePages();
  await fixture.compare('TELEBIRR');
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  const reading = await startImport();
  expect(await fixture.steps.abandonRun(reading, 'a bell\u0007')).toEqual({ status: 'INCOMPLETE', discrepancies: 6 });
  const given = { status: 'INCOMPLETE', isRunning: false, error: 'a bell ' };
  expect(await storedRun()).toMatchObject(given);
  const [waiting] = await rows<{ kind: string; what: string }>(
    fixture.db,
    `SELECT * FROM (${DISCREPANCY_REVIEW_ITEMS.sql}) each WHERE kind = 'RECONCILIATION_FAILED'`,
  );
  expect(waiting?.what).toBe('The day could not be compared. Request it again. Error: a bell ');
  await startImport();
  await fixture.steps.abandonRun(reading, 'late');
  expect(await storedRun()).toMatchObject({ isRunning: true, error: null });
});

test('a day that is requested during its comparison stays running, for the next workflow', async () => {
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  const reading = await startImport();
  await fixture.steps.importNextPage(reading);
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  await fixture.steps.compareDay(ID, fixture.clock());
  expect(await storedRun()).toMatchObject({ status: 'CLEAN', isRunning: true });
  await fixture.db.knex()('outbox').delete();
  expect(await findRecoverableRuns(fixture.db, { after: '', limit: 10, onlyPastDue: false })).toMatchObject([
    { id: ID },
  ]);
  await fixture.compare('TELEBIRR');
  expect(await storedRun()).toMatchObject({ status: 'CLEAN', isRunning: false });
});

test('a statement whose pages form a circle or never end stops the import', async () => {
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  for (const [tail, length] of [
    [0, 2],
    [3, 5],
    [1, 1],
    [17, 3],
  ] as const) {
    // Pages 0 … tail are followed by a circle of so many.
    fixture.alterLists((_page, { cursor }) => {
      const nth = Number(cursor ?? 0) + 1;
      return { kind: 'page', rows: [], next: String(nth < tail + length + 1 ? nth : tail + 1) };
    });
    const reading = await startImport();
    let page = await fixture.steps.importNextPage(reading);
    let pages = 1;
    for (; page.kind === 'more' && pages < 200; pages += 1) page = await fixture.steps.importNextPage(reading);
    expect(page.kind).toBe(length === 1 ? 'unknown' : 'endless');
    expect(pages).toBeLessThan(4 * (tail + length) + 4);
    expect(await storedRun()).toMatchObject({
      completedImportNo: 0,
      error: expect.stringContaining('lead'),
    });
  }
  let asked = 0;
  fixture.alterLists((_page) => ({ kind: 'page', rows: [], next: String((asked += 1)) }));
  const reading = await startImport();
  const importNo = reading.importNo;
  await fixture.db.knex()('reconciliationStatement').update({ pages: 19_999, importNo, cursor: null, loopGuard: null });
  expect(await fixture.steps.importNextPage(reading)).toEqual({ kind: 'more', pages: 20_000 });
  expect(await fixture.steps.importNextPage(reading)).toEqual({ kind: 'endless' });
  expect(asked).toBe(1);
  expect(await storedRun()).toMatchObject({
    error: 'the statement has more than 20000 pages',
  });
});

test('a request without a channel is for all channels with a provider, and an invalid day answers VALIDATION_ERROR', async () => {
  expect(await ask({ day: TODAY })).toHaveLength(3);
  expect(await ask({ day: TODAY, channel: 'AWASH' })).toEqual([
    { environment: 'sandbox', channel: 'AWASH', day: TODAY },
  ]);
  for (const wanted of [
    { day: '2026-03-03' },
    { day: '2026-02-30' },
    { day: 'today' },
    { day: TODAY, channel: 'MPESA' as const },
    { day: TODAY, environment: 'live' as const },
  ]) {
    await expect(ask(wanted)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  }
  const signals = fixture.enqueued.filter(({ workflowType }) => workflowType === 'reconciliation');
  expect(signals.map(({ workflowId, signal }) => [workflowId, signal])).toContainEqual([
    `reconciliation-${ID}`,
    'rerunRequested',
  ]);
  expect(await fixture.db.knex()('reconciliation').where({ isRunning: true })).toHaveLength(3);
});

test('the nightly request is for yesterday and the three days before it', async () => {
  const days = await fixture.runInTransaction((tx) => requestLastDays(tx, fixture));
  expect(days).toHaveLength(12);
  expect([...new Set(days.map(({ day }) => day))]).toEqual(['2026-03-01', '2026-02-28', '2026-02-27', '2026-02-26']);
});

test('a requested run without a workflow is found, with the message that restarts it', async () => {
  await ask({ day: TODAY, channel: 'TELEBIRR' });
  await fixture.db.knex()('outbox').delete();
  // The instant of asking is the test's clock, long ago.
  const open = await findRecoverableRuns(fixture.db, { after: '', limit: 10, onlyPastDue: false });
  expect(open).toMatchObject([{ id: ID, message: { workflowId: `reconciliation-${ID}`, kind: 'signalWithStart' } }]);
  expect(await findRecoverableRuns(fixture.db, { after: ID, limit: 10, onlyPastDue: false })).toEqual([]);
  await fixture.compare('TELEBIRR');
  await fixture.db.knex()('outbox').delete();
  expect(await findRecoverableRuns(fixture.db, { after: '', limit: 10, onlyPastDue: false })).toEqual([]);
});

test('the metrics count discrepancies, runs and failed days, and the age of the last clean day of a channel', async () => {
  const registry = createRegistry('worker');
  measureReconciliation(registry, fixture.db);
  const figure = async (name: string, channel = '') => {
    const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith(name));
    const line = lines.find((one) => one.includes(channel) && !one.includes('live'));
    return line?.split(' ').at(-1);
  };
  expect(await figure('meskot_reconciliation_last_clean_age_seconds', 'AWASH')).toBe('Nan');
  listOfThreePages();
  await fixture.compare('TELEBIRR');
  fixture.alterLists((page) => page);
  await fixture.compare('AWASH');
  expect(await figure('meskot_reconciliation_discrepancies_pending')).toBe('6');
  expect(await figure('meskot_reconciliation_runs_active')).toBe('0');
  expect(await figure('meskot_reconciliation_days_failed')).toBe('0');
  await fixture.steps.abandonRun({ reconciliationId: `sandbox-AWASH-${TODAY}`, importNo: 1 }, null);
  expect(await figure('meskot_reconciliation_days_failed')).toBe('1');
  const age = Number(await figure('meskot_reconciliation_last_clean_age_seconds', 'AWASH'));
  expect(age).toBeGreaterThan((Date.now() - NOON.getTime() - DAY_MS) / 1_000);
  expect(await figure('meskot_reconciliation_last_clean_age_seconds', 'TELEBIRR')).toBe('Nan');
});
