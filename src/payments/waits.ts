import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { MerchantCaller } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { type Database, rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';

const POLL_MS = 250;
/** Open waits per session token, and per key over all its sessions. */
export const WAITS_MAX = { client: 4, key: 100 };
const RETRY_AFTER_SECONDS = 2;

/** Why a wait ended: the session is final, the time is over, or the caller is gone. */
export type WaitEnd = 'final' | 'late' | 'abandoned';

/** Waits until sessions are final. */
export type SessionWaits = {
  /** Runs the work within the caller's limit of open waits. Throws RATE_LIMITED. */
  withinLimit: <T>(caller: MerchantCaller, work: () => Promise<T>) => Promise<T>;
  untilFinal: (sessionId: string, wait: { forMs: number; signal: AbortSignal }) => Promise<WaitEnd>;
};

/** All waits of a process share one poll: one statement every 250 ms while any is open, whatever their number. */
export function createSessionWaits(deps: { db: Database; clock: Clock }): SessionWaits {
  // An event is the id of a session that is final; 'error' fails all waits.
  const final = new EventEmitter().setMaxListeners(0);
  const sessionIds = (): string[] =>
    final
      .eventNames()
      .filter((name) => name !== 'error')
      .map(String);
  let isPolling = false;

  async function poll(): Promise<void> {
    isPolling = true;
    await sleep(POLL_MS);
    for (let ids = sessionIds(); ids.length > 0; ids = sessionIds()) {
      try {
        for (const id of await findFinal(deps, ids)) final.emit(id);
      } catch (error) {
        if (final.listenerCount('error') > 0) final.emit('error', error);
      }
      await sleep(POLL_MS);
    }
    isPolling = false;
  }

  async function untilFinal(sessionId: string, { forMs, signal }: { forMs: number; signal: AbortSignal }) {
    const timeout = AbortSignal.timeout(Math.ceil(forMs));
    try {
      const ended = once(final, sessionId, { signal: AbortSignal.any([signal, timeout]) });
      if (!isPolling) void poll();
      await ended;
      return 'final';
    } catch (error) {
      if (signal.aborted) return 'abandoned';
      if (timeout.aborted) return 'late';
      throw error;
    }
  }

  return { withinLimit: createWaitLimit(), untilFinal };
}

function createWaitLimit(): SessionWaits['withinLimit'] {
  const open = new Map<string, number>();
  return async (caller, work) => {
    const [id, most, scope] =
      caller.kind === 'client'
        ? [caller.sessionId, WAITS_MAX.client, 'for one session']
        : [caller.keyId, WAITS_MAX.key, 'with one key'];
    const count = (open.get(id) ?? 0) + 1;
    if (count > most) {
      throw new AppError(
        'RATE_LIMITED',
        `At most ${most} requests with wait may be open at once ${scope}. Repeat the request in ${RETRY_AFTER_SECONDS} s, or without wait.`,
        { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
      );
    }
    open.set(id, count);
    try {
      return await work();
    } finally {
      const left = (open.get(id) ?? 1) - 1;
      if (left === 0) open.delete(id);
      else open.set(id, left);
    }
  };
}

/** Those of these sessions that are final, or whose time is over. */
async function findFinal({ db, clock }: { db: Database; clock: Clock }, ids: string[]): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    `SELECT s.id FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id
     WHERE s.id = ANY (CAST(:ids AS text[])) AND (t.status <> 'PENDING' OR s.status = 'OPEN' AND s.expires_at <= :now)`,
    { ids, now: clock() },
  );
  return found.map(({ id }) => id);
}
