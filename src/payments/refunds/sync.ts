import type { Clock } from '../../lib/clock.ts';
import { first, type Queryable, type Trx } from '../../lib/db.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { callbackUrl, RECHECK_INTERVAL_MIN_MS, recheckOrders } from '../../providers/callbacks.ts';
import { warnOfOutcome } from '../../providers/exchange.ts';
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
} from '../../providers/lease.ts';
import { findAccountOf, isUnsent, type Provider, type RefundOutcome } from '../../providers/provider.ts';
import { applyRefundResult, type ApplyDeps, type LeasedRefund } from './apply-result.ts';
import { IS_COUNTED, lockRefund, readPaidAt, updateRefund, type RefundRow } from './queries.ts';
import { confirmableUntil } from './states.ts';
import { transitionRefund } from './transition.ts';

export type CheckedRefund = Checked<RefundRow>;

type RefundDeps = CheckDeps & Pick<ApplyDeps, 'findPaidPayout'>;

export type CheckRefund = (refundId: string, options: CheckOptions) => Promise<CheckedRefund>;

/**
 * The one operation that sends a refund and queries its outcome: leases the refund, sends or queries it, applies the report.
 * A refund that the provider does not know is sent again under the same id, which never pays twice. Money is released only
 * after the provider has declined, or where nobody has confirmed it in time. Idempotent, also when called in parallel.
 */
export function createCheckRefund(deps: RefundDeps): CheckRefund {
  return async (refundId, options) =>
    checkUnderLease<Claimed, CheckedRefund>(deps.db, {
      table: 'refund',
      claim: async () => claim(deps, refundId, options),
      check: async (claimed) => check(deps, claimed, options),
    });
}

/** `isFirst`: this call is the first to send it. `mayBeSent`: also again, where the provider does not know it. */
type Claimed = LeasedRefund & { isFirst: boolean; mayBeSent: boolean };

/**
 * Takes the lease. From then on the refund counts as sent, even if this process dies, so that its money is not released. A
 * refund of a suspended merchant is not sent, nor one whose part of the payment another one may have paid (resolve.ts).
 */
async function claim(
  { runInTransaction, clock }: CheckDeps,
  id: string,
  { minIntervalMs, proof = false, queryOnly = false, now: at = clock(), notifyWorkflow }: CheckOptions,
): Promise<Claim<Claimed, CheckedRefund>> {
  return runInTransaction(async (tx) => {
    const row = await lockRefund(tx.trx, id);
    const { status, stage } = row;
    if (stage === 'AWAITING_CONFIRMATION') {
      return { result: unqueried(await endUnconfirmed(tx, row, { at, notifyWorkflow })) };
    }
    const isFirst = stage === 'CREATED';
    const isQueryable = status === 'PENDING' || (proof && status === 'FAILED' && row.submittedAt !== null);
    if (isLeased(row, clock())) return { busy: unqueried(row) };
    if (!isQueryable || !isCheckDue(row, { at, minIntervalMs })) return { result: unqueried(row) };
    const isWanted = status === 'PENDING' && row.firstReportedPaidAt === null;
    const mayBeSent = !queryOnly && isWanted && (await isSendable(tx.trx, row));
    if (isFirst && !mayBeSent) return { result: unqueried(row) };
    const leaseUntil = leaseEnd(clock);
    const sent = { stage: 'SUBMITTED', version: row.version + 1 } as const;
    const changes = { leaseUntil, submittedAt: row.submittedAt ?? at, ...(isFirst && sent) };
    const leased = await updateRefund(tx.trx, row, changes);
    return { leased: { ...leased, leaseUntil, isFirst, mayBeSent } };
  });
}

/** Whether its merchant is active, and the refunds of its payment are not more than was paid. */
async function isSendable(trx: Trx, { merchantId, transactionId }: RefundRow): Promise<boolean> {
  const sql = `SELECT m.status = 'ACTIVE' AND coalesce(t.received_santim, t.amount_santim) >= (
      SELECT sum(coalesce(r.paid_santim, r.amount_santim)) FROM refund r WHERE r.transaction_id = t.id AND ${IS_COUNTED}) AS is_sendable
    FROM merchant m JOIN transaction t ON t.merchant_id = m.id WHERE m.id = :merchantId AND t.id = :transactionId`;
  return (await first<{ isSendable: boolean }>(trx, sql, { merchantId, transactionId }))?.isSendable ?? false;
}

