import type { Knex } from './lib/db.ts';
import type { Logger } from './lib/log.ts';
import type { FindOpen } from './lib/open-process.ts';
import type { RunChange } from './lib/outbox.ts';

export type RepairDeps = {
  db: Knex;
  runChange: RunChange;
  running: (workflowIds: string[]) => Promise<Set<string>>;
  /** Every kind of open row that must have a running workflow. */
  sources: FindOpen[];
  log: Logger;
};

const REPAIR_PAGE = 200;

/**
 * Compares all open rows with the running workflows, page by page, and wakes what Temporal has lost: with its whole
 * database deleted under us, everything open is started again (docs/adr/0002). Waking what runs does no harm.
 * @returns how many were woken.
 */
export async function repairOpen(deps: RepairDeps): Promise<number> {
  let woken = 0;
  for (const source of deps.sources) {
    let after = '';
    for (;;) {
      const page = await source(deps.db, after, REPAIR_PAGE);
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
      const running = await deps.running(page.map((one) => one.wake.workflowId));
      const lost = page.filter((one) => one.overdue || !running.has(one.wake.workflowId)).map((one) => one.wake);
      if (lost.length > 0) await deps.runChange(async (change) => change.tell(lost));
      woken += lost.length;
    }
  }
  if (woken > 0) deps.log.warn({ woken }, 'open rows had no workflow; they were woken');
  return woken;
}
