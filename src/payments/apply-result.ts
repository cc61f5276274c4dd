import { feeWithin, readFeeRule, type FeeRuleJson } from '../ledger/fees.ts';
import { paymentPosting, suspensePosting } from '../ledger/postings.ts';
import { isUniqueViolation } from '../lib/db-errors.ts';
import { first, type Queryable } from '../lib/db.ts';
import { TIMELINE_INSERT } from '../lib/timeline.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import type { Leased } from '../providers/lease.ts';
import { isUnsent, type ProviderOutcome } from '../providers/provider.ts';
import { selectStates, toState, type AttemptRow, type AttemptState, type StateRow } from './queries.ts';
import { afterDecline, isAttemptOver, isQueryable, QUERYABLE_ATTEMPTS, type HeldReason } from './states.ts';
import { lockPayment, PAID_REFERENCE, transitionPayment, type LockedPayment, type Transition } from './transition.ts';

/** An attempt as its lease holder needs it: the data to query the provider with, and the data its result is checked against. */
export type ClaimedAttempt = AttemptRow &
  Leased & {
    /** Whether it was sent before, so that the provider may have the order. */
    isRepeat: boolean;
    attemptsCount: number;
    expiresAt: Date;
    checkoutOrderNo: string;
    /** The fee rule in force now, should the attempt succeed. */
    feeRule: FeeRuleJson;
  };

export type ProviderResult<Outcome extends ProviderOutcome = ProviderOutcome> = {
  attempt: ClaimedAttempt;
  outcome: Outcome;
  /** The effective time. */
  now: Date;
  /** When the result arrived, by the clock. */
  checkedAt: Date;
  notifyWorkflow: boolean;
};
type Paid = ProviderResult<Extract<ProviderOutcome, { kind: 'succeeded' }>>;
type Declined = ProviderResult<Extract<ProviderOutcome, { kind: 'declined' }>>;

type Change = Omit<Transition, 'at' | 'notifyWorkflow'>;

type ResultDeps = { db: Queryable; runInTransaction: RunInTransaction };

/**
 * Applies a provider's result. The expected amount makes the transaction SUCCESS from any status: late money is booked,
 * never dropped. Another amount or currency, or a reference that has paid another transaction, is held, and a second payment
 * is a duplicate, until an operator decides.
 * @returns the attempt's state; null if the attempt had ended meanwhile.
 */
export async function applyProviderResult(deps: ResultDeps, result: ProviderResult): Promise<AttemptState | null> {
  const { outcome, attempt } = result;
  if (outcome.kind === 'succeeded') {
    const paid = { ...result, outcome };
    return endAttempt(deps, result, (locked) => afterPayment(paid, locked, mismatchOf(paid))).catch(
      (error: unknown) => {
        if (!isUniqueViolation(error, PAID_REFERENCE)) throw error;
        return endAttempt(deps, result, (locked) => afterPayment(paid, locked, 'REFERENCE_USED'));
      },
    );
  }
  if (outcome.kind === 'declined' && !isAttemptOver(attempt.status)) {
    return endAttempt(deps, result, (locked) => afterDeclined({ ...result, outcome }, locked));
  }
  return recordProviderResult(deps.db, result);
}

/** Makes the change that the result causes in the locked payment; null: none. */
async function endAttempt(
  { runInTransaction }: ResultDeps,
  { attempt, outcome, now, checkedAt, notifyWorkflow }: ProviderResult,
  changeOf: (locked: LockedPayment) => Change | null,
): Promise<AttemptState | null> {
  return runInTransaction(async (tx) => {
    const locked = await lockPayment(tx.trx, attempt.id);
    const change = changeOf(locked);
    if (!change) return null;
    const checked = { lastOutcome: outcome.kind, lastCheckedAt: checkedAt, leaseUntil: null };
    const ended = { ...change.attempt, ...checked, endedAt: now };
    const { status } = await transitionPayment(tx, locked, { ...change, attempt: ended, at: now, notifyWorkflow });
    const { attemptId, sessionStatus } = locked;
    return toState(
      {
        ...attempt,
        ...checked,
        attemptId,
        attemptStatus: ended.status,
        transactionStatus: status,
        sessionStatus: change.session ?? sessionStatus,
        outcomeKind: outcome.kind,
        redirectUrl: null,
      },
      true,
    );
  });
}

function mismatchOf({ attempt, outcome }: Paid): HeldReason | null {
  if (outcome.currency !== attempt.currency) return 'WRONG_CURRENCY';
  return outcome.amountSantim === attempt.amountSantim ? null : 'WRONG_AMOUNT';
}

