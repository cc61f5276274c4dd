import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { startTestServer, testServerDeps, type TestServer } from '../support/http.ts';
import type { World } from './world.ts';

/** The webhook management API over HTTP, on the world's database and clock. Close it in afterAll. */
export async function startWebhookApi(world: World): Promise<TestServer> {
  const { db, deps, runInTransaction } = world;
  const routes = webhookRoutes(deps);
  return startTestServer(testServerDeps(db, { routes, runInTransaction, keyRing: deps.keyRing, clock: deps.clock }));
}
