import type { FeeRuleJson } from '../ledger/fees.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { OUTBOX_INSERT, type OutboxRow } from '../outbox/record.ts';
import type { CallbackAttempt } from '../providers/callbacks.ts';
import type { ProviderOutcome } from '../providers/provider.ts';
import type { TransactionRow } from './present.ts';
import { isAttemptOver, type AttemptStatus, type SessionStatus, type TransactionStatus } from './states.ts';
import { paymentWorkflowId } from './workflow.ts';

export type OutcomeKind = ProviderOutcome['kind'];

/** An attempt as its lease holder needs it: the data to query the provider with, and the data its result is checked against. */
export type ClaimedAttempt = Pick<
  TransactionRow,
  'sessionId' | 'merchantId' | 'environment' | 'amountSantim' | 'currency' | 'checkoutOrderNo'
> & {
  id: string;
  transactionId: string;
  channel: Channel;
  phone: string;
  status: AttemptStatus;
  lastOutcome: OutcomeKind | null;
  callbackSecret: string;
  sessionStatus: SessionStatus;
  attemptsCount: number;
  expiresAt: Date;
  /** The fee rule in force now, should the attempt succeed. */
  feeRule: FeeRuleJson;
  leaseUntil: Date;
};

/** The status of an attempt, its session and its transaction. `final`: the attempt is over and needs no further poll. */
export type AttemptState = {
  /** Whether this very call queried the provider: only then is `outcomeKind` fresh. */
  queried: boolean;
  attemptId: string;
  attemptStatus: AttemptStatus;
  transactionStatus: TransactionStatus;
  sessionStatus: SessionStatus;
  final: boolean;
  outcomeKind: OutcomeKind | null;
  lastCheckedAt: Date | null;
  redirectUrl: string | null;
  /** Until when another caller may be querying the provider. */
  leaseUntil: Date | null;
};

/** A provider's result for an attempt, before it is written. */
export type ProviderResult<Outcome extends ProviderOutcome = ProviderOutcome> = {
  attempt: ClaimedAttempt;
  outcome: Outcome;
  /** The effective time. */
  now: Date;
  /** When the result arrived, by the clock. */
  checkedAt: Date;
  notifyWorkflow: boolean;
};

/** The state of an attempt that its provider's result has just ended. */
export function stateAfter(
  { attempt, outcome, checkedAt }: ProviderResult,
  attemptStatus: AttemptStatus,
  rest: Pick<AttemptState, 'transactionStatus' | 'sessionStatus'>,
): AttemptState {
  return {
    queried: true,
    attemptId: attempt.id,
    attemptStatus,
    ...rest,
    final: true,
    outcomeKind: outcome.kind,
    lastCheckedAt: checkedAt,
    redirectUrl: null,
    leaseUntil: null,
  };
}

/** The stored state of one attempt. Throws NOT_FOUND. */
export async function readAttemptState(db: Queryable, attemptId: string): Promise<AttemptState> {
  const [row] = await rows<Omit<AttemptState, 'queried' | 'final'>>(
    db,
    `SELECT a.id AS attempt_id, a.status AS attempt_status, t.status AS transaction_status, s.status AS session_status,
            a.last_outcome AS outcome_kind, a.last_checked_at, a.redirect_url, a.lease_until
     FROM payment_attempt a
     JOIN checkout_session s ON s.id = a.session_id
     JOIN transaction t ON t.id = a.transaction_id
     WHERE a.id = :attemptId`,
    { attemptId },
  );
  if (!row) throw notFound('payment attempt');
  return { ...row, queried: false, final: isAttemptOver(row.attemptStatus) };
}

/** Whether the provider's latest result is a definite "not paid (yet)". */
export function reportsUnpaid(state: Pick<AttemptState, 'outcomeKind'>): boolean {
  return state.outcomeKind === 'accepted' || state.outcomeKind === 'pending';
}

/** The attempt of a callback address, found by the secret that ends the address; null for any other secret. */
export async function findAttemptBySecret(db: Queryable, secret: string): Promise<CallbackAttempt | null> {
  const [attempt] = await rows<CallbackAttempt>(
    db,
    `SELECT id AS attempt_id, channel, environment FROM payment_attempt WHERE callback_secret = :secret`,
    { secret },
  );
  return attempt ?? null;
}

/** An outbox row that signals an attempt's workflow that the attempt is over. */
export function attemptUpdatedMessage(attemptId: string): OutboxRow {
  return {
    id: newId('obx'),
    kind: 'signal',
    workflowType: 'payment',
    workflowId: paymentWorkflowId(attemptId),
    signal: 'attemptUpdated',
  };
}

/**
 * Parts of the statement that ends an attempt, where `ended` has a row if it does. A start of its workflow that is still in
 * the outbox is removed; otherwise `outbox_row` signals the workflow, with :messages. A workflow that is just being started
 * reads the attempt first.
 */
export function notifyWorkflowOf(ended: string): string {
  return `unstarted AS (
    DELETE FROM outbox o USING ${ended}
    WHERE o.workflow_id = '${paymentWorkflowId('')}' || CAST(:attemptId AS text) AND o.kind = 'start' AND o.lease_until IS NULL
    RETURNING o.id
  ), outbox_row AS (
    ${OUTBOX_INSERT} WHERE EXISTS (SELECT 1 FROM ${ended}) AND NOT EXISTS (SELECT 1 FROM unstarted)
    RETURNING id
  )`;
}