function afterPayment(paid: Paid, locked: LockedPayment, reason: HeldReason | null): Change | null {
  const { attempt, outcome, now } = paid;
  if (!isQueryable(locked.attemptStatus)) return null;
  const { channel } = attempt;
  const { providerReference, providerCode, amountSantim, currency } = outcome;
  const received = { receivedSantim: amountSantim, receivedCurrency: currency };
  const columns = { failure: null, providerReference, providerCode, ...received };
  const expected = { attemptId: attempt.id, channel, providerReference };
  const unexpected = {
    attemptId: attempt.id,
    reason,
    expectedSantim: Number(attempt.amountSantim),
    receivedSantim: Number(amountSantim),
    currency,
  };
  const isSecond = locked.transactionStatus === 'SUCCESS';
  if (isSecond || reason !== null) {
    // Money in ETB is posted to suspense until an operator decides.
    const isPosted = currency === 'ETB' && amountSantim > 0n;
    return {
      attempt: { ...columns, status: isSecond ? 'DUPLICATE' : 'HELD' },
      transaction: isSecond ? {} : { holdReason: reason, providerReference },
      timeline: [
        { kind: isSecond ? 'payment.duplicate' : 'payment.held', detail: reason === null ? expected : unexpected },
      ],
      posting: isPosted ? suspensePosting({ ...attempt, attemptId: attempt.id, amountSantim }) : null,
    };
  }
  const fee = feeWithin(readFeeRule(attempt.feeRule), amountSantim);
  const confirmedLate = locked.transactionStatus !== 'PENDING';
  const cleared = { failure: null, needsReconciliation: false };
  return {
    attempt: { ...columns, status: 'SUCCEEDED' },
    session: 'COMPLETED',
    transaction: { channel, providerReference, confirmedLate, completedAt: now, ...cleared, ...fee },
    timeline: [{ kind: 'payment.succeeded', detail: { ...expected, late: confirmedLate } }],
    posting: paymentPosting({ ...attempt, ...fee }),
  };
}

/**
 * The session opens for another attempt, or fails after a hard decline or the last attempt, or expires after its expiry;
 * while another payment of it is held it does not end.
 */
function afterDeclined({ attempt, outcome: { failure }, now }: Declined, locked: LockedPayment): Change | null {
  if (isAttemptOver(locked.attemptStatus)) return null;
  const { attemptsCount, expiresAt } = attempt;
  const wanted = afterDecline({ retryable: failure.retryable, attemptsCount, expired: expiresAt <= now });
  const stays = locked.holdReason !== null && wanted !== 'OPEN';
  const session = stays || locked.sessionStatus !== 'PROCESSING' ? undefined : wanted;
  const { code, providerCode } = failure;
  const detail = { attemptId: attempt.id, code, providerCode, next: stays ? 'PROCESSING' : wanted };
  return {
    attempt: { status: 'DECLINED', providerCode, failure },
    session,
    ...(session === 'FAILED' && { transaction: { failure } }),
    timeline: [{ kind: 'attempt.declined', detail }],
  };
}

/** In SQL: the order was never sent, and no other check has taken the lease since. */
const UNSENT = 'CAST(:unsent AS boolean) AND lease_until IS NOT DISTINCT FROM CAST(:leaseUntil AS timestamptz)';

/** Stores a result that ends nothing, and releases the lease. The timeline gets only results that differ. */
async function recordProviderResult(db: Queryable, result: ProviderResult): Promise<AttemptState | null> {
  const { attempt, outcome, now, checkedAt } = result;
  const providerCode = 'providerCode' in outcome ? outcome.providerCode : null;
  const detail = { attemptId: attempt.id, outcome: outcome.kind, ...(providerCode === null ? {} : { providerCode }) };
  const state = await first<StateRow>(
    db,
    `WITH recorded AS (
       UPDATE payment_attempt SET
         status = CASE WHEN status = 'CREATED' AND CAST(:kind AS text) <> 'unknown' THEN 'PENDING' ELSE status END,
         last_outcome = :kind, last_checked_at = :checkedAt, lease_until = NULL,
         initiated_at = CASE WHEN NOT (${UNSENT}) THEN initiated_at END,
         provider_account = CASE WHEN NOT (${UNSENT}) THEN provider_account END,
         provider_code = coalesce(:providerCode, provider_code),
         provider_reference = coalesce(:providerReference, provider_reference),
         redirect_url = coalesce(:redirectUrl, redirect_url)
       WHERE id = :attemptId AND status = ANY (:queryable)
       RETURNING *
     ), timeline_row AS (
       ${TIMELINE_INSERT}
       SELECT transaction_id, :now, 'provider.responded', CAST(:detail AS jsonb) FROM recorded WHERE CAST(:differs AS boolean)
     )
     ${selectStates('recorded')}`,
    {
      attemptId: attempt.id,
      queryable: [...QUERYABLE_ATTEMPTS],
      kind: outcome.kind,
      unsent: !attempt.isRepeat && isUnsent(outcome),
      leaseUntil: attempt.leaseUntil,
      now,
      checkedAt,
      providerCode,
      providerReference: 'providerReference' in outcome ? outcome.providerReference : null,
      redirectUrl: outcome.kind === 'accepted' ? outcome.redirectUrl : null,
      detail: JSON.stringify(detail),
      differs: outcome.kind !== attempt.lastOutcome,
    },
  );
  return state ? toState(state, true) : null;
}
