import type { Clock } from '../lib/clock.ts';
import { first, rows, type Queryable } from '../lib/db.ts';
import { callbackUrl, RECHECK_INTERVAL_MIN_MS, recheckOrders } from '../providers/callbacks.ts';
import { warnOfOutcome } from '../providers/exchange.ts';
import {
  checkUnderLease,
  hasLease,
  isCheckDue,
  isLeased,
  leaseEnd,
  unqueried,
  type CheckDeps,
  type Checked,
  type CheckOptions,
  type Claim,
} from '../providers/lease.ts';
import { findAccountOf, isUnsent, type PayoutOrder, type PayoutOutcome, type Provider } from '../providers/provider.ts';
import { applyProviderResult, type LeasedWithdrawal } from './apply-result.ts';
import { destinationOf, lockWithdrawal, updateWithdrawal, type WithdrawalRow } from './queries.ts';

export type CheckedPayout = Checked<WithdrawalRow>;

export type CheckPayout = (withdrawalId: string, options: CheckOptions) => Promise<CheckedPayout>;

/**
 * The one operation that sends a payout and queries its outcome: leases the withdrawal, sends or queries it, applies the
 * report. A payout that the provider does not know is sent again under the same id, which never pays twice. Money is
 * released only after the provider has declined. Idempotent, also when called in parallel.
 */
export function createCheckPayout(deps: CheckDeps): CheckPayout {
  return async (withdrawalId, options) =>
    checkUnderLease<Claimed, CheckedPayout>(deps.db, {
      table: 'withdrawal',
      claim: async () => claim(deps, withdrawalId, options),
      check: async (claimed) => check(deps, claimed, options),
    });
}

/** `isFirst`: this call is the first to send it. `mayBeSent`: also again, where the provider does not know it. */
type Claimed = LeasedWithdrawal & { isFirst: boolean; mayBeSent: boolean };

/**
 * Takes the lease. From then on the withdrawal counts as sent, even if this process dies, so that its money is not released.
 * A withdrawal of a suspended merchant is not sent.
 */
async function claim(
  { runInTransaction, clock }: CheckDeps,
  id: string,
  { minIntervalMs, proof = false, queryOnly = false, now: at = clock() }: CheckOptions,
): Promise<Claim<Claimed, CheckedPayout>> {
  return runInTransaction(async (tx) => {
    const row = await lockWithdrawal(tx.trx, id);
    const { status, stage, merchantId } = row;
    const isFirst = stage === 'CREATED';
    const isQueryable =
      status === 'PENDING'
        ? isFirst || stage === 'SUBMITTED' || stage === 'UNKNOWN'
        : status === 'SUCCESS' || (proof && status === 'FAILED');
    if (isLeased(row, clock())) return { busy: unqueried(row) };
    if (!isQueryable || !isCheckDue(row, { at, minIntervalMs })) return { result: unqueried(row) };
    const merchant = await first<{ status: string }>(tx.trx, 'SELECT status FROM merchant WHERE id = :merchantId', {
      merchantId,
    });
    const mayBeSent = merchant?.status === 'ACTIVE' && !queryOnly && row.firstReportedPaidAt === null;
    if (isFirst && !mayBeSent) return { result: unqueried(row) };
    const leaseUntil = leaseEnd(clock);
    const sent = { stage: 'SUBMITTED', version: row.version + 1 } as const;
    const changes = { leaseUntil, submittedAt: row.submittedAt ?? at, ...(isFirst && sent) };
    const leased = await updateWithdrawal(tx, row, changes);
    return { leased: { ...leased, leaseUntil, isFirst, mayBeSent } };
  });
}

async function check(
  deps: CheckDeps,
  claimed: Claimed,
  { now: at = deps.clock(), notifyWorkflow }: CheckOptions,
): Promise<CheckedPayout> {
  const outcome = await queryProvider(deps, claimed);
  warnOfOutcome(deps.log, claimed, { withdrawalId: claimed.id, outcome });
  const isNone = claimed.isFirst && isUnsent(outcome);
  const row = isNone
    ? await takeBack(deps, claimed)
    : await applyProviderResult(deps, claimed, { outcome, at, notifyWorkflow });
  return { row, queried: true, outcome: outcome.kind };
}

