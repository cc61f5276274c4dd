import { rows } from '../lib/db.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { ProviderOutcome } from '../providers/provider.ts';
import {
  attemptUpdatedMessage,
  stateAfter,
  notifyWorkflowOf,
  type AttemptState,
  type ProviderResult,
} from './attempt.ts';
import { recordTransactionEvents } from './events.ts';
import type { TransactionRow } from './present.ts';
import { afterDecline, transactionStatusOf } from './states.ts';

type Declined = ProviderResult<Extract<ProviderOutcome, { kind: 'declined' }>>;

/**
 * Applies a provider's decline. The session opens for another attempt, or fails after a hard decline or the last attempt,
 * or expires after its expiry; while another payment of it is held it does not end. null when the attempt or its session has
 * changed meanwhile, or the session stays as it is.
 */
export async function declineAttempt(tx: UnitOfWork, declined: Declined): Promise<AttemptState | null> {
  const { attempt, outcome, now } = declined;
  const next = afterDecline({
    retryable: outcome.failure.retryable,
    attemptsCount: attempt.attemptsCount,
    expired: attempt.expiresAt <= now,
  });
  const messages = declined.notifyWorkflow ? [attemptUpdatedMessage(attempt.id)] : [];
  const { code, providerCode } = outcome.failure;
  const [row] = await rows<TransactionRow & { isSessionChanged: boolean; isEnqueued: boolean }>(
    tx.trx,
    `WITH locked AS (
       SELECT s.id, t.hold_reason IS NOT NULL AND CAST(:next AS text) <> 'OPEN' AS stays
       FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id
       WHERE s.id = :sessionId FOR UPDATE OF s, t
     ), attempt AS (
       UPDATE payment_attempt a SET status = 'DECLINED', last_outcome = 'declined', provider_code = :providerCode,
         failure = CAST(:failure AS jsonb), last_checked_at = :checkedAt, ended_at = :now, lease_until = NULL
       FROM locked WHERE a.id = :attemptId AND a.session_id = locked.id AND a.status IN ('CREATED', 'PENDING')
       RETURNING a.transaction_id, a.session_id, locked.stays
     ), session AS (
       UPDATE checkout_session s
       SET status = :next, ended_at = CASE WHEN CAST(:next AS text) = 'OPEN' THEN NULL ELSE CAST(:now AS timestamptz) END
       FROM attempt WHERE s.id = attempt.session_id AND s.status = 'PROCESSING' AND NOT attempt.stays
       RETURNING s.transaction_id
     ), updated AS (
       UPDATE transaction t SET status = :transactionStatus, version = t.version + 1,
         failure = CASE WHEN CAST(:next AS text) = 'FAILED' THEN CAST(:failure AS jsonb) END
       FROM session WHERE t.id = session.transaction_id AND t.status = 'PENDING' AND CAST(:next AS text) <> 'OPEN'
       RETURNING t.*
     ), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT transaction_id, CAST(:now AS timestamptz), 'attempt.declined', CAST(:detail AS jsonb)
         || jsonb_build_object('next', CASE WHEN stays THEN 'PROCESSING' ELSE CAST(:next AS text) END)
       FROM attempt
       UNION ALL
       SELECT id, CAST(:now AS timestamptz), 'session.expired', jsonb_build_object('reconcile', false)
       FROM updated WHERE status = 'EXPIRED'
     ), ${notifyWorkflowOf('attempt')}
     SELECT updated.*, session.transaction_id IS NOT NULL AS is_session_changed, EXISTS (SELECT 1 FROM outbox_row) AS is_enqueued
     FROM attempt
     LEFT JOIN session ON session.transaction_id = attempt.transaction_id
     LEFT JOIN updated ON updated.id = attempt.transaction_id`,
    {
      sessionId: attempt.sessionId,
      attemptId: attempt.id,
      providerCode,
      failure: JSON.stringify(outcome.failure),
      next,
      transactionStatus: transactionStatusOf(next),
      checkedAt: declined.checkedAt,
      now,
      detail: JSON.stringify({ attemptId: attempt.id, code, providerCode }),
      messages: JSON.stringify(messages),
    },
  );
  if (!row) return null;
  if (row.isEnqueued) tx.enqueued(messages);
  if (!row.isSessionChanged) return null;
  if (next !== 'OPEN') {
    const events = [next === 'FAILED' ? 'checkout.failed' : 'checkout.expired'] as const;
    await recordTransactionEvents(tx, { transactions: [row], events, at: now });
  }
  return stateAfter(declined, 'DECLINED', { transactionStatus: transactionStatusOf(next), sessionStatus: next });
}
