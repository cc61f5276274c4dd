import { first, rows } from '../lib/db.ts';
import { callbackUrl, recheckOrders } from '../providers/callbacks.ts';
import { warnOfOutcome, warnOfProvider } from '../providers/exchange.ts';
import { checkUnderLease, isLeased, leaseEnd, type CheckDeps, type Claim } from '../providers/lease.ts';
import { findAccountOf, type PaymentOrder, type ProviderOutcome } from '../providers/provider.ts';
import { applyProviderResult, type ClaimedAttempt, type ProviderResult } from './apply-result.ts';
import type { CountResult } from './monitoring.ts';
import { readAttemptState, type AttemptState } from './queries.ts';
import { isAttemptOver, isQueryable, QUERYABLE_ATTEMPTS } from './states.ts';

export type CheckOptions = {
  /** Skips the query when the provider was queried less than this ago: 0 for callbacks, 1,000 for polls, 2,000 for reports. */
  minIntervalMs?: number;
  /** Whether to signal the attempt's workflow when this call ends the attempt: true for all callers but the workflow. */
  notifyWorkflow: boolean;
  /** The effective time, where it is not the clock's: a workflow's. */
  now?: Date;
};

/** `countResult`: of each attempt that a result ends. */
type SyncDeps = CheckDeps & { countResult?: CountResult };

export type CheckAttempt = (attemptId: string, options: CheckOptions) => Promise<AttemptState>;

/** Except for callbacks and polls: at most one query of an attempt in this time. */
export const MIN_QUERY_INTERVAL_MS = 2_000;
/** A workflow's polls are further apart; the first comes 2 s after the attempt, which was queried at once. */
export const POLL_INTERVAL_MIN_MS = 1_000;

/**
 * The one operation that resolves unknown outcomes: leases the attempt, queries its provider, applies the result. An
 * attempt the provider has not accepted yet is initiated (again, under the same order id). Repeats and parallel calls are
 * harmless: the lease of another one is waited for.
 */
export function createSyncAttempt(deps: SyncDeps): CheckAttempt {
  return async (attemptId, options) =>
    checkUnderLease<ClaimedAttempt, AttemptState>(deps.db, {
      table: 'payment_attempt',
      claim: async () => claimAttempt(deps, attemptId, options),
      check: async (attempt) => queryAndApply(deps, attempt, options),
    });
}

async function claimAttempt(
  deps: CheckDeps,
  attemptId: string,
  options: CheckOptions,
): Promise<Claim<ClaimedAttempt, AttemptState>> {
  const leased = await leaseAttempt(deps, attemptId, options);
  if (leased) return { leased };
  const state = await readAttemptState(deps.db, attemptId);
  // Claimed unless leased: the lease has ended since. The other query may precede the callback.
  const isMissed = !options.minIntervalMs && isQueryable(state.attemptStatus) && state.initiatedAt !== null;
  return isLeased(state, deps.clock()) || isMissed ? { busy: state } : { result: state };
}

/** The lease: one conditional UPDATE. An order that was never sent is not sent once the session's time is over. */
async function leaseAttempt(
  deps: CheckDeps,
  attemptId: string,
  options: CheckOptions,
): Promise<ClaimedAttempt | undefined> {
  const clock = deps.clock();
  // A callback is queried at once: clocks of several hosts differ.
  const { now = clock, minIntervalMs = 0 } = options;
  return first<ClaimedAttempt>(
    deps.db,
    `UPDATE payment_attempt a SET lease_until = :leaseUntil, initiated_at = coalesce(a.initiated_at, :now)
     FROM payment_attempt before
       JOIN checkout_session s ON s.id = before.session_id
       JOIN transaction t ON t.id = s.transaction_id
     WHERE a.id = :attemptId AND before.id = a.id AND a.status = ANY (:queryable)
       AND (a.lease_until IS NULL OR a.lease_until <= :clock)
       ${minIntervalMs > 0 ? 'AND (a.last_checked_at IS NULL OR a.last_checked_at <= :queriedBefore)' : ''}
       AND (a.initiated_at IS NOT NULL OR s.expires_at > :now)
     RETURNING a.*, before.initiated_at IS NOT NULL OR a.initiated_at <> :now AS is_repeat, s.attempts_count, s.expires_at, t.checkout_order_no,
               effective_fee_rule(a.merchant_id, a.channel, 'PAY_IN', :now) AS fee_rule`,
    {
      attemptId,
      queryable: [...QUERYABLE_ATTEMPTS],
      now,
      clock,
      leaseUntil: leaseEnd(deps.clock),
      queriedBefore: new Date(now.getTime() - minIntervalMs),
    },
  );
}

