import { setTimeout as sleep } from 'node:timers/promises';

import type { Clock } from '../lib/clock.ts';
import { isUniqueViolation, rows, type Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { callbackUrl } from '../providers/callbacks.ts';
import type { FindProvider, PaymentOrder, ProviderOutcome } from '../providers/provider.ts';
import { readAttemptState, type AttemptState, type ClaimedAttempt, type Settlement } from './attempt.ts';
import { confirmPayment, holdPayment, PAID_REFERENCE } from './confirm.ts';
import { declineAttempt } from './decline.ts';
import { QUERYABLE_ATTEMPTS, isQueryable, isAttemptOver } from './states.ts';

export type CheckDeps = {
  db: Knex;
  runInTransaction: RunInTransaction;
  findProvider: FindProvider;
  clock: Clock;
  /** Where providers and customers reach us, without a slash at the end. */
  baseUrl: string;
  log: Pick<Logger, 'warn'>;
};

export type CheckOptions = {
  /** Does not ask when the provider was asked less than this ago: 0 for proofs, 1,000 for polls, 2,000 for claims. */
  minIntervalMs?: number;
  /** Whether to tell the attempt's workflow when this check ends the attempt (everybody but the workflow itself). */
  notifyWorkflow: boolean;
  /** The time of business, where it is not the clock's: a workflow's. */
  now?: Date;
};

export type CheckAttempt = (attemptId: string, options: CheckOptions) => Promise<AttemptState>;

/** Longer than a provider call may take; after it a dead process's attempt may be asked by others. */
export const LEASE_MS = 5_000;
/** How long to wait for the answer that another process is fetching. */
const OTHERS_ANSWER_WAIT_MS = 2_000;
const OTHERS_ANSWER_POLL_MS = 100;
/** All but proofs and polls: at most one question about an attempt in this time. */
export const MIN_QUERY_INTERVAL_MS = 2_000;
/** A workflow's polls are further apart by themselves; the first comes 2 s after the attempt, which was asked about at once. */
export const POLL_INTERVAL_MIN_MS = 1_000;

/**
 * The one operation that settles doubt: leases the attempt, asks its provider, applies the answer. Not yet accepted by
 * the provider, it is initiated (again, under the same order id); else queried. Repeats and parallel calls are
 * harmless: within a process they share one question, across processes the lease is waited for.
 */
export function createSyncAttempt(deps: CheckDeps): CheckAttempt {
  const flights = new Map<string, Promise<AttemptState>>();
  const launch = (attemptId: string, options: CheckOptions): Promise<AttemptState> => {
    const flight = check(deps, attemptId, options).finally(() => flights.delete(attemptId));
    flights.set(attemptId, flight);
    return flight;
  };
  return async (attemptId, options) => {
    const earlier = flights.get(attemptId);
    if (!earlier) return launch(attemptId, options);
    const state = await earlier;
    if (!isQueryable(state.attemptStatus) || (options.minIntervalMs ?? 0) > 0) return { ...state, queried: false };
    // That question may have left before the proof we were called for: one begun after it must answer.
    return flights.get(attemptId) ?? launch(attemptId, options);
  };
}

async function check(deps: CheckDeps, attemptId: string, options: CheckOptions): Promise<AttemptState> {
  for (let waitedMs = 0; ; waitedMs += OTHERS_ANSWER_POLL_MS) {
    const claimed = await claimAttempt(deps, attemptId, options);
    if (claimed) return ask(deps, claimed, options);
    const { leaseUntil, ...state } = await readAttemptState(deps.db, attemptId);
    const leasedByOther = leaseUntil !== null && leaseUntil > deps.clock();
    if (!leasedByOther || waitedMs >= OTHERS_ANSWER_WAIT_MS) return state;
    await sleep(OTHERS_ANSWER_POLL_MS);
  }
}

/** The lease: one conditional UPDATE. An order never sent is not sent any more once the session's time is over. */
async function claimAttempt(
  deps: CheckDeps,
  attemptId: string,
  options: CheckOptions,
): Promise<ClaimedAttempt | undefined> {
  const clockMs = deps.clock().getTime();
  const now = options.now ?? new Date(clockMs);
  // A proof is asked about at once: clocks of several hosts differ.
  const minIntervalMs = options.minIntervalMs ?? 0;
  const [claimed] = await rows<ClaimedAttempt>(
    deps.db,
    `UPDATE payment_attempt a SET lease_until = :leaseUntil, initiated_at = coalesce(a.initiated_at, :now)
     FROM checkout_session s JOIN transaction t ON t.id = s.transaction_id
     WHERE a.id = :attemptId AND s.id = a.session_id AND a.status = ANY (:queryable)
       AND (a.lease_until IS NULL OR a.lease_until <= :clock)
       ${minIntervalMs > 0 ? 'AND (a.last_checked_at IS NULL OR a.last_checked_at <= :queriedBefore)' : ''}
       AND (a.initiated_at IS NOT NULL OR s.expires_at > :now)
     RETURNING a.id, a.session_id, a.transaction_id, a.merchant_id, a.environment, a.channel, a.phone, a.amount_santim, a.currency,
               a.status, a.last_outcome, a.callback_secret, s.status AS session_status, s.attempts_count, s.expires_at,
               a.lease_until, t.checkout_order_no, effective_fee_rule(a.merchant_id, a.channel, 'PAY_IN', :now) AS fee_rule`,
    {
      attemptId,
      queryable: [...QUERYABLE_ATTEMPTS],
      now,
      clock: new Date(clockMs),
      leaseUntil: new Date(clockMs + LEASE_MS),
      queriedBefore: new Date(now.getTime() - minIntervalMs),
    },
  );
  return claimed;
}

async function ask(deps: CheckDeps, attempt: ClaimedAttempt, options: CheckOptions): Promise<AttemptState> {
  const now = options.now ?? deps.clock();
  const { notifyWorkflow } = options;
  try {
    const outcome = await queryProvider(deps, attempt, now);
    warnOfOtherOrder(deps, attempt, outcome);
    const checkedAt = deps.clock();
    const updated = await applyOutcome(deps, { attempt, outcome, now, checkedAt, notifyWorkflow });
    if (updated) warnOfUnexpectedMoney(deps, attempt, updated);
    if (updated) return updated;
  } catch (error) {
    await giveLeaseBack(deps.db, attempt).catch(() => undefined);
    throw error;
  }
  const { leaseUntil: _, ...state } = await readAttemptState(deps.db, attempt.id);
  return { ...state, queried: true };
}

/** After a failure, so that the next check need not wait for the lease's end. */
async function giveLeaseBack(db: Knex, { id, leaseUntil }: ClaimedAttempt): Promise<void> {
  await rows(db, `UPDATE payment_attempt SET lease_until = NULL WHERE id = :id AND lease_until = :leaseUntil`, {
    id,
    leaseUntil,
  });
}

/** Its provider mixes orders up, or somebody answers in its place. */
function warnOfOtherOrder({ log }: CheckDeps, { id, channel }: ClaimedAttempt, outcome: ProviderOutcome): void {
  if (outcome.kind !== 'unknown' || outcome.reason !== 'other-order') return;
  log.warn({ attemptId: id, channel, reason: outcome.reason }, 'a provider answered about another order: not believed');
}

/** Money that an operator must look at: told by whoever booked it, so once. */
function warnOfUnexpectedMoney({ log }: CheckDeps, attempt: ClaimedAttempt, { attemptStatus }: AttemptState): void {
  const ids = { attemptId: attempt.id, transactionId: attempt.transactionId };
  if (attemptStatus === 'HELD')
    log.warn(ids, 'a payment is held for an operator: another amount or currency, or a reference that was used before');
  if (attemptStatus === 'DUPLICATE')
    log.warn(ids, 'a transaction was paid twice: the second payment is to be returned');
}

async function queryProvider(deps: CheckDeps, attempt: ClaimedAttempt, now: Date): Promise<ProviderOutcome> {
  const provider = deps.findProvider(attempt.channel, attempt.environment);
  if (!provider)
    return { kind: 'unknown', reason: 'network', message: `no provider is configured for ${attempt.channel}` };
  const mayInitiate = attempt.status === 'CREATED' && now < attempt.expiresAt;
  return mayInitiate ? provider.initiate(paymentOrder(deps.baseUrl, attempt)) : provider.query(attempt.id);
}

function paymentOrder(baseUrl: string, attempt: ClaimedAttempt): PaymentOrder {
  return {
    orderId: attempt.id,
    amountSantim: attempt.amountSantim,
    currency: attempt.currency,
    phone: attempt.phone,
    title: `Order ${attempt.checkoutOrderNo}`,
    notifyUrl: callbackUrl(baseUrl, { channel: attempt.channel, secret: attempt.callbackSecret }),
    returnUrl: `${baseUrl}/checkout/${attempt.sessionId}`,
    expiresAt: attempt.expiresAt,
  };
}

/** null: somebody else ended the attempt meanwhile, or the answer changes nothing; the rows say where it stands. */
async function applyOutcome(deps: CheckDeps, settlement: Settlement): Promise<AttemptState | null> {
  const { attempt, outcome } = settlement;
  if (outcome.kind === 'succeeded') {
    return confirmOrHold(deps, { ...settlement, outcome });
  }
  if (outcome.kind === 'declined' && !isAttemptOver(attempt.status)) {
    return deps.runInTransaction((tx) => declineAttempt(tx, { ...settlement, outcome }));
  }
  await recordProviderResult(deps.db, settlement);
  return null;
}

/** A reference that has paid another transaction pays no second one: what came under it waits for an operator. */
async function confirmOrHold(
  { runInTransaction }: CheckDeps,
  paid: Parameters<typeof confirmPayment>[1],
): Promise<AttemptState | null> {
  try {
    return await runInTransaction((tx) => confirmPayment(tx, paid));
  } catch (error) {
    if (!isUniqueViolation(error, PAID_REFERENCE)) throw error;
    return runInTransaction((tx) => holdPayment(tx, paid, 'REFERENCE_USED'));
  }
}

/** Saves an answer that ends nothing, and gives the lease back. The timeline tells only of answers that differ. */
async function recordProviderResult(db: Knex, { attempt, outcome, now, checkedAt }: Settlement): Promise<void> {
  const providerCode = 'providerCode' in outcome ? outcome.providerCode : null;
  const detail = { attemptId: attempt.id, outcome: outcome.kind, ...(providerCode === null ? {} : { providerCode }) };
  await rows(
    db,
    `WITH timeline_row AS (
       UPDATE payment_attempt SET
         status = CASE WHEN status = 'CREATED' AND CAST(:kind AS text) <> 'unknown' THEN 'PENDING' ELSE status END,
         last_outcome = :kind, last_checked_at = :checkedAt, lease_until = NULL,
         provider_code = coalesce(:providerCode, provider_code),
         provider_reference = coalesce(:providerReference, provider_reference),
         redirect_url = coalesce(:redirectUrl, redirect_url)
       WHERE id = :attemptId AND status = ANY (:queryable)
       RETURNING transaction_id
     )
     INSERT INTO transaction_timeline (transaction_id, occurred_at, kind, detail)
     SELECT transaction_id, :now, 'provider.responded', CAST(:detail AS jsonb) FROM timeline_row WHERE CAST(:differs AS boolean)`,
    {
      attemptId: attempt.id,
      queryable: [...QUERYABLE_ATTEMPTS],
      kind: outcome.kind,
      now,
      checkedAt,
      providerCode,
      providerReference: 'providerReference' in outcome ? outcome.providerReference : null,
      redirectUrl: outcome.kind === 'accepted' ? outcome.redirectUrl : null,
      detail: JSON.stringify(detail),
      differs: outcome.kind !== attempt.lastOutcome,
    },
  );
}
