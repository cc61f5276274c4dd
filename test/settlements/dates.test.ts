import { endOfAddisDay } from '../../src/lib/dates.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { addHoliday } from '../../src/settlements/calendar/operations.ts';
import { enqueueCalendarChanged, updateDates } from '../../src/settlements/expected-dates.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { requestSettlement, linkAccount, stateOfSettlement } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;

beforeEach(async () => {
  database = await createTestDatabase();
  // A Friday: Monday is a business day, Tuesday is Timkat, so a settlement requested now is expected by Wednesday.
  fixture = buildFixture(database.db, { start: new Date('2027-01-15T09:00:00.000Z') });
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 1_000_00n);
  await linkAccount(fixture, scope);
});
afterEach(() => database.drop());

const closed = (date: string) =>
  fixture.runInTransaction((tx) => addHoliday(tx, { date, name: 'National mourning', kind: 'closed' }));

test('an overdue settlement with later expected days is no longer overdue, until the last of them is over', async () => {
  const { id } = await requestSettlement(fixture, scope);
  const late = endOfAddisDay('2027-01-20');
  await updateDates(fixture, id, late);
  expect(await stateOfSettlement(fixture.db, id)).toMatchObject({ expectedUntil: '2027-01-20', overdue: true });

  await closed('2027-01-18');
  expect(await updateDates(fixture, id, late)).toMatchObject({ expectedUntil: '2027-01-21', overdueAt: null });
  const later = endOfAddisDay('2027-01-21');
  expect(await updateDates(fixture, id, new Date(later.getTime() - 1))).toMatchObject({ overdueAt: null });
  expect(await updateDates(fixture, id, later)).toMatchObject({ overdueAt: later });
  expect(await stateOfSettlement(fixture.db, id)).toMatchObject({
    timeline: ['settlement.requested', 'settlement.overdue', 'expected_dates.changed', 'settlement.overdue'],
  });
});

test('an overdue settlement with later expected days that are over too keeps its overdue time', async () => {
  const { id } = await requestSettlement(fixture, scope);
  const late = endOfAddisDay('2027-01-20');
  await updateDates(fixture, id, late);
  await closed('2027-01-18');
  expect(await updateDates(fixture, id, endOfAddisDay('2027-01-21'))).toMatchObject({
    expectedUntil: '2027-01-21',
    overdueAt: late,
  });
  expect(await stateOfSettlement(fixture.db, id)).toMatchObject({
    timeline: ['settlement.requested', 'settlement.overdue', 'expected_dates.changed'],
  });
});

test.each([
  ['on the day before the request', '2027-01-14', 0],
  ['on the day of the request', '2027-01-15', 1],
  ['on the last expected day', '2027-01-20', 1],
  ['on the day after it, which another edit may have made the last', '2027-01-21', 1],
  ['30 days after it', '2027-02-19', 1],
  ['31 days after it', '2027-02-20', 0],
])('of a holiday %s, %s, %i settlement is notified', async (_when, day, notified) => {
  await requestSettlement(fixture, scope);
  const change = fixture.runInTransaction((tx) => enqueueCalendarChanged(tx, { from: day, until: day }));
  expect(await change).toBe(notified);
});
