import { requestReconciliation } from '../../backoffice/reconciliation.ts';
import type { Config } from '../../config.ts';
import { DEMO_OPERATOR } from '../../demo/seed/operator.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Write } from '../../lib/command-line.ts';
import type { Knex } from '../../lib/db.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import { createTransactionRunner } from '../../outbox/record.ts';
import { createFindProvider } from '../../providers/find-provider.ts';
import { act } from './ops-decisions.ts';
import { runReconcileCommand } from './reconciliation.ts';

type Parts = { db: Knex; config: Pick<Config, 'simulator'>; write: Write };

/** Runs `meskot reconcile …`; `args` without the two words. Returns the exit code (reconciliation/cli.ts). */
export async function runReconcile(args: readonly string[], { db, config, write }: Parts): Promise<number> {
  const http = createHttpClient();
  const clock = systemClock;
  const deps = { findProvider: createFindProvider({ http, clock, ...config.simulator }), clock };
  // What it tells Temporal the worker takes from the outbox.
  const parts = { runInTransaction: createTransactionRunner(db, () => {}), clock, demoOperatorId: DEMO_OPERATOR.id };
  return runReconcileCommand(args, {
    db,
    clock,
    requestReconciliation: (wanted, options) =>
      act(parts, { options, action: 'reconciliation.run' }, (context) => requestReconciliation(context, wanted, deps)),
    write,
  }).finally(http.close);
}
