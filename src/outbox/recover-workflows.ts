import { type Database, first, rows, type Queryable } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { OutboxMessage, RunInTransaction } from './record.ts';

/** An open row and the message that signals its workflow, or starts one where Temporal has lost it. */
export type RecoverableWorkflow = {
  id: string;
  message: OutboxMessage;
  /** Late for no other reason than its workflow, which is signalled even if it runs. */
  overdue?: boolean;
};

/** `limit` open rows after an id, in order of ids; with `onlyPastDue` only those with something past due. */
export type OpenPage = { after: string; limit: number; onlyPastDue: boolean };

/** Finds the rows of one kind that must have a running workflow. */
export type FindRecoverable = (db: Queryable, page: OpenPage) => Promise<RecoverableWorkflow[]>;

/** Rows of one kind that must have a running workflow, in SQL, and the message that starts the workflow of one. */
type Recoverable<Row> = {
  /** What `message` needs, and `overdue` if it is known. */
  columns: string;
  from: string;
  id: string;
  isOpen: string;
  changedAt: string;
  /** Whether something of it is past due; without it all rows are compared each time. */
  isPastDue?: string;
  workflowId: string;
  message: (row: Row) => OutboxMessage;
};

/**
 * Finds open rows without an outbox row. Those that changed in the last half minute are left out, because Temporal's list
 * of workflows lags behind.
 */
export function findRecoverable<Row>({ message, ...parts }: Recoverable<Row>): FindRecoverable {
  const { columns, from, id, isOpen, changedAt, isPastDue = 'true', workflowId } = parts;
  return async (db, { onlyPastDue, ...page }) => {
    const sql = `
      SELECT ${id} AS recoverable_id, ${columns} FROM ${from}
      WHERE ${id} > :after AND ${isOpen} AND ${changedAt} < now() - interval '30 seconds'
        AND ${onlyPastDue ? `(${isPastDue})` : 'true'}
        AND NOT EXISTS (SELECT FROM outbox b WHERE b.workflow_id = ${workflowId})
      ORDER BY ${id} LIMIT :limit`;
    const open = await rows<{ recoverableId: string; overdue?: boolean }>(db, sql, page);
    return open.map(({ recoverableId, overdue = false, ...row }) => {
      return { id: recoverableId, message: message(row as Row), overdue };
    });
  };
}

export type RecoveryDeps = {
  db: Database;
  runInTransaction: RunInTransaction;
  running: (workflowIds: string[]) => Promise<Set<string>>;
  /** Of every kind of row that must have a running workflow. */
  sources: FindRecoverable[];
  reachable: () => boolean;
  log: Logger;
};

export type WorkflowRecovery = ReturnType<typeof createWorkflowRecovery>;

const PAGE_SIZE = 200;
/** Between two runs, on whichever worker. */
const EVERY_SECONDS = 10;
/** Between two runs over all open rows, while Temporal is always available. */
const FULL_EVERY_SECONDS = 3_600;
/** Longer than a page takes. */
const LEASE_SECONDS = 60;

/**
 * Compares open rows with the running workflows and signals or starts those that Temporal has lost: after a loss of its
 * whole database every open workflow is started again (docs/adr/0002). One worker at a time, at most every 10 s; all rows
 * after an outage and once an hour, otherwise only those past due. Signalling a running workflow is harmless.
 */
export function createWorkflowRecovery(deps: RecoveryDeps) {
  const { db, log } = deps;
  let isFullRequested = false;
  return {
    /** Makes the next run compare all open rows: Temporal was unavailable and may have lost any workflow. */
    requestFull: () => void (isFullRequested = true),
    /** Returns how many workflows were signalled or started; null when no run is due, or another worker holds the lease. */
    run: async (): Promise<number | null> => {
      // Stored, so that another worker makes the run of one that is killed.
      if (isFullRequested) await rows(db, REQUEST_FULL);
      isFullRequested = false;
      if (!deps.reachable()) return null;
      const lease = await first<{ isFull: boolean; leasedAt: string }>(db, ACQUIRE_LEASE);
      if (!lease) return null;
      const { isFull, leasedAt } = lease;
      try {
        const restarted = await restartLostWorkflows(deps, !isFull);
        if (isFull) await rows(db, SCHEDULE_FULL, { leasedAt });
        // Expected after an outage, and with a database that has just been filled.
        const level = isFull ? 'info' : 'warn';
        if (restarted > 0) log[level]({ restarted }, 'Open rows had no workflow; their workflows were restarted');
        return restarted;
      } finally {
        // Also after an error: the next run would otherwise wait for the lease of the failed one to end.
        await scheduleNext(db, EVERY_SECONDS);
      }
    },
  };
}

async function restartLostWorkflows(deps: RecoveryDeps, onlyPastDue: boolean): Promise<number> {
  let restarted = 0;
  for (const source of deps.sources) {
    let after = '';
    for (;;) {
      const page = await source(deps.db, { after, limit: PAGE_SIZE, onlyPastDue });
      const last = page.at(-1);
      if (!last) break;
      after = last.id;
      const running = await deps.running(page.map((one) => one.message.workflowId));
      const lost = page.filter((one) => one.overdue || !running.has(one.message.workflowId));
      if (lost.length > 0) await deps.runInTransaction(async (tx) => tx.enqueue(lost.map(({ message }) => message)));
      restarted += lost.length;
      await scheduleNext(deps.db, LEASE_SECONDS);
    }
  }
  return restarted;
}

const ACQUIRE_LEASE = `
  UPDATE workflow_recovery SET next_run_at = now() + interval '${LEASE_SECONDS} seconds' WHERE next_run_at <= now()
  RETURNING next_full_run_at <= now() AS is_full, now()::text AS leased_at`;
const REQUEST_FULL = 'UPDATE workflow_recovery SET next_full_run_at = now()';
// A full run that was requested meanwhile stays requested.
const SCHEDULE_FULL = `UPDATE workflow_recovery SET next_full_run_at = now() + interval '${FULL_EVERY_SECONDS} seconds'
  WHERE next_full_run_at <= CAST(:leasedAt AS timestamptz)`;

/** While a run lasts this is its lease. */
async function scheduleNext(db: Database, seconds: number): Promise<void> {
  await rows(db, 'UPDATE workflow_recovery SET next_run_at = now() + make_interval(secs => :seconds)', { seconds });
}
