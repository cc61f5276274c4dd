import { rows } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { readAttemptState, saysUnpaid, type AttemptState } from './attempt.ts';
import { CLAIM_INTERVAL_MS, type CheckAttempt, type CheckDeps } from './check.ts';
import { endAttempt, endOpenSession, type UnpaidEnd } from './end.ts';
import { atExpiry, type AttemptStatus, type LastAnswer, type SessionStatus } from './states.ts';

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
 * once; otherwise only when the provider has just said unpaid, asked now or less than 2 s ago: paid money wins, and
 * while it does not know, the session stays as it is.
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
      const isNews = state.asked || isSince(state.lastCheckedAt, end.at.getTime() - CLAIM_INTERVAL_MS);
      if (!state.final && isNews && saysUnpaid(state)) {
        const attempt = { id: attemptId, sessionId, tellWorkflow: true };
        await deps.runChange((change) => endAttempt(change, attempt, end));
      }
    }
    // Also what the provider's no has just opened again.
    await deps.runChange((change) => endOpenSession(change, sessionId, end));
    return (await readStanding(deps, sessionId)).sessionStatus;
  };
}

function isSince(instant: Date | null, sinceMs: number): boolean {
  return instant !== null && instant.getTime() > sinceMs;
}

export type ExpireAttempt = (attemptId: string, at: Date) => Promise<AttemptState>;

/**
 * Asks the provider a last time about an attempt whose session's time is over, and expires both when this very
 * question was answered "not paid", or when nothing was ever sent. While the provider does not know, or was not asked
 * (somebody asked less than 2 s ago, or is asking), it changes nothing (`final` stays false: call again); after 24 h
 * of doubt it expires them marked for reconciliation. `at` is the caller's time of business. Does not tell the
 * workflow: it is the one that calls. Throws NOT_FOUND.
 */
export function createExpireAttempt(
  deps: Pick<CheckDeps, 'db' | 'runChange' | 'log'> & { checkAttempt: CheckAttempt },
): ExpireAttempt {
  return async (attemptId, at) => {
    const state = await deps.checkAttempt(attemptId, {
      minIntervalMs: CLAIM_INTERVAL_MS,
      tellWorkflow: false,
      now: at,
    });
    if (state.final) return state;
    const attempt = await readExpiring(deps.db, attemptId);
    const verdict = atExpiry({
      answer: lastAnswer(state, attempt),
      expiresAtMs: attempt.expiresAt.getTime(),
      atMs: at.getTime(),
    });
    if (verdict === 'wait') return state;
    const end = { status: 'EXPIRED' as const, reconcile: verdict === 'reconcile', at };
    const which = { id: attemptId, sessionId: attempt.sessionId, tellWorkflow: false };
    const ended = await deps.runChange((change) => endAttempt(change, which, end));
    if (ended && end.reconcile) {
      const ids = { attemptId, transactionId: attempt.transactionId };
      deps.log.warn(ids, 'a payment expired while its provider did not know: it is to be reconciled');
    }
    const { leaseUntil: _, ...after } = await readAttemptState(deps.db, attemptId);
    return { ...after, asked: state.asked };
  };
}

type Expiring = { sessionId: string; transactionId: string; expiresAt: Date; neverSent: boolean };

async function readExpiring(db: CheckDeps['db'], attemptId: string): Promise<Expiring> {
  const [attempt] = await rows<Expiring>(
    db,
    `SELECT a.session_id, a.transaction_id, s.expires_at, a.initiated_at IS NULL AS never_sent
     FROM payment_attempt a JOIN checkout_session s ON s.id = a.session_id WHERE a.id = :attemptId`,
    { attemptId },
  );
  if (!attempt) throw notFound('payment attempt');
  return attempt;
}

function lastAnswer(state: AttemptState, { neverSent }: Expiring): LastAnswer {
  if (neverSent) return 'unpaid';
  if (!state.asked) return 'not asked';
  return saysUnpaid(state) ? 'unpaid' : 'unknown';
}
