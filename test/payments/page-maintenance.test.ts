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

test('the checkout page lists a channel under maintenance with the time until its end, and takes no payment on it', async () => {
  const scope = await buildMerchant(database.db);
  await rows(
    database.db,
    `INSERT INTO channel_maintenance (id, channel, environment, starts_at, ends_at, reason, created_by)
     VALUES ('mnt_1', 'TELEBIRR', 'sandbox', now(), now() + interval '47 hours', 'Switch', 'opr_1')`,
  );
  const { sessionId, clientToken } = await buildSession(fixture, scope);
  const { port } = server.address() as AddressInfo;
  const cookie = `meskot_checkout=${clientToken}`;
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const page = async (more = '') =>
    (await fetch(`http://127.0.0.1:${port}/checkout/${sessionId}`, { headers: { cookie: cookie + more } })).text();

  const text = await page();
  expect(text).toMatch(/value="TELEBIRR" disabled/);
  expect(text).toContain('(under maintenance, back in 47 h)');
  expect(text).toMatch(/value="CBE_BIRR" required checked/);
  expect(await page('; meskot_language=am')).toContain('(ጥገና ላይ ነው፤ በ47 ሰዓት ውስጥ ይመለሳል)');
  const body = new URLSearchParams({ channel: 'TELEBIRR', phone: '0911000001' });
  const paid = await fetch(`http://127.0.0.1:${port}/checkout/${sessionId}/pay`, { method: 'POST', headers, body });
  expect([paid.status, Number(paid.headers.get('retry-after')) > 0]).toEqual([403, true]);
  expect(await paid.text()).toContain('This way of paying is not available now.');

  await rows(database.db, `UPDATE channel_maintenance SET ends_at = now(), starts_at = now() - interval '1 hour'`);
  expect(await page()).toMatch(/value="TELEBIRR" required/);
});
