import { createToken, findToken, useToken, type UserToken } from '../../../src/access/users/tokens.ts';
import { DAY_MS, HOUR_MS } from '../../../src/lib/dates.ts';
import { buildMerchant } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

const AT = new Date('2026-03-02T09:00:00.000Z');
const TEN_MINUTES_MS = 600_000;
const someone = { email: 'almaz@example.com' };

let database: TestDatabase;
let merchantId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ merchantId } = await buildMerchant(database.db));
});
afterAll(() => database.drop());

test.each<[UserToken['purpose'], number, object]>([
  ['second-factor', TEN_MINUTES_MS, someone],
  ['console-second-factor', TEN_MINUTES_MS, someone],
  ['passkey', TEN_MINUTES_MS, {}],
  ['new-passkey', TEN_MINUTES_MS, someone],
  ['reset', HOUR_MS, someone],
  ['sign-up', DAY_MS, someone],
  ['invitation', 3 * DAY_MS, { ...someone, role: 'viewer', invites: true }],
  ['operator-invitation', 3 * DAY_MS, someone],
  ['key', 3 * DAY_MS, { key: { rotates: 'key_1' }, invites: true }],
])('a token of the purpose %s can be used until %i ms after its creation, once', async (purpose, lifeMs, about) => {
  const { invites, ...of } = { invites: false, ...about };
  const wanted = { purpose, ...of, ...(invites && { merchantId }) };
  const { token, row } = await database.db.transaction((trx) => createToken(trx, wanted, AT));
  const [end, last] = [AT.getTime() + lifeMs, AT.getTime() + lifeMs - 1].map((ms) => new Date(ms)) as [Date, Date];
  expect(row.expiresAt).toEqual(end);
  const use = (at: Date) => database.db.transaction((trx) => useToken(trx, { purpose, token, at }));
  expect([await findToken(database.db, { purpose, token, at: end }), await use(end)]).toEqual([null, null]);
  expect(await findToken(database.db, { purpose, token, at: last })).toMatchObject({ id: row.id });
  expect(await use(last)).toMatchObject({ id: row.id });
  expect([await findToken(database.db, { purpose, token, at: last }), await use(last)]).toEqual([null, null]);
});