async function queryAndApply(deps: SyncDeps, attempt: ClaimedAttempt, options: CheckOptions): Promise<AttemptState> {
  const { now = deps.clock(), notifyWorkflow } = options;
  const outcome = await queryProvider(deps, attempt, now);
  const result = { attempt, outcome, now, checkedAt: deps.clock(), notifyWorkflow };
  const state = await applyProviderResult(deps, result);
  warnOperators(deps, result, state);
  if (state && state.attemptStatus !== attempt.status && isAttemptOver(state.attemptStatus))
    deps.countResult?.(attempt, state.attemptStatus);
  return state ?? { ...(await readAttemptState(deps.db, attempt.id)), queried: true };
}

/** Logs what an operator must look at. Only the call that booked unexpected money logs it, so once. */
function warnOperators({ log }: CheckDeps, { attempt, outcome }: ProviderResult, state: AttemptState | null): void {
  const { id: attemptId, transactionId, channel, environment } = attempt;
  warnOfOutcome(log, attempt, { attemptId, outcome });
  // Of payouts and refunds this code is a failure without a known reason; their rejected requests are unknown outcomes.
  if (environment === 'live' && outcome.kind === 'declined' && outcome.failure.code === 'REJECTED') {
    const what = 'the provider rejected the request itself: the order fails. Check the account:';
    warnOfProvider(log, { attemptId, channel }, { what, problem: outcome.failure.providerCode });
  }
  const ids = { attemptId, transactionId };
  if (state?.attemptStatus === 'HELD')
    log.warn(ids, 'payment with an unexpected amount, currency or reference is held');
  if (state?.attemptStatus === 'DUPLICATE') log.warn(ids, 'transaction was paid twice: the second payment is held');
}

async function queryProvider(deps: CheckDeps, attempt: ClaimedAttempt, now: Date): Promise<ProviderOutcome> {
  const sentAt = attempt.initiatedAt ?? now;
  const provider = await findAccountOf(deps.findProvider, { ...attempt, sentAt }, 'payments');
  if ('kind' in provider) return provider;
  const mayInitiate = attempt.status === 'CREATED' && now < attempt.expiresAt;
  if (!mayInitiate) return provider.query(attempt.id);
  const account = provider.accounts?.payments;
  if (account !== undefined && attempt.providerAccount === null) {
    const sql = 'UPDATE payment_attempt SET provider_account = :account WHERE id = :id';
    await rows(deps.db, sql, { id: attempt.id, account });
  }
  const outcome = await provider.initiate(paymentOrder(deps.baseUrl, attempt, provider.callbackBaseUrl));
  const isUnexplained = outcome.kind === 'declined' && outcome.failure.code === 'REJECTED';
  // It may reject the repeat alone, because the lost reply was to an accepted order: only a query gives the outcome.
  return attempt.isRepeat && isUnexplained ? provider.query(attempt.id) : outcome;
}

function paymentOrder(baseUrl: string, attempt: ClaimedAttempt, callbackBaseUrl = baseUrl): PaymentOrder {
  return {
    orderId: attempt.id,
    amountSantim: attempt.amountSantim,
    currency: attempt.currency,
    phone: attempt.phone,
    title: `Order ${attempt.checkoutOrderNo}`,
    notifyUrl: callbackUrl(callbackBaseUrl, { channel: attempt.channel, secret: attempt.callbackSecret }),
    returnUrl: `${baseUrl}/checkout/${attempt.sessionId}`,
    expiresAt: attempt.expiresAt,
  };
}

/**
 * Whether the query that a verified callback triggered is conclusive: the provider was queried and gave a definite outcome,
 * or the attempt's money is booked already. Otherwise the provider has to send the callback again.
 */
export function isConclusive(state: AttemptState): boolean {
  if (!isQueryable(state.attemptStatus)) return true;
  return state.queried && state.outcomeKind !== 'unknown';
}

/** Queries attempts again that had a verified callback and are still not paid, as {@link recheckOrders} does. */
export async function recheckAfterCallbacks(
  { db, clock, checkAttempt }: Pick<CheckDeps, 'db' | 'clock'> & { checkAttempt: CheckAttempt },
  limit: number,
): Promise<number> {
  const options = { minIntervalMs: MIN_QUERY_INTERVAL_MS, notifyWorkflow: true };
  return recheckOrders(db, {
    table: 'payment_attempt',
    where: 'o.status = ANY (:queryable)',
    values: { queryable: [...QUERYABLE_ATTEMPTS] },
    now: clock(),
    limit,
    check: async (id) => checkAttempt(id, options),
  });
}
