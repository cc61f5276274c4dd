import { createLimits } from '../../src/http/limits.ts';
import type { Listening } from '../../src/http/server.ts';
import { anyFreePort } from '../../src/lib/ports.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createCheckoutPages } from '../../src/payments/checkout-page/routes.ts';
import { checkoutRoutes } from '../../src/payments/session-routes.ts';
import { createTokenAuthenticator } from '../../src/payments/session.ts';
import type { FindProvider } from '../../src/providers/provider.ts';
import { buildFixture, buildMerchant, type Fixture } from '../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestServer, NO_LIMITS, testServerDeps } from '../support/http.ts';

/** The API of checkout and its pages, on a database of their own. */
export type CheckoutServer = {
  url: string;
  database: TestDatabase;
  fixture: Fixture;
  scope: MerchantScope;
  /** Listens, again after `stop`. */
  start: () => Promise<void>;
  /** Ends all connections. */
  stop: () => Promise<void>;
  close: () => Promise<void>;
};

/** Starts it; with scripted providers unless others are given. */
export async function startCheckoutServer(findProvider?: FindProvider): Promise<CheckoutServer> {
  const database = await createTestDatabase();
  const port = await anyFreePort();
  const url = `http://127.0.0.1:${port}`;
  const clock = () => new Date();
  const fixture = buildFixture(database.db, { clock, baseUrl: url, ...(findProvider && { findProvider }) });
  const tokens = createTokenAuthenticator(fixture);
  const pages = createCheckoutPages({ ...fixture, limits: createLimits(NO_LIMITS), tokens });
  const routes = checkoutRoutes(fixture);
  let listening: Listening | undefined;
  const start = async (): Promise<void> => {
    const deps = testServerDeps(database.db, { ...tokens, routes, routers: [pages], baseUrl: url });
    listening = await createTestServer(deps).listen(port, '127.0.0.1');
  };
  const stop = async (): Promise<void> => listening?.close({ deadlineMs: 0 });
  await start();
  return {
    url,
    database,
    fixture,
    scope: await buildMerchant(database.db),
    start,
    stop,
    close: async () => {
      await stop();
      await database.drop();
    },
  };
}
