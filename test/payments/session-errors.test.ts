import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { buildMerchant, buildFixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestServer, stubKey, testServerDeps, type TestServer } from '../support/http.ts';

const ORDER = { checkoutOrderNo: 'REFUSED-1', amount: 100.5, currency: 'ETB' };

describe('a session', () => {
  let database: TestDatabase;
  let server: TestServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    const fixture = buildFixture(database.db);
    const { merchantId } = await buildMerchant(database.db);
    server = await startTestServer(
      testServerDeps(database.db, { routes: checkoutRoutes(fixture) }),
      stubKey(merchantId),
    );
  });
  afterAll(async () => {
    await server.close();
    await database.drop();
  });

  test.each([
    [{ amount: 1e20 }, 'amount', /^must be more than 0 and at most 90000000000000, with at most two decimals, got 1/],
    [{ amount: 700_000 }, 'amount', /^must be at most 600000\.00 ETB on AWASH, got 700000\.00$/],
    [{ amount: 100_000, channels: ['TELEBIRR'] }, 'amount', /^must be at most 75000\.00 ETB on TELEBIRR/],
    [{ amount: 0.5 }, 'amount', /^must be at least 1\.00 ETB on/],
    [{ channels: ['TELEBIRR', 'MPESA'] }, 'channels.1', /^MPESA is announced as coming soon/],
  ])('%j is refused at %s, with the limit that matters', async (tx, field, issue) => {
    const answer = await server.send('POST', '/api/checkout/sessions', { body: { ...ORDER, ...tx } });
    expect(answer.body.error.details).toMatchObject([{ field, issue: expect.stringMatching(issue) }]);
    expect(answer.body.message).toMatch(new RegExp(issue.source.slice(1)));
  });
});
