import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import Koa from 'koa';

import { createLimits } from '../../src/http/limits.ts';
import { rows } from '../../src/lib/db.ts';
import { createCheckoutPages } from '../../src/payments/checkout-page/routes.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import { buildFixture, buildMerchant, buildSession, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS } from '../support/http.ts';

let database: TestDatabase;
let fixture: Fixture;
let server: Server;

beforeAll(async () => {
  database = await createTestDatabase();
  fixture = buildFixture(database.db);
  const pages = createCheckoutPages({
    ...fixture,
    limits: createLimits(NO_LIMITS),
    tokens: createTokenAuthenticator(fixture),
  });
  const app = new Koa();
  app.use(pages.routes());
  server = createServer((request, response) => void app.callback()(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await database.drop();
});

test('the checkout page lists a channel under maintenance with its end in Addis Ababa, and takes no payment on it', async () => {
  const scope = await buildMerchant(database.db);
  await rows(
    database.db,
    `INSERT INTO channel_maintenance (id, channel, environment, starts_at, ends_at, reason, created_by)
     VALUES ('mnt_1', 'TELEBIRR', 'sandbox', now(), date_trunc('day', now() + interval '2 days', 'UTC'), 'Switch', 'opr_1')`,
  );
  const [ends] = await rows<{ until: string }>(
    database.db,
    `SELECT to_char(ends_at AT TIME ZONE 'Africa/Addis_Ababa', 'YYYY-MM-DD HH24:MI') AS until FROM channel_maintenance`,
  );
  expect(ends?.until).toMatch(/ 03:00$/);
  const { sessionId, clientToken } = await buildSession(fixture, scope);
  const { port } = server.address() as AddressInfo;
  const headers = { cookie: `meskot_checkout=${clientToken}`, 'sec-fetch-site': 'same-origin' };
  const page = async (query = '') =>
    (await fetch(`http://127.0.0.1:${port}/checkout/${sessionId}${query}`, { headers })).text();

  const text = await page();
  expect(text).toMatch(/value="TELEBIRR" disabled/);
  expect(text).toContain(`(under maintenance until ${ends?.until} (Addis Ababa))`);
  expect(text).toMatch(/value="CBE_BIRR" required checked/);
  expect(await page('?lang=am')).toContain(`(እስከ ${ends?.until} (አዲስ አበባ) ጥገና ላይ ነው)`);
  const body = new URLSearchParams({ channel: 'TELEBIRR', phone: '0911000001' });
  const paid = await fetch(`http://127.0.0.1:${port}/checkout/${sessionId}/pay`, { method: 'POST', headers, body });
  expect([paid.status, Number(paid.headers.get('retry-after')) > 0]).toEqual([403, true]);
  expect(await paid.text()).toContain('This way of paying is not available now.');

  await rows(database.db, `UPDATE channel_maintenance SET ends_at = now(), starts_at = now() - interval '1 hour'`);
  expect(await page()).toMatch(/value="TELEBIRR" required/);
});
