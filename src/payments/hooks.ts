import type { z } from 'zod';

import { counted, WHOSE } from '../http/limits.ts';
import type { MerchantCaller } from '../http/route.ts';
import { rows, type Database } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import { withTimeout } from '../lib/timeout.ts';
import type { CloseUnpaid } from './close-session.ts';
import { NEXT_POLL_AFTER_MS } from './pay.ts';
import { WAITS_MAX, type ClaimBody } from './session-schema.ts';
import { waitForState, type PageState, type ReadState } from './session-state.ts';
import { readSession, returnUrl, type ReadDeps, type Session, type SessionKey } from './session.ts';
import { HELD_MESSAGE, isHeld, reviewReason } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt } from './sync.ts';
import type { TimelineKind } from './timeline.ts';

export type ReportedOutcome = 'success' | 'error' | 'cancel';
/** `details`: untrusted text, stored in the timeline only. */
type Report = { claim: ReportedOutcome; details: z.output<typeof ClaimBody> };

export type HookDeps = ReadDeps & { checkAttempt: CheckAttempt; closeUnpaid: CloseUnpaid };

const CHECK_WAIT_MS = 2_000;
const REPORTS_MAX = 50;
/** An operator decides: no news is expected soon. */
const HELD_POLL_AFTER_MS = 30_000;

/**
 * Handles a reported outcome. It triggers a query of the provider and is never believed: `success` and `error` query the
 * attempts that may be paid; `cancel` requests a cancellation, over which paid money wins. Responds within 2 s with the current state.
 */
export async function reportOutcome(deps: HookDeps, key: SessionKey, report: Report): Promise<Session> {
  const session = await readSession(deps, key);
  await recordReport(deps.db, { ...report, transactionId: session.transactionId, at: deps.clock() });
  const check = checkReport(deps, session, report.claim);
  if (!check) return session;
  await withTimeout<unknown>(check, CHECK_WAIT_MS);
  return readSession(deps, key);
}

/** null where there is nothing to check. A reported success can precede a late confirmation, so it counts after the end. */
function checkReport(deps: HookDeps, { id, status, attemptId }: Session, claim: ReportedOutcome) {
  if (claim === 'cancel')
    return status === 'OPEN' || status === 'PROCESSING' ? deps.closeUnpaid(id, 'CANCELLED') : null;
  const isQueried = claim === 'success' ? status !== 'COMPLETED' : status === 'PROCESSING';
  if (attemptId === null || !isQueried) return null;
  return checkAttempts(deps, { sessionId: id, attemptId });
}

/** The latest attempt, and earlier ones that were taken back, or expired, without a decline: they may be paid all the same. */
async function checkAttempts(
  { db, checkAttempt }: HookDeps,
  { sessionId, attemptId }: { sessionId: string; attemptId: string },
): Promise<void> {
  const sql = `SELECT id FROM payment_attempt WHERE session_id = :sessionId AND (id = :attemptId OR status = 'ABANDONED')`;
  const attempts = await rows<{ id: string }>(db, sql, { sessionId, attemptId });
  const options = { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true };
  await Promise.all(attempts.map(async ({ id }) => checkAttempt(id, options)));
}

/** Stored once per content, and at most 50 for a transaction, which bounds the timeline. */
async function recordReport(
  db: Database,
  { transactionId, claim, details, at }: Report & { transactionId: string; at: Date },
): Promise<void> {
  const kind: TimelineKind = `status_report.${claim}`;
  await rows(
    db,
    `${TIMELINE_INSERT}
     SELECT CAST(:transactionId AS text), :at, CAST(:kind AS text), CAST(:detail AS jsonb)
     WHERE NOT EXISTS (SELECT 1 FROM timeline
                       WHERE resource_id = :transactionId AND kind = :kind AND detail = CAST(:detail AS jsonb))
       AND (SELECT count(*) FROM timeline
            WHERE resource_id = :transactionId AND kind LIKE 'status_report.%') < :most`,
    { transactionId, at, kind, detail: JSON.stringify(details), most: REPORTS_MAX },
  );
}

/** The response of all four hooks; its schema leaves out other columns. `redirectUrl`: the customer's next page, to confirm or back to the shop. */
export function presentHook(session: Session, claim: ReportedOutcome | 'status') {
  const pending = session.transactionStatus === 'PENDING';
  const data = {
    ...session,
    sessionId: session.id,
    claim,
    status: session.transactionStatus,
    final: !pending,
    underReview: reviewReason(session),
    nextPollAfterMs: pending ? (isHeld(session) ? HELD_POLL_AFTER_MS : NEXT_POLL_AFTER_MS) : null,
    redirectUrl: pending ? confirmUrl(session) : returnUrl(session),
  };
  return { message: isHeld(session) ? HELD_MESSAGE : `Status is ${session.transactionStatus}`, data };
}

/** The page where the customer confirms the attempt in flight, on channels that have one; null while money is held. */
export function confirmUrl(session: Session): string | null {
  return session.status === 'PROCESSING' && !isHeld(session) ? session.redirectUrl : null;
}

const RETRY_AFTER_SECONDS = 2;

const isOver = ({ status }: Pick<PageState, 'status'>): boolean => status !== 'OPEN' && status !== 'PROCESSING';

/** Resolves when the session is final, the time is over or the caller is gone. Does not query the provider. */
export async function waitForFinal(
  deps: ReadDeps & { readState: ReadState },
  key: SessionKey,
  wait: { waitSeconds: number; signal: AbortSignal },
): Promise<Session> {
  const session = await readSession(deps, key);
  if (isOver(session)) return session;
  const state = await waitForState(deps.readState, session.id, { ...wait, until: isOver });
  return isOver(state) ? readSession(deps, key) : session;
}

/** Runs work within its caller's limit of open waits, and the process's. Throws RATE_LIMITED. */
export function createWaitLimit(ofAllMax = Infinity) {
  const open = new Map<string, number>();
  let all = 0;
  return async <T>(caller: MerchantCaller, work: () => Promise<T>): Promise<T> => {
    const [id, scope] = [counted(caller), WHOSE[caller.kind]];
    const most = WAITS_MAX[caller.kind];
    const count = open.get(id) ?? 0;
    if (all >= ofAllMax) throw tooManyWaits(`${ofAllMax} requests with wait are open already.`);
    if (count === most) throw tooManyWaits(`At most ${most} requests with wait may be open at once ${scope}.`);
    open.set(id, count + 1);
    all += 1;
    return work().finally(() => {
      all -= 1;
      const left = (open.get(id) ?? 1) - 1;
      if (left > 0) open.set(id, left);
      else open.delete(id);
    });
  };
}

function tooManyWaits(problem: string): AppError {
  const message = `${problem} Repeat the request in ${RETRY_AFTER_SECONDS} s, or without wait.`;
  return new AppError('RATE_LIMITED', message, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}
