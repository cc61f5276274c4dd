import { setTimeout as sleep } from 'node:timers/promises';

import type { Clock } from '../lib/clock.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import type { Session } from './session.ts';
import type { SessionStatus } from './states.ts';

/** The response to a waiting page. A page that shows another `version` is out of date. */
export type PageState = { status: SessionStatus; version: string; secondsLeft: number };

type StateFacts = Pick<Session, 'status' | 'version' | 'attemptStatus' | 'redirectUrl' | 'expiresAt'>;

/** What a page shows of a session at `now`. A session whose time is over is EXPIRED before any read has ended it. */
export function pageState(facts: StateFacts, now: Date): PageState {
  const secondsLeft = Math.max(0, Math.ceil((facts.expiresAt.getTime() - now.getTime()) / 1_000));
  const status = facts.status === 'OPEN' && secondsLeft === 0 ? 'EXPIRED' : facts.status;
  const version = [facts.version, status, facts.attemptStatus, facts.redirectUrl !== null && 'link'];
  return {
    status,
    version: version.filter((part) => typeof part !== 'boolean' && part !== null).join('.'),
    secondsLeft,
  };
}

export type ReadState = (sessionId: string) => Promise<PageState | undefined>;

/** The states of all sessions that are waited for in this process, read by one statement in this time. */
export function createReadState({ db, clock }: { db: Queryable; clock: Clock }, everyMs: number): ReadState {
  return createSharedRead(everyMs, async (ids) => {
    const sessions = await rows<StateFacts & { id: string }>(
      db,
      `SELECT s.id, s.status, s.expires_at, t.version, a.status AS attempt_status, a.redirect_url
       FROM checkout_session s
       JOIN transaction t ON t.id = s.transaction_id
       LEFT JOIN LATERAL (
         SELECT status, redirect_url FROM payment_attempt
         WHERE session_id = s.id ORDER BY created_at DESC, id DESC LIMIT 1
       ) a ON true
       WHERE s.id = ANY (CAST(:ids AS text[]))`,
      { ids },
    );
    const now = clock();
    return new Map(sessions.map((one) => [one.id, pageState(one, now)]));
  });
}

type Wait = { waitSeconds: number; signal: AbortSignal; until: (state: PageState) => boolean };

/** Resolves when the state of a session is as wanted, the time is over, the caller is gone or the process stops. */
export async function waitForState(
  readState: ReadState,
  sessionId: string,
  { waitSeconds, signal, until }: Wait,
): Promise<PageState> {
  const deadlineMs = performance.now() + waitSeconds * 1_000;
  for (;;) {
    const state = found(await readState(sessionId), 'checkout session');
    if (until(state) || signal.aborted || performance.now() >= deadlineMs) return state;
  }
}

/**
 * Reads by id with one statement per interval, for all ids that were requested meanwhile: thousands of waiting requests
 * cost as many statements as one, and none of them holds a connection.
 */
function createSharedRead<Value>(
  intervalMs: number,
  readAll: (ids: string[]) => Promise<ReadonlyMap<string, Value>>,
): (id: string) => Promise<Value | undefined> {
  const wanted = new Set<string>();
  let next: Promise<ReadonlyMap<string, Value>> | null = null;
  const readNext = async (): Promise<ReadonlyMap<string, Value>> => {
    await sleep(intervalMs);
    const ids = [...wanted];
    wanted.clear();
    next = null;
    return readAll(ids);
  };
  return async (id) => {
    wanted.add(id);
    return (await (next ??= readNext())).get(id);
  };
}
