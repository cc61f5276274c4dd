import { setTimeout as sleep } from 'node:timers/promises';

import type { MerchantCaller } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { type Database, rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';

const POLL_MS = 250;
/** Open waits per session token, and per key over all its sessions. */
export const WAITS_MAX = { client: 4, key: 100 };
const RETRY_AFTER_SECONDS = 2;

/** Why a wait ended: the session changed, the time is over, or the caller is gone. */
export type WaitEnd = 'moved' | 'late' | 'abandoned';
type Wait = { forMs: number; signal: AbortSignal };
type Waiter = { end: (why: WaitEnd) => void; fail: (error: unknown) => void };

/** Waits until sessions are final. */
export type SessionWaits = {
  /** Runs the work within the caller's limit of open waits. Throws RATE_LIMITED. */
  asOneOfFew: <T>(caller: MerchantCaller, work: () => Promise<T>) => Promise<T>;
  untilMoved: (sessionId: string, wait: Wait) => Promise<WaitEnd>;
};

/** All waits of a process share one poll: one statement every 250 ms while any is open, whatever their number. */
export function createSessionWaits(deps: { db: Database; clock: Clock }): SessionWaits {
  const waiters = new Map<string, Set<Waiter>>();
  let isPolling = false;

  async function poll(): Promise<void> {
    isPolling = true;
    await sleep(POLL_MS);
    while (waiters.size > 0) {
      try {
        for (const id of await findMoved(deps, [...waiters.keys()])) endAll(id, ({ end }) => end('moved'));
      } catch (error) {
        for (const id of waiters.keys()) endAll(id, ({ fail }) => fail(error));
      }
      await sleep(POLL_MS);
    }
    isPolling = false;
  }

  function endAll(id: string, how: (waiter: Waiter) => void): void {
    for (const waiter of waiters.get(id) ?? []) how(waiter);
  }

  function add(id: string, waiter: Waiter): () => void {
    const together = waiters.get(id) ?? new Set();
    waiters.set(id, together.add(waiter));
    if (!isPolling) void poll();
    return () => {
      if (together.delete(waiter) && together.size === 0) waiters.delete(id);
    };
  }

  async function untilMoved(sessionId: string, { forMs, signal }: Wait): Promise<WaitEnd> {
    if (signal.aborted) return 'abandoned';
    let leave = (): void => {};
    const ended = new Promise<WaitEnd>((resolve, reject) => {
      const remove = add(sessionId, { end: resolve, fail: reject });
      const timer = setTimeout(() => resolve('late'), forMs);
      const abandon = (): void => resolve('abandoned');
      signal.addEventListener('abort', abandon, { once: true });
      leave = () => {
        remove();
        clearTimeout(timer);
        signal.removeEventListener('abort', abandon);
      };
    });
    return ended.finally(leave);
  }

  return { asOneOfFew: limitWaits(), untilMoved };
}

function limitWaits(): SessionWaits['asOneOfFew'] {
  const open = new Map<string, number>();
  return async (caller, work) => {
    const [who, most] = caller.kind === 'client' ? [caller.sessionId, WAITS_MAX.client] : [caller.keyId, WAITS_MAX.key];
    const count = (open.get(who) ?? 0) + 1;
    if (count > most) throw tooMany(caller, most);
    open.set(who, count);
    try {
      return await work();
    } finally {
      const left = (open.get(who) ?? 1) - 1;
      if (left === 0) open.delete(who);
      else open.set(who, left);
    }
  };
}

function tooMany({ kind }: MerchantCaller, most: number): AppError {
  const whose = kind === 'client' ? 'for one session' : 'with one key';
  return new AppError(
    'RATE_LIMITED',
    `At most ${most} requests with wait may be open at once ${whose}. Repeat the request in ${RETRY_AFTER_SECONDS} s, or ask without wait.`,
    { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
  );
}

/** Those of these sessions that are final, or whose time is over. */
async function findMoved({ db, clock }: { db: Database; clock: Clock }, ids: string[]): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    `SELECT s.id FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id
     WHERE s.id = ANY (CAST(:ids AS text[])) AND (t.status <> 'PENDING' OR s.status = 'OPEN' AND s.expires_at <= :now)`,
    { ids, now: clock() },
  );
  return found.map(({ id }) => id);
}
