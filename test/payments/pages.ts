import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import Koa from 'koa';

import { createLimits, type LimitSettings } from '../../src/http/limits.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheckoutPages } from '../../src/payments/checkout-page/routes.ts';
import type { NewSession } from '../../src/payments/create-session.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import { buildFixture, buildMerchant, buildSession, stateOfSession, type Fixture } from '../support/build.ts';
import { createTestDatabase } from '../support/database.ts';
import { NO_LIMITS } from '../support/http.ts';

export type Pages = Awaited<ReturnType<typeof servePages>>;
export type OpenPage = Awaited<ReturnType<Pages['open']>>;

export const PAY_FORM = { channel: 'TELEBIRR', phone: '0911000001' };

/** The hosted pages alone, with requests as a browser sends them. */
export async function servePages(fixture: Fixture, limits: Partial<LimitSettings> = {}) {
  const app = new Koa();
  const tokens = createTokenAuthenticator(fixture);
  app.use(createCheckoutPages({ ...fixture, limits: createLimits({ ...NO_LIMITS, ...limits }), tokens }).routes());
  const server: Server = createServer((request, response) => void app.callback()(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** A new session and its page. */
  async function open(scope: MerchantScope, wanted: Partial<NewSession> = {}) {
    const session = await buildSession(fixture, scope, wanted);
    const path = `/checkout/${session.sessionId}`;
    const cookie = `meskot_checkout=${session.clientToken}`;
    const get = (query = '', headers: Record<string, string> = {}) =>
      fetch(`${url}${path}${query}`, { headers: { cookie, ...headers }, redirect: 'manual' });
    const post = (verb: string, form: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      fetch(`${url}${path}/${verb}`, {
        method: 'POST',
        headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers },
        body: new URLSearchParams(form),
        redirect: 'manual',
      });
    const text = async (headers = {}) => (await get('', headers)).text();
    /** What the customer reads: the text of `main`, without markup. */
    const read = async (query = '') => readable(await (await get(query)).text());
    /** The id of the latest attempt. */
    const attempt = async (): Promise<string> => {
      const { id } = await fixture.db
        .knex()('payment_attempt')
        .where({ sessionId: session.sessionId })
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .first('id');
      return String(id);
    };
    return { ...session, path, cookie, get, post, text, read, attempt };
  }
  return { url, open, close: () => new Promise((resolve) => server.close(resolve)) };
}

export type StartedPages = Awaited<ReturnType<typeof startPages>>;

/** The hosted pages of one merchant, on a database of their own. Close them in afterAll. */
export async function startPages(merchantName?: string) {
  const { db, drop } = await createTestDatabase();
  const fixture = buildFixture(db);
  const scope = await buildMerchant(db, merchantName);
  const pages = await servePages(fixture);
  return {
    db,
    fixture,
    scope,
    url: pages.url,
    /** A new session of the merchant and its page. */
    open: (wanted: Partial<NewSession> = {}) => pages.open(scope, wanted),
    stateOf: ({ sessionId }: OpenPage) => stateOfSession(db, sessionId),
    close: async () => {
      await pages.close();
      await drop();
    },
  };
}

/** The text of a page's `main`. */
export function readable(page: string): string {
  const main = /<main.+<\/main>/s.exec(page)?.[0] ?? '';
  return main.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
}
