import { setTimeout as sleep } from 'node:timers/promises';

import type { MerchantCaller } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { withTimeout } from '../lib/timeout.ts';
import { readSession, type ReadDeps, type Session, type SessionKey } from './session.ts';

const POLL_MS = 250;
/** Open waits per session token, and per key over all its sessions. */
export const WAITS_MAX = { client: 4, key: 100 };
const RETRY_AFTER_SECONDS = 2;

/** Whether a session is final, or its time over, in 250 ms: one statement for all that are asked about meanwhile. */
export function createFinalPoll({
  db,
  clock,
}: {
  db: Queryable;
  clock: Clock;
}): (sessionId: string) => Promise<boolean> {
  const wanted = new Set<string>();
  let poll: Promise<Set<string>> | null = null;
  const findFinal = async (): Promise<Set<string>> => {
    await sleep(POLL_MS);
    const ids = [...wanted];
    wanted.clear();
    poll = null;
    const found = await rows<{ id: string }>(
      db,
      `SELECT s.id FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id
       WHERE s.id = ANY (CAST(:ids AS text[])) AND (t.status <> 'PENDING' OR s.status = 'OPEN' AND s.expires_at <= :now)`,
      { ids, now: clock() },
    );
    return new Set(found.map(({ id }) => id));
  };
  return async (sessionId) => {
    wanted.add(sessionId);
    return (await (poll ??= findFinal())).has(sessionId);
  };
}

/** Resolves when the session is final, the time is over or the caller is gone. Does not query the provider. */
export async function waitForFinal(
  deps: ReadDeps & { isFinal: ReturnType<typeof createFinalPoll> },
  key: SessionKey,
  { waitSeconds, signal }: { waitSeconds: number; signal: AbortSignal },
): Promise<Session> {
  const deadlineMs = performance.now() + waitSeconds * 1_000;
  let session = await readSession(deps, key);
  while (session.transactionStatus === 'PENDING' && !signal.aborted) {
    const forMs = deadlineMs - performance.now();
    if (forMs <= 0) break;
    if (await withTimeout(deps.isFinal(session.id), forMs)) session = await readSession(deps, key);
  }
  return session;
}

/** Runs work within its caller's limit of open waits. Throws RATE_LIMITED. */
export function createWaitLimit() {
  const open = new Map<string, number>();
  return async <T>(caller: MerchantCaller, work: () => Promise<T>): Promise<T> => {
    const id = caller.kind === 'client' ? caller.sessionId : caller.keyId;
    const most = WAITS_MAX[caller.kind];
    const count = open.get(id) ?? 0;
    if (count === most) {
      const scope = caller.kind === 'client' ? 'for one session' : 'with one key';
      throw new AppError(
        'RATE_LIMITED',
        `At most ${most} requests with wait may be open at once ${scope}. Repeat the request in ${RETRY_AFTER_SECONDS} s, or without wait.`,
        { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
      );
    }
    open.set(id, count + 1);
    try {
      return await work();
    } finally {
      const left = (open.get(id) ?? 1) - 1;
      if (left === 0) open.delete(id);
      else open.set(id, left);
    }
  };
}
