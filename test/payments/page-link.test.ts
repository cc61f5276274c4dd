import { createLimits } from '../../src/http/limits.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheckoutPages } from '../../src/payments/checkout-page/routes.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import { buildMerchant, buildSession, buildFixture, PENDING, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { NO_LIMITS, startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

const PATH = '/api/checkout/sessions';

describe("a session's checkoutUrl, read again", () => {
  let database: TestDatabase;
  let fixture: Fixture;
  let scope: MerchantScope;
  let server: TestServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    fixture = buildFixture(database.db);
    scope = await buildMerchant(database.db);
    server = await serve(fixture);
  });
  afterAll(async () => {
    await server.close();
    await database.drop();
  });

  async function serve(of: Fixture): Promise<TestServer> {
    const tokens = createTokenAuthenticator(of);
    const deps = testServerDeps(database.db, {
      ...tokens,
      routes: checkoutRoutes(of),
      routers: [createCheckoutPages({ ...of, limits: createLimits(NO_LIMITS), tokens })],
      clock: of.clock,
    });
    return startTestServer(deps, stubKey(scope.merchantId));
  }

  const read = async (sessionId: string, key?: string, from = server) =>
    (await from.send('GET', `${PATH}/${sessionId}`, key === undefined ? {} : { key })).body.data;

  /** What a customer sees who opens the address. */
  async function open(checkoutUrl: string) {
    const { pathname, search } = new URL(checkoutUrl);
    const first = await server.send('GET', pathname + search, { key: null });
    const cookie = first.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    return { first: first.status, page: await server.send('GET', pathname, { key: null, headers: { cookie } }) };
  }

  test('opens the page and equals the one of the creating response', async () => {
    const { body } = await server.send('POST', PATH, {
      body: { checkoutOrderNo: 'LINK-1', amount: 100.5, currency: 'ETB' },
    });
    const { checkoutUrl } = await read(body.data.sessionId);
    expect(checkoutUrl).toBe(body.data.checkoutUrl);
    const { first, page } = await open(checkoutUrl);
    expect([first, page.status]).toEqual([303, 200]);
    expect(page.text).toContain('LINK-1');
  });

  test('is present while a payment is in flight', async () => {
    const { sessionId, checkoutUrl } = await buildSession(fixture, scope);
    fixture.provider.returns(PENDING);
    await server.send('POST', `${PATH}/${sessionId}/pay`, { body: { channel: 'TELEBIRR', phone: '0911000001' } });
    expect(await read(sessionId)).toMatchObject({ status: 'PROCESSING', checkoutUrl });
  });

  test('is null once the session has ended', async () => {
    const { sessionId } = await buildSession(fixture, scope);
    const expired = await server.send('POST', `${PATH}/${sessionId}/expire`);
    expect(expired.body.data).toMatchObject({ status: 'EXPIRED', checkoutUrl: null });
    expect(await read(sessionId)).toMatchObject({ status: 'EXPIRED', checkoutUrl: null });
  });

  test('is null for a read-only key, because the address suffices to pay and cancel', async () => {
    const { sessionId, checkoutUrl } = await buildSession(fixture, scope);
    const reader = stubKey(scope.merchantId, 'sandbox', ['checkout:read']);
    expect(await read(sessionId, reader)).toMatchObject({ status: 'OPEN', checkoutUrl: null });
    const writer = stubKey(scope.merchantId, 'sandbox', ['checkout:read', 'checkout:write']);
    expect(await read(sessionId, writer)).toMatchObject({ status: 'OPEN', checkoutUrl });
  });

  test('is null where its token was derived with another secret, and the old address remains valid', async () => {
    const { sessionId, checkoutUrl } = await buildSession({ ...fixture, pepper: 'the-pepper-before-this' }, scope);
    expect(await read(sessionId)).toMatchObject({ status: 'OPEN', checkoutUrl: null });
    expect((await open(checkoutUrl)).page.status).toBe(200);
  });

  test('cannot be derived from the id of the session alone', async () => {
    const [one, other] = [await buildSession(fixture, scope), await buildSession(fixture, scope)];
    expect(one.clientToken).toMatch(/^[\w-]{43}$/);
    expect(one.clientToken).not.toBe(other.clientToken);
    const stolen = `${PATH}/${other.sessionId}/pay`;
    const answer = await server.send('POST', stolen, { key: null, headers: { 'x-client-token': one.clientToken } });
    expect(answer.status).toBe(401);
  });
});
