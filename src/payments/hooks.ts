import { rows, type Knex } from '../lib/db.ts';
import { withTimeout } from '../lib/timeout.ts';
import type { EndUnpaid } from './close-unpaid.ts';
import { NEXT_POLL_AFTER_MS } from './pay.ts';
import { readSession, returnUrl, type ReadDeps, type Session, type SessionKey } from './session.ts';
import { HELD_MESSAGE, isHeld, reviewReason } from './states.ts';
import { MIN_QUERY_INTERVAL_MS, type CheckAttempt } from './sync.ts';
import type { TimelineKind } from './timeline.ts';
import type { SessionWaits } from './waits.ts';

export type Claim = 'success' | 'error' | 'cancel';
/** What the caller says of it: untrusted text, kept in the timeline only. */
export type ReportedDetails = {
  claimedStatus?: string | undefined;
  reason?: string | undefined;
  providerReference?: string | undefined;
};

export type HookDeps = ReadDeps & { checkAttempt: CheckAttempt; endUnpaid: EndUnpaid };

const CHECK_WAIT_MS = 2_000;
const CLAIMS_KEPT_MAX = 50;
/** A person decides: there is no news soon. */
const HELD_POLL_AFTER_MS = 30_000;

/**
 * A claim triggers a check with the provider and is never a fact: `success` and `error` ask about the latest attempt;
 * `cancel` is the customer's wish, and paid money wins over it. Answers what is known after 2 s at most.
 */
export async function reportOutcome(
  deps: HookDeps,
  key: SessionKey,
  { claim, words }: { claim: Claim; words: ReportedDetails },
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

/** Late proof of money may come by a claim of success too: that one asks also after the session's end. */
function queryAbout(deps: HookDeps, session: Session, claim: 'success' | 'error'): Promise<unknown> | null {
  if (session.attemptId === null) return null;
  if (claim === 'error' && session.status !== 'PROCESSING') return null;
  return deps.checkAttempt(session.attemptId, { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true });
}

function wishToCancel(deps: HookDeps, session: Session): Promise<unknown> | null {
  if (session.status !== 'OPEN' && session.status !== 'PROCESSING') return null;
  return deps.endUnpaid(session.id, 'CANCELLED');
}

/** Kept once per wording, and at most 50 for a transaction: nobody can fill the timeline with claims. */
async function recordReport(
  db: Knex,
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

/** A session once it is final, the time is over or nobody waits for the answer any more. Asks no provider. */
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

/** The answer of all four hooks. `redirectUrl`: where the customer goes next, to confirm or back to the shop. */
export function presentHook(session: Session, claim: Claim | 'status') {
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

/** The words of that answer. */
export function hookMessage(session: Session): string {
  return isHeld(session) ? HELD_MESSAGE : `Status is ${session.transactionStatus}`;
}

/** Where the customer confirms the try in flight, on channels that have such a page; nowhere while money is held. */
export function confirmUrl(session: Session): string | null {
  return session.status === 'PROCESSING' && !isHeld(session) ? session.redirectUrl : null;
}