async function endUnconfirmed(tx: UnitOfWork, row: RefundRow, end: { at: Date; notifyWorkflow: boolean }) {
  if (end.at < confirmableUntil(row.requestedAt)) return row;
  const message = 'No second person of the merchant confirmed it within 7 days.';
  const failure = { code: 'TIMED_OUT', message, providerCode: '', retryable: true } as const;
  return transitionRefund(tx, row, { ...end, to: 'FAILED', changes: { failure } });
}

async function check(
  deps: RefundDeps,
  claimed: Claimed,
  { now: at = deps.clock(), notifyWorkflow }: CheckOptions,
): Promise<CheckedRefund> {
  const outcome = await queryProvider(deps, claimed);
  warnOfOutcome(deps.log, claimed, { refundId: claimed.id, outcome });
  const isNone = claimed.isFirst && isUnsent(outcome);
  const row = isNone
    ? await takeBack(deps, claimed)
    : await applyRefundResult(deps, claimed, { outcome, at, notifyWorkflow });
  return { row, queried: true, outcome: outcome.kind };
}

/** The submission was none: as before it. */
async function takeBack({ runInTransaction, clock }: CheckDeps, claimed: Claimed) {
  return runInTransaction(async ({ trx }) => {
    const row = await lockRefund(trx, claimed.id);
    if (!hasLease(row, claimed)) return row;
    const unsent = { stage: 'CREATED', submittedAt: null, leaseUntil: null } as const;
    return updateRefund(trx, row, { ...unsent, lastCheckedAt: clock(), version: row.version + 1 });
  });
}

async function queryProvider(deps: CheckDeps, row: Claimed): Promise<RefundOutcome> {
  const sentAt = await readPaidAt(deps.db, row);
  const provider = await findAccountOf(deps.findProvider, { ...row, sentAt }, 'payments');
  if ('kind' in provider) return provider;
  if (row.isFirst) return send(deps, provider, row);
  const outcome = await provider.queryRefund({ refundId: row.id, paymentId: row.attemptId });
  // The first submission was lost: the same id is paid once at most.
  return outcome.kind === 'not-found' && row.mayBeSent ? send(deps, provider, row) : outcome;
}

async function send({ baseUrl, clock }: CheckDeps, provider: Provider, row: Claimed): Promise<RefundOutcome> {
  // After the lease expired another check may have been declined and released the money.
  if (clock() >= row.leaseUntil) return { kind: 'unknown', reason: 'timeout', message: 'not sent: the lease expired' };
  const { id: refundId, attemptId: paymentId, amountSantim, currency, channel, callbackSecret: secret } = row;
  const notifyUrl = callbackUrl(provider.callbackBaseUrl ?? baseUrl, { channel, secret });
  return provider.refund({ refundId, paymentId, amountSantim, currency, notifyUrl, reason: row.reason ?? 'Refund' });
}

/** Whether a check concludes the verified callback that triggered it. */
export function isRefundConclusive({ row, queried, outcome }: CheckedRefund): boolean {
  return row.status === 'SUCCESS' || row.submittedAt === null || (queried && outcome !== 'unknown');
}

/** For so long a provider's queries may lag behind its callbacks, as of withdrawals. */
const QUERY_LAG = "interval '20 minutes'";

/**
 * Checks refunds again that had a verified callback in the last 24 h and are PENDING, or had failed before it and were not
 * queried well after it: they may have been paid after all.
 */
export async function recheckRefundsAfterCallbacks(
  { db, clock, checkRefund }: { db: Queryable; clock: Clock; checkRefund: CheckRefund },
  limit: number,
): Promise<number> {
  const where = `o.status = 'PENDING' OR (o.status = 'FAILED' AND callback.received_at > o.completed_at
    AND (o.last_outcome = 'unknown' OR coalesce(o.last_checked_at, o.completed_at) < callback.received_at + ${QUERY_LAG}))`;
  const options = { minIntervalMs: RECHECK_INTERVAL_MIN_MS, proof: true, notifyWorkflow: true };
  const check = async (id: string) => checkRefund(id, options);
  return recheckOrders(db, { table: 'refund', idColumn: 'refund_id', where, now: clock(), limit, check });
}
