import type { Config } from '../../config.ts';
import { DEMO_OPERATOR } from '../../demo/seed/operator.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Write } from '../../lib/command-line.ts';
import type { Database } from '../../lib/db.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { createTransactionRunner } from '../../outbox/record.ts';
import { createFindProvider } from '../../providers/find-provider.ts';
import { reconciliationOperatorRoutes } from '../../reconciliation/operator-routes.ts';
import { callRoute } from './call-route.ts';
import { runReconcileCommand } from './reconciliation.ts';

type Parts = { db: Database; config: Pick<Config, 'simulator'>; write: Write };

/** Runs `meskot reconcile …`; `args` without the two words. Returns the exit code. */
export async function runReconcile(args: readonly string[], { db, config, write }: Parts): Promise<number> {
  const http = createHttpClient();
  const clock = systemClock;
  const findProvider = createFindProvider({ http, clock, ...config.simulator });
  // The worker forwards the outbox to Temporal.
  const runInTransaction = createTransactionRunner(db, () => {});
  const routes = reconciliationOperatorRoutes({ db, clock, findProvider });
  const parts = { db, runInTransaction, routes, demoOperatorId: DEMO_OPERATOR.id };
  return runReconcileCommand(args, {
    db,
    clock,
    requestReconciliation: (body, by) =>
      callRoute(parts, by, { method: 'POST', path: '/api/ops/reconciliation/run', body }),
    write,
  }).finally(http.close);
}
