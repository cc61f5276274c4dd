import { rows } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { readAttemptState, type AttemptState } from './attempt.ts';
import { CLAIM_INTERVAL_MS, type CheckAttempt, type CheckDeps } from './check.ts';
import { endAttempt, endOpenSession, type UnpaidEnd } from './end.ts';
import { atExpiry, type AttemptStatus, type SessionStatus } from './states.ts';

type Standing = {
  sessionStatus: SessionStatus;
  attemptId: string | null;
  attemptStatus: AttemptStatus | null;
};

/** A session, and the attempt that is in flight on it if one is. Throws NOT_FOUND. */
async function readStanding(deps: Pick<CheckDeps, 'db'>, sessionId: string): Promise<Standing> {
  const [row] = await rows<Standing>(
    deps.db,
    `SELECT s.status AS session_status, a.id AS attempt_id, a.status AS attempt_status
     FROM checkout_session s
     LEFT JOIN payment_attempt a ON a.session_id = s.id AND a.status IN ('CREATED', 'PENDING') AND s.status = 'PROCESSING'
     WHERE s.id = :sessionId`,
    { sessionId },
  );
  if (!row) throw notFound('checkout session');
  return row;
}

export type EndUnpaid = (sessionId: string, as: UnpaidEnd) => Promise<SessionStatus>;

/**
 * Ends a session because somebody wishes so: the customer cancels, the merchant expires. With nothing in flight at
 * once; otherwise the provider is asked first: paid money wins, and while it does not know, the session stays as it is.
 * @returns the session's status afterwards; the caller sees whether the wish came true.
 */
export function createEndUnpaid(
  deps: Pick<CheckDeps, 'db' | 'runChange' | 'clock'> & { checkAttempt: CheckAttempt },
): EndUnpaid {
  return async (sessionId, as) => {
    const end = { status: as, reconcile: false, at: deps.clock() };
    const before = await readStanding(deps, sessionId);
    if (before.attemptId) {
      const attemptId = before.attemptId;
      const state = await deps.checkAttempt(attemptId, { minIntervalMs: CLAIM_INTERVAL_MS, tellWorkflow: true });
      if (!state.final && (state.outcomeKind === 'accepted' || state.outcomeKind === 'pending')) {
        const attempt = { id: attemptId, sessionId, tellWorkflow: true };
        await deps.runChange((change) => endAttempt(change, attempt, end));
      }
    }
    // Also what the provider's no has just opened again.
    await deps.runChange((change) => endOpenSession(change, sessionId, end));
    return (await readStanding(deps, sessionId)).sessionStatus;
  };
}

export type ExpireAttempt = (attemptId: string, at: Date) => Promise<AttemptState>;

/**
 * After the last query of an attempt whose session's time is over: expires both. While the provider does not know it
 * changes nothing for up to 24 h (`final` stays false: query and call again), then expires them marked for
 * reconciliation. `at` is the caller's time of business. Does not tell the workflow: it is the one that calls.
 */
export function createExpireAttempt(deps: Pick<CheckDeps, 'db' | 'runChange'>): ExpireAttempt {
  return async (attemptId, at) => {
    const [attempt] = await rows<{ sessionId: string; expiresAt: Date; doubtful: boolean }>(
      deps.db,
      `SELECT a.session_id, s.expires_at,
              coalesce(a.last_outcome, CASE WHEN a.initiated_at IS NULL THEN 'never asked' ELSE 'unknown' END) = 'unknown' AS doubtful
       FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id WHERE a.id = :attemptId`,
      { attemptId },
    );
    if (!attempt) throw notFound('payment attempt');
    const verdict = atExpiry({
      doubtful: attempt.doubtful,
      expiresAtMs: attempt.expiresAt.getTime(),
      atMs: at.getTime(),
    });
    if (verdict !== 'wait') {
      const end = { status: 'EXPIRED' as const, reconcile: verdict === 'reconcile', at };
      const which = { id: attemptId, sessionId: attempt.sessionId, tellWorkflow: false };
      await deps.runChange((change) => endAttempt(change, which, end));
    }
    const { leaseUntil: _, ...state } = await readAttemptState(deps.db, attemptId);
    return state;
  };
}
