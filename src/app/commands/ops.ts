import { workflowUrl, type Config } from '../../config.ts';
import { DEMO_OPERATOR } from '../../demo/seed/operator.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Write } from '../../lib/command-line.ts';
import type { Database } from '../../lib/db.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { createDocumentStore } from '../../merchants/kyc/store.ts';
import { createTransactionRunner } from '../../outbox/record.ts';
import { createFindProvider } from '../../providers/find-provider.ts';
import { operatorRoutesOf } from '../operator-routes.ts';
import { runOpsCommand } from './ops-commands.ts';

type OpsParts = { db: Database; config: Config; write: Write };

/** Runs `meskot ops …`; `args` without the two words. Returns the exit code (operators/cli.ts). */
export async function runOps(args: readonly string[], { db, config, write }: OpsParts): Promise<number> {
  const http = createHttpClient();
  const parts = {
    db,
    // What it tells Temporal the worker takes from the outbox.
    runInTransaction: createTransactionRunner(db, () => {}),
    clock: systemClock,
  };
  const routes = operatorRoutesOf({
    ...parts,
    pepper: config.API_KEY_PEPPER,
    findProvider: createFindProvider({ http, clock: systemClock, ...config.simulator }),
    store: createDocumentStore(config.KYC_DOCUMENTS_DIR, config.keyRing),
    workflowUrl: (workflowId) => workflowUrl(config, workflowId),
  });
  return runOpsCommand(args, { ...parts, routes, demoOperatorId: DEMO_OPERATOR.id, write }).finally(http.close);
}
