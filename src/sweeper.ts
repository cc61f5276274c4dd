import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

import type { Knex } from './lib/db.ts';
import type { Logger } from './lib/log.ts';
import type { OutboxMessage, RunChange } from './lib/outbox.ts';
import { OUTBOX_CHANNEL } from './relay.ts';

/** Something done again and again while the process lives. A run that fails is logged; the next one tries again. */
export type Chore = { name: string; everyMs: number; run: () => Promise<unknown> };

export type Chores = { stop: () => Promise<void> };

/** Runs each chore at its own pace, never twice at once. */
export function startChores(chores: Chore[], log: Logger): Chores {
  const stopping = new AbortController();
  const running = chores.map(async (chore) => {
    while (!stopping.signal.aborted) {
      try {
        await chore.run();
      } catch (error) {
        log.warn({ err: error, chore: chore.name }, 'a chore failed; it is tried again');
      }
      await pause(chore.everyMs, stopping.signal);
    }
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

/** Ends early, without an error, when stopping. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}

const RECONNECT_MS = 1_000;

/**
 * Calls `wake` when another process has committed to the outbox. Only a hint that saves waiting for the next sweep: a
 * connection that is lost is opened again at leisure.
 */
export function listenToOutbox(options: { databaseUrl: string; wake: () => void; log: Logger }): Chores {
  const stopping = new AbortController();
  const listenOnce = async (): Promise<void> => {
    const client = new pg.Client({
      connectionString: options.databaseUrl,
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
    });
    const over = new AbortController();
    const ended = new Promise<void>((resolve) => {
      client.on('end', resolve);
      client.on('error', () => resolve());
      stopping.signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${OUTBOX_CHANNEL}`);
      client.on('notification', options.wake);
      await ended;
    } finally {
      over.abort();
      await client.end().catch(() => {});
    }
  };
  const listening = startChores(
    [{ name: 'listen to the outbox', everyMs: RECONNECT_MS, run: listenOnce }],
    options.log,
  );
  return {
    stop: async () => {
      stopping.abort();
      await listening.stop();
    },
  };
}

export type OpenSource = (
  db: Knex,
  after: string,
  limit: number,
) => Promise<{ id: string; wake: OutboxMessage; overdue?: boolean }[]>;

export type RepairDeps = {
  db: Knex;
  runChange: RunChange;
  running: (workflowIds: string[]) => Promise<Set<string>>;
  /** Every kind of open row that must have a running workflow. */
  sources: OpenSource[];
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
