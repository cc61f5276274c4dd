import type { Route } from '../../src/http/route.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { findTransactionIds } from '../../src/payouts/refunds/queries.ts';
import { eventRoutes } from '../../src/webhooks/events/routes.ts';
import { subscriptionRoutes } from '../../src/webhooks/subscriptions/routes.ts';
import { startTestServer, testServerDeps, type TestServer } from '../support/http.ts';
import type { Fixture } from './fixture.ts';

/** All routes under /api/checkout/webhooks. */
export function webhookRoutes({ deps }: Fixture): Route[] {
  const find = (orderNo: string, scope: MerchantScope) => findTransactionIds(deps.db, orderNo, scope);
  return [...eventRoutes({ ...deps, findTransactionIds: find }), ...subscriptionRoutes(deps)];
}

/** The webhook management API over HTTP, on the fixture's database and clock. Close it in afterAll. */
export async function startWebhookApi(fixture: Fixture): Promise<TestServer> {
  const { db, deps, runInTransaction } = fixture;
  const routes = webhookRoutes(fixture);
  return startTestServer(testServerDeps(db, { routes, runInTransaction, keyRing: deps.keyRing, clock: deps.clock }));
}
