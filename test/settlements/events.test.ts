import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { markCredited, markFailed, markSent } from '../../src/settlements/bank-results.ts';
import { addHoliday } from '../../src/settlements/calendar/operations.ts';
import { approveSettlement, cancelSettlement, rejectSettlement } from '../../src/settlements/decide.ts';
import { SETTLEMENT_EVENTS, SettlementData } from '../../src/settlements/events.ts';
import { updateDates } from '../../src/settlements/expected-dates.ts';
import { buildFixture, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { EVENT_CATALOGUE } from '../support/event-catalogue.ts';
import { expectLedgerHolds } from '../support/ledger.ts';
import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { buildFreeMerchant, fund } from '../support/withdrawals.ts';

let database: TestDatabase;
let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  database = await createTestDatabase();
  // A Friday before a weekend: two days do not count.
  fixture = buildFixture(database.db, { start: new Date('2025-01-17T06:30:00.000Z') });
  scope = await buildFreeMerchant(fixture);
  await fund(fixture, scope, 1_000_00n);
  await linkAccount(fixture, scope);
});
afterAll(async () => {
  await expectLedgerHolds(database.db);
  await database.drop();
});

const operator = () => ({ operatorId: 'opr_1', at: fixture.clock() });

async function approved(): Promise<string> {
  const { id } = await requestSettlement(fixture, scope);
  await fixture.runInTransaction((tx) => approveSettlement(tx, id, operator()));
  return id;
}

async function sent(): Promise<string> {
  const id = await approved();
  await fixture.runInTransaction((tx) => markSent(tx, id, { ...operator(), bankReference: 'FT1' }));
  return id;
}

const happen: Record<keyof typeof SETTLEMENT_EVENTS, () => Promise<string>> = {
  'settlement.requested': async () => (await requestSettlement(fixture, scope)).id,
  'settlement.processing': sent,
  'settlement.completed': async () => {
    const id = await sent();
    const credit = { ...operator(), bankReference: 'FT1', creditedAt: fixture.clock() };
    await fixture.runInTransaction((tx) => markCredited(tx, id, credit));
    return id;
  },
  'settlement.failed': async () => {
    const id = await sent();
    await fixture.runInTransaction((tx) => markFailed(tx, id, { ...operator(), reason: 'The account is closed.' }));
    return id;
  },
  'settlement.rejected': async () => {
    const { id } = await requestSettlement(fixture, scope);
    await fixture.runInTransaction((tx) => rejectSettlement(tx, id, { ...operator(), reason: 'Not now.' }));
    return id;
  },
  'settlement.canceled': async () => {
    const { id } = await requestSettlement(fixture, scope);
    await fixture.runInTransaction((tx) => cancelSettlement(tx, { id }, { actor: 'key_test', at: fixture.clock() }));
    return id;
  },
  // Last: the calendar is another one after it.
  'settlement.updated': async () => {
    const id = await approved();
    await fixture.runInTransaction((tx) =>
      addHoliday(tx, { date: '2025-01-21', name: 'National mourning', kind: 'closed' }),
    );
    await updateDates(fixture, id, fixture.clock());
    return id;
  },
};

test.each(Object.keys(happen) as (keyof typeof SETTLEMENT_EVENTS)[])(
  'the example of %s has the shape of what is really sent',
  async (event) => {
    const resourceId = await happen[event]();
    const [enqueued] = await rows<{ payload: Buffer }>(
      database.db,
      `SELECT payload FROM webhook_event WHERE resource_id = :resourceId AND event = :event
       ORDER BY CAST(convert_from(payload, 'UTF8') AS jsonb) #> '{data,version}' DESC LIMIT 1`,
      { resourceId, event },
    );
    const { data } = JSON.parse(String(enqueued?.payload));
    expect(SettlementData.safeParse(data).error).toBeUndefined();
    const example: Record<string, unknown> = EVENT_CATALOGUE[event].example;
    expect(shapeOf(example)).toEqual(shapeOf(data));
    const fixed = ({ status, version, effectiveDate, expectedBy, dateReasons }: Record<string, unknown>) => [
      status,
      version,
      effectiveDate,
      expectedBy,
      dateReasons,
    ];
    expect(fixed(example)).toEqual(fixed(data));
  },
);

/** The members in their order, and the type of each. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]);
}
