import type { Clock } from '../../lib/clock.ts';
import { rows, type Queryable } from '../../lib/db.ts';
import { found } from '../../lib/errors.ts';
import { createSharedRead } from '../../lib/shared-read.ts';
import type { Session } from '../session.ts';
import type { SessionStatus } from '../states.ts';

const READ_EVERY_MS = 500;
/** Below the time after which proxies close a silent connection. */
export const WAIT_SECONDS_MAX = 25;
/** Open waits of all pages of this process. One statement reads 5,000 sessions in about 50 ms. */
export const WAITS_OF_ALL_MAX = 5_000;

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

/** The states of all pages that wait in this process, read by one statement every 500 ms. */
export function createReadState({ db, clock }: { db: Queryable; clock: Clock }): ReadState {
  return createSharedRead(READ_EVERY_MS, async (ids) => {
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

type Wait = { since: string; waitSeconds: number; signal: AbortSignal };

/** Resolves when the session differs from version `since`, the time is over, the visitor is gone or the process stops. */
export async function waitForChange(
  readState: ReadState,
  sessionId: string,
  { since, waitSeconds, signal }: Wait,
): Promise<PageState> {
  const deadlineMs = performance.now() + waitSeconds * 1_000;
  for (;;) {
    const state = found(await readState(sessionId), 'checkout session');
    if (state.version !== since || signal.aborted || performance.now() >= deadlineMs) return state;
  }
}
