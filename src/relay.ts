import { rows, type Knex } from './lib/db.ts';
import type { Logger } from './lib/log.ts';
import { OUTBOX_LEASE_SECONDS, type OutboxRow } from './lib/outbox.ts';

/** The channel on which writers wake the workers after a commit. */
export const OUTBOX_CHANNEL = 'meskot_outbox';

export type RelayDeps = {
  db: Knex;
  tell: (message: OutboxRow) => Promise<unknown>;
  log: Logger;
  /** The webhook dispatcher, where this process is a worker; null in the API, which never sends to merchants. */
  dispatcher: { trigger: () => void } | null;
};

export type Relay = {
  /** Dispatches rows that this process wrote, right after their commit, and triggers the webhook dispatchers. Never throws. */
  dispatch: (messages: OutboxRow[], triggersDispatcher: boolean) => void;
  /** Takes free rows that others left, and tells Temporal. Returns how many it took. */
  sweep: () => Promise<number>;
  /** Waits for what is under way. */
  idle: () => Promise<void>;
};

/** Rows a sweep takes at a time. */
const SWEEP_MAX = 50;
/** Between failures to reach Temporal the pause doubles from 1 s to this. */
const BACKOFF_MAX_SECONDS = 30;

/**
 * Brings the outbox to Temporal (docs/adr/0002). A row that was dispatched is deleted; one that could not be is handed
 * back with a pause, so that Temporal's absence is no hot loop. Repeats do no harm: "already started" is success.
 */
export function createRelay(deps: RelayDeps): Relay {
  const underWay = new Set<Promise<void>>();
  const run = (work: Promise<void>): void => {
    const settled = work
      .catch((error: unknown) => deps.log.error({ err: error }, 'the outbox could not be worked on; the sweeper will'))
      .finally(() => underWay.delete(settled));
    underWay.add(settled);
  };

  const dispatchOwn = async (messages: OutboxRow[], triggersDispatcher: boolean): Promise<void> => {
    if (triggersDispatcher) await triggerDispatchers();
    await tellAll(deps, messages);
  };
  let notifying: Promise<unknown> | null = null;
  const triggerDispatchers = async (): Promise<void> => {
    if (deps.dispatcher) return deps.dispatcher.trigger();
    // One notification in flight at a time: it stands for all that was committed before it.
    notifying ??= deps.db.raw(`NOTIFY ${OUTBOX_CHANNEL}`).finally(() => (notifying = null));
    await notifying;
  };

  return {
    dispatch: (messages, triggersDispatcher) => run(dispatchOwn(messages, triggersDispatcher)),
    sweep: async () => {
      const taken = await takeFree(deps.db);
      await tellAll(deps, taken);
      return taken.length;
    },
    idle: async () => {
      await Promise.all(underWay);
    },
  };
}

async function tellAll(deps: RelayDeps, messages: OutboxRow[]): Promise<void> {
  if (messages.length === 0) return;
  const told = await Promise.all(
    messages.map(async (message) => {
      try {
        await deps.tell(message);
        return true;
      } catch (error) {
        deps.log.warn({ err: error, workflowId: message.workflowId }, 'Temporal was not told; it will be');
        return false;
      }
    }),
  );
  const done = messages.filter((_message, index) => told[index]).map((message) => message.id);
  const left = messages.filter((_message, index) => !told[index]).map((message) => message.id);
  if (done.length > 0) await rows(deps.db, 'DELETE FROM outbox WHERE id = ANY(:done)', { done });
  if (left.length > 0) await handBack(deps.db, left);
}

/** Gives rows back with a pause that grows with their failures. */
async function handBack(db: Knex, ids: string[]): Promise<void> {
  await rows(
    db,
    `UPDATE outbox SET lease_until = NULL, failures = failures + 1,
            not_before = now() + make_interval(secs => least(power(2, least(failures, 10)), ${BACKOFF_MAX_SECONDS}))
     WHERE id = ANY(:ids)`,
    { ids },
  );
}

async function takeFree(db: Knex): Promise<OutboxRow[]> {
  return rows<OutboxRow>(
    db,
    `UPDATE outbox SET lease_until = now() + interval '${OUTBOX_LEASE_SECONDS} seconds'
     WHERE id IN (
       SELECT id FROM outbox
       WHERE not_before <= now() AND (lease_until IS NULL OR lease_until < now())
       ORDER BY not_before LIMIT ${SWEEP_MAX} FOR UPDATE SKIP LOCKED)
     RETURNING id, kind, workflow_type, workflow_id, input, signal`,
  );
}