/** The submission was none: as before it, the merchant can cancel the withdrawal, and any account can send it. */
async function takeBack({ runInTransaction, clock }: CheckDeps, claimed: Claimed) {
  return runInTransaction(async (tx) => {
    const row = await lockWithdrawal(tx.trx, claimed.id);
    if (!hasLease(row, claimed)) return row;
    const unsent = { stage: 'CREATED', submittedAt: null, providerAccount: null, leaseUntil: null } as const;
    return updateWithdrawal(tx, row, { ...unsent, lastCheckedAt: clock(), version: row.version + 1 });
  });
}

async function queryProvider(deps: CheckDeps, row: Claimed): Promise<PayoutOutcome> {
  const sentAt = row.submittedAt ?? deps.clock();
  const provider = await findAccountOf(deps.findProvider, { ...row, sentAt }, 'payouts');
  if ('kind' in provider) return provider;
  if (row.isFirst) return send(deps, provider, row);
  const outcome = await provider.queryPayout(row.id);
  // The first submission was lost: the same id is paid once at most.
  const isLost = outcome.kind === 'not-found' && row.status === 'PENDING';
  return isLost && row.mayBeSent ? send(deps, provider, row) : outcome;
}

async function send({ db, baseUrl, clock }: CheckDeps, provider: Provider, row: Claimed): Promise<PayoutOutcome> {
  // After the lease expired another check may have been declined and released the money.
  if (clock() >= row.leaseUntil) return { kind: 'unknown', reason: 'timeout', message: 'not sent: the lease expired' };
  const account = provider.accounts?.payouts;
  if (account !== undefined && row.providerAccount === null) {
    await rows(db, 'UPDATE withdrawal SET provider_account = :account WHERE id = :id', { id: row.id, account });
  }
  const { accountName, ...destination } = destinationOf(row);
  const order: PayoutOrder = {
    orderId: row.id,
    amountSantim: row.amountSantim,
    currency: row.currency,
    destination,
    accountName,
    notifyUrl: callbackUrl(provider.callbackBaseUrl ?? baseUrl, { channel: row.channel, secret: row.callbackSecret }),
  };
  return provider.payout(order);
}

/**
 * Whether a check concludes the verified callback that triggered it: the provider was queried and knows the outcome, or
 * the withdrawal was never sent or is reversed, which no report changes.
 */
export function isPayoutConclusive({ row, queried, outcome }: CheckedPayout): boolean {
  if (['REJECTED', 'CANCELLED', 'REVERSED'].includes(row.status)) return true;
  return queried && outcome !== 'unknown';
}

/** For so long a provider's queries may lag behind its callbacks. */
const QUERY_LAG = "interval '20 minutes'";

/**
 * Checks withdrawals again that had a verified callback in the last 24 h and are PENDING, or ended before the callback
 * and were not queried well after it: they may have been reversed or paid after all. As {@link recheckOrders} does.
 */
export async function recheckPayoutsAfterCallbacks(
  { db, clock, checkPayout }: { db: Queryable; clock: Clock; checkPayout: CheckPayout },
  limit: number,
): Promise<number> {
  const where = `o.status = 'PENDING' OR (o.status IN ('SUCCESS', 'FAILED') AND callback.received_at > o.completed_at
    AND (o.last_outcome = 'unknown' OR coalesce(o.last_checked_at, o.completed_at) < callback.received_at + ${QUERY_LAG}))`;
  const options = { minIntervalMs: RECHECK_INTERVAL_MIN_MS, proof: true, notifyWorkflow: true };
  const check = async (id: string) => checkPayout(id, options);
  return recheckOrders(db, { table: 'withdrawal', idColumn: 'withdrawal_id', where, now: clock(), limit, check });
}
