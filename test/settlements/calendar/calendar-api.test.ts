import { addDays, daysFrom } from '../../../src/lib/dates.ts';
import { createTransactionRunner } from '../../../src/outbox/record.ts';
import { addHoliday } from '../../../src/settlements/calendar/operations.ts';
import { calendarRoutes } from '../../../src/settlements/calendar/routes.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../../support/http.ts';

let database: TestDatabase;
let server: TestServer;
/** 22:30 on the 20th in UTC is the 21st in Addis Ababa. */
let now = new Date('2026-11-20T22:30:00Z');

beforeAll(async () => {
  database = await createTestDatabase();
  const routes = calendarRoutes({ db: database.db, clock: () => now });
  server = await startTestServer(testServerDeps(database.db, { routes }), stubKey('mrc_1'));
});
beforeEach(() => {
  now = new Date('2026-11-20T22:30:00Z');
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

type Shown = { date: string; businessDay: boolean; reason: string | null };
const ask = (query: Record<string, string> = {}, key?: string | null) =>
  server.send('GET', `/api/checkout/calendar?${new URLSearchParams(query)}`, key === undefined ? {} : { key });
const days = async (query: Record<string, string> = {}): Promise<Shown[]> => (await ask(query)).body.data;

test('the calendar has for each day whether it is a business day, the reason, and its Ethiopian date', async () => {
  const answer = await ask({ startDate: '2027-01-15', endDate: '2027-01-19' });
  expect(answer.status).toBe(200);
  const open = { businessDay: true, reason: null, provisional: false };
  const shut = { businessDay: false, provisional: false };
  expect(answer.body.data).toEqual([
    { date: '2027-01-15', ...open, ethiopianDate: '7 Tir 2019' },
    { date: '2027-01-16', ...shut, reason: 'Saturday 16 January 2027', ethiopianDate: '8 Tir 2019' },
    { date: '2027-01-17', ...shut, reason: 'Sunday 17 January 2027', ethiopianDate: '9 Tir 2019' },
    { date: '2027-01-18', ...open, ethiopianDate: '10 Tir 2019' },
    { date: '2027-01-19', ...shut, reason: 'Timkat, Tuesday 19 January 2027', ethiopianDate: '11 Tir 2019' },
  ]);
});

test('the calendar without dates has the 30 days from today in Addis Ababa', async () => {
  expect((await days()).map(({ date }) => date)).toEqual(daysFrom('2026-11-21', '2026-12-20'));
});

test('the calendar with one date has 30 days from it or up to it', async () => {
  const from = await days({ startDate: '2026-03-01' });
  expect([from.length, from[0]?.date]).toEqual([30, '2026-03-01']);
  const until = await days({ endDate: '2026-03-30' });
  expect(until).toEqual(from);
});

test('the calendar has a closure as soon as an operator adds it, and Islamic holidays as provisional', async () => {
  const closure = { date: '2026-11-24', name: 'National mourning', kind: 'closed' } as const;
  await createTransactionRunner(database.db, () => {})((tx) => addHoliday(tx, closure));
  expect(await days({ startDate: '2026-11-24', endDate: '2026-11-24' })).toMatchObject([
    { businessDay: false, reason: 'National mourning, Tuesday 24 November 2026', provisional: false },
  ]);
  expect(await days({ startDate: '2027-03-09', endDate: '2027-03-09' })).toMatchObject([
    { businessDay: false, reason: 'Eid al-Fitr, Tuesday 9 March 2027', provisional: true },
  ]);
});

test('the calendar covers years without rows, up to its last day', async () => {
  const [genna] = await days({ startDate: '2050-01-07', endDate: '2050-01-07' });
  expect(genna).toMatchObject({ reason: 'Genna, Friday 7 January 2050', provisional: true });
  const last = await days({ startDate: '2100-12-20' });
  expect(last.map(({ date }) => date)).toEqual(daysFrom('2100-12-20', '2100-12-31'));
  const first = await days({ endDate: '2020-01-03' });
  expect(first.map(({ date }) => date)).toEqual(daysFrom('2020-01-01', '2020-01-03'));
});

test('the calendar returns a range of 93 days and rejects one of 94', async () => {
  const startDate = '2026-12-01';
  expect(await days({ startDate, endDate: addDays(startDate, 93) })).toHaveLength(94);
  const wide = await ask({ startDate, endDate: addDays(startDate, 94) });
  expect([wide.status, wide.body.error.code]).toEqual([400, 'DATE_RANGE_TOO_WIDE']);
  expect(wide.body.message).toContain('at most 93 days apart');
});

test.each([
  [{ startDate: '2026-13-01' }, 'VALIDATION_ERROR', 'startDate must be a date as YYYY-MM-DD, got "2026-13-01"'],
  [{ endDate: '' }, 'VALIDATION_ERROR', 'endDate must be a date as YYYY-MM-DD, got ""'],
  [
    { startDate: '2019-12-31' },
    'VALIDATION_ERROR',
    'startDate must be from 2020-01-01 to 2100-12-31, got "2019-12-31"',
  ],
  [{ endDate: '2101-01-01' }, 'VALIDATION_ERROR', 'endDate must be from 2020-01-01 to 2100-12-31, got "2101-01-01"'],
  [
    { startDate: '2026-12-02', endDate: '2026-12-01' },
    'INVALID_DATE_RANGE',
    'startDate must not be after endDate, got 2026-12-02 and 2026-12-01',
  ],
  [{ from: '2026-12-02' }, 'VALIDATION_ERROR', 'from is not a query parameter of this route'],
])('the calendar query %j is rejected', async (query, code, sentence) => {
  const answer = await ask(query as Record<string, string>);
  expect([answer.status, answer.body.error.code]).toEqual([400, code]);
  expect(answer.body.message).toContain(sentence);
});

test('the calendar is rejected without a key that may read transactions', async () => {
  expect((await ask({}, null)).status).toBe(401);
  const restricted = await ask({}, stubKey('mrc_1', 'sandbox', ['webhooks:read']));
  expect([restricted.status, restricted.body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  expect((await ask({}, stubKey('mrc_1', 'sandbox', ['transactions:read']))).status).toBe(200);
});
