import { type Database, rows } from '../lib/db.ts';
import { withTimeout } from '../lib/timeout.ts';
import type { CloseUnpaid } from './close-unpaid.ts';
import { NEXT_POLL_AFTER_MS } from './pay.ts';
import { readSession, returnUrl, type ReadDeps, type Session, type SessionKey } from './session.ts';
import { HELD_MESSAGE, isHeld, reviewReason } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt } from './sync.ts';
import type { TimelineKind } from './timeline.ts';
import type { SessionWaits } from './waits.ts';

export type ReportedOutcome = 'success' | 'error' | 'cancel';
/** The details of a report: untrusted text, stored in the timeline only. */
export type ReportedDetails = {
  claimedStatus?: string | undefined;
  reason?: string | undefined;
  providerReference?: string | undefined;
};

export type HookDeps = ReadDeps & { checkAttempt: CheckAttempt; endUnpaid: CloseUnpaid };

const CHECK_WAIT_MS = 2_000;
const CLAIMS_KEPT_MAX = 50;
/** An operator decides: no news is expected soon. */
const HELD_POLL_AFTER_MS = 30_000;

/**
 * Handles a reported outcome. It triggers a query of the provider and is never believed: `success` and `error` query the
 * latest attempt; `cancel` requests a cancellation, over which paid money wins. Responds within 2 s with the current state.
 */
export async function reportOutcome(
  deps: HookDeps,
  key: SessionKey,
  { claim, words }: { claim: ReportedOutcome; words: ReportedDetails },
): Promise<Session> {
  const session = await readSession(deps, key);
  await recordReport(deps.db, {
    transactionId: session.transactionId,
    kind: `status_report.${claim}`,
    words,
    at: deps.clock(),
  });
  if (session.status === 'COMPLETED') return session;
  const check = claim === 'cancel' ? wishToCancel(deps, session) : queryAbout(deps, session, claim);
  if (!check) return session;
  await withTimeout(check, CHECK_WAIT_MS);
  return readSession(deps, key);
}

/** A reported success can precede late confirmation, so it is queried after the session's end too. */
function queryAbout(deps: HookDeps, session: Session, claim: 'success' | 'error'): Promise<unknown> | null {
  if (session.attemptId === null) return null;
  if (claim === 'error' && session.status !== 'PROCESSING') return null;
  return deps.checkAttempt(session.attemptId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true });
}

function wishToCancel(deps: HookDeps, session: Session): Promise<unknown> | null {
  if (session.status !== 'OPEN' && session.status !== 'PROCESSING') return null;
  return deps.endUnpaid(session.id, 'CANCELLED');
}

/** Stored once per wording, and at most 50 for a transaction, which bounds the timeline. */
async function recordReport(
  db: Database,
  note: { transactionId: string; kind: TimelineKind; words: ReportedDetails; at: Date },
): Promise<void> {
  await rows(
    db,
    `INSERT INTO transaction_timeline (transaction_id, occurred_at, kind, detail)
     SELECT CAST(:transactionId AS text), :at, CAST(:kind AS text), CAST(:detail AS jsonb)
     WHERE NOT EXISTS (SELECT 1 FROM transaction_timeline
                       WHERE transaction_id = :transactionId AND kind = :kind AND detail = CAST(:detail AS jsonb))
       AND (SELECT count(*) FROM transaction_timeline
            WHERE transaction_id = :transactionId AND kind LIKE 'status_report.%') < :most`,
    { ...note, detail: JSON.stringify(note.words), most: CLAIMS_KEPT_MAX },
  );
}

/** Resolves when the session is final, the time is over or the caller is gone. Does not query the provider. */
export async function waitForFinal(
  deps: ReadDeps & { waits: SessionWaits },
  key: SessionKey,
  { waitSeconds, signal }: { waitSeconds: number; signal: AbortSignal },
): Promise<Session> {
  const deadlineMs = performance.now() + waitSeconds * 1_000;
  let session = await readSession(deps, key);
  while (isPending(session)) {
    const forMs = deadlineMs - performance.now();
    if (forMs <= 0) break;
    if ((await deps.waits.untilMoved(session.id, { forMs, signal })) === 'abandoned') break;
    session = await readSession(deps, key);
  }
  return session;
}

function isPending(session: Session): boolean {
  return session.transactionStatus === 'PENDING';
}

/** The response of all four hooks. `redirectUrl`: the customer's next page, to confirm or back to the shop. */
export function presentHook(session: Session, claim: ReportedOutcome | 'status') {
  const pending = isPending(session);
  return {
    sessionId: session.id,
    transactionId: session.transactionId,
    checkoutOrderNo: session.checkoutOrderNo,
    claim,
    status: session.transactionStatus,
    final: !pending,
    underReview: reviewReason(session),
    lastCheckedAt: session.lastCheckedAt?.toISOString() ?? null,
    nextPollAfterMs: pending ? (isHeld(session) ? HELD_POLL_AFTER_MS : NEXT_POLL_AFTER_MS) : null,
    redirectUrl: pending ? confirmUrl(session) : returnUrl(session),
  };
}

/** The message of that response. */
export function hookMessage(session: Session): string {
  return isHeld(session) ? HELD_MESSAGE : `Status is ${session.transactionStatus}`;
}

/** The page where the customer confirms the attempt in flight, on channels that have one; null while money is held. */
export function confirmUrl(session: Session): string | null {
  return session.status === 'PROCESSING' && !isHeld(session) ? session.redirectUrl : null;
}
