import { rows, type Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { RunInTransaction } from './record.ts';
import type { FindRecoverable } from './recoverable.ts';

export type RepairDeps = {
  db: Knex;
  runInTransaction: RunInTransaction;
  running: (workflowIds: string[]) => Promise<Set<string>>;
  /** Every kind of open row that must have a running workflow. */
  sources: FindRecoverable[];
  /** Whether Temporal can be asked at all. */
  reachable: () => boolean;
  log: Logger;
};

export type Repair = {
  /** Has all open rows compared next time, for Temporal was away and may have lost any workflow. */
  wantFull: () => void;
  /** How many were woken; null when it is not due, or another worker is at it. */
  run: () => Promise<number | null>;
};

const REPAIR_PAGE = 200;
/** From one run to the next, whichever worker makes it. */
const EVERY_SECONDS = 10;
/** From one run over all open rows to the next, where Temporal was never away. */
const FULL_EVERY_SECONDS = 3_600;
/** How long the others leave it to a worker that is at it: longer than a page takes. */
const TURN_SECONDS = 60;

/**
 * Compares open rows with the running workflows and wakes what Temporal has lost: with its whole database deleted under
 * us, everything open is started again (docs/adr/0002). One worker at a time, at most every 10 s; all rows after an
 * absence and once an hour, else only what is past due. Waking what runs does no harm.
 */
export function createRepair(deps: RepairDeps): Repair {
  let isFullWanted = false;
  return {
    wantFull: () => {
      isFullWanted = true;
    },
    run: async () => {
      if (isFullWanted) await rows(deps.db, REQUEST_FULL);
      isFullWanted = false;
      const turn = deps.reachable() ? await acquireLock(deps.db) : undefined;
      if (!turn) return null;
      const restarted = await restartLostWorkflows(deps, !turn.isFull).catch(async (error: unknown) => {
        // The next run is not kept waiting for a turn that has failed.
        await releaseTurn(deps.db);
        throw error;
      });
      await endTurn(deps.db, turn);
      // To be expected after an absence, and of a database that has just been filled.
      const level = turn.isFull ? 'info' : 'warn';
      if (restarted > 0) deps.log[level]({ restarted }, 'open rows had no workflow; they were woken');
      return restarted;
    },
  };
}

const REQUEST_FULL = 'UPDATE workflow_recovery SET next_full_run_at = now()';

async function restartLostWorkflows(deps: RepairDeps, onlyPastDue: boolean): Promise<number> {
  let restarted = 0;
  for (const source of deps.sources) {
    let after = '';
    for (;;) {
      const page = await source(deps.db, { after, limit: REPAIR_PAGE, onlyPastDue });
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
      const running = await deps.running(page.map((one) => one.message.workflowId));
      const lost = page.filter((one) => one.overdue || !running.has(one.message.workflowId));
      if (lost.length > 0) await deps.runInTransaction(async (tx) => tx.enqueue(lost.map(({ message }) => message)));
      restarted += lost.length;
      await holdTurn(deps.db);
    }
  }
  return restarted;
}

/** `fullRunAt`: `next_full_run_at` when the turn began; changed since then, another full run was requested. */
type Turn = { isFull: boolean; fullRunAt: string };

async function acquireLock(db: Knex): Promise<Turn | undefined> {
  const [turn] = await rows<Turn>(
    db,
    `UPDATE workflow_recovery SET next_run_at = now() + interval '${TURN_SECONDS} seconds' WHERE next_run_at <= now()
     RETURNING next_full_run_at <= now() AS is_full, CAST(next_full_run_at AS text) AS full_run_at`,
  );
  return turn;
}

async function holdTurn(db: Knex): Promise<void> {
  await rows(db, `UPDATE workflow_recovery SET next_run_at = now() + interval '${TURN_SECONDS} seconds'`);
}

async function releaseTurn(db: Knex): Promise<void> {
  await rows(db, `UPDATE workflow_recovery SET next_run_at = now() + interval '${EVERY_SECONDS} seconds'`);
}

async function endTurn(db: Knex, { isFull, fullRunAt }: Turn): Promise<void> {
  await rows(
    db,
    `UPDATE workflow_recovery SET next_run_at = now() + interval '${EVERY_SECONDS} seconds',
       next_full_run_at = CASE WHEN CAST(:isFull AS boolean) AND next_full_run_at = CAST(:fullRunAt AS timestamptz)
         THEN now() + interval '${FULL_EVERY_SECONDS} seconds' ELSE next_full_run_at END`,
    { isFull, fullRunAt },
  );
}
