import type { Clock } from '../lib/clock.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { callbackUrl, RECHECK_INTERVAL_MIN_MS, recheckOrders } from '../providers/callbacks.ts';
import { warnOfOutcome } from '../providers/exchange.ts';
import {
  checkUnderLease,
  hasLease,
  isLeased,
  leaseEnd,
  type CheckDeps,
  type Claim,
  type Leased,
} from '../providers/lease.ts';
import { findAccountOf, isUnsent, type PayoutOutcome } from '../providers/provider.ts';
import { endUnconfirmed } from './confirm.ts';
import { changePayout, payoutById, type PayoutRow } from './queries.ts';
import { applyReport } from './report.ts';
import type { PayoutRules } from './rules.ts';

/** How a payout or refund is checked. */
export type CheckOptions = {
  /** No query if the last one is more recent than this. */
  minIntervalMs: number;
  /** A verified callback or a statement reports it: a FAILED one is queried as well. */
  proof?: boolean;
  /** Sends nothing: neither what was not sent yet, nor again what the provider does not know. */
  queryOnly?: boolean;
  /** Whether to signal the order's workflow when this check changes something; false in the workflow itself. */
  notifyWorkflow: boolean;
  /** The effective time, if not the clock's: a workflow's. */
  now?: Date;
};

/** The effective time of a change, and whether to signal the workflow. */
type Effect = { at: Date; notifyWorkflow: boolean };

/**
 * A payout or refund after a check. `queried`: this call queried the provider, and `outcome` is its report. `isConclusive`: it
 * concludes the verified callback that triggered it, because the provider was queried and knows the outcome, or no report
 * changes the order: it has ended without having been sent, or has the final status. One that is not sent yet is not
 * concluded, so that the provider calls again.
 */
type Checked<Row> = { row: Row; queried: boolean; outcome: string | null; isConclusive: boolean };
export type Check<Row> = (id: string, options: CheckOptions) => Promise<Checked<Row>>;

/** `isFirst`: this call is the first to send it. `mayBeSent`: also again, where the provider does not know it. */
type Claimed<Row> = Row & Leased & { isFirst: boolean; mayBeSent: boolean };

/**
 * The one operation that sends payouts or refunds and queries their outcomes: leases the order, sends or queries it, applies
 * the report. An order that the provider does not know is sent again under the same id, which never pays twice. Money is
 * released only after the provider has declined. Idempotent, also when called in parallel.
 */
export function createCheck<Row extends PayoutRow>(deps: CheckDeps, rules: PayoutRules<Row>): Check<Row> {
  return async (id, { now, ...options }) =>
    checkUnderLease<Claimed<Row>, Checked<Row>>(deps.db, {
      table: 'payout',
      claim: async () => claim(deps, rules, { id, at: now ?? deps.clock(), ...options }),
      check: async (claimed) => {
        const at = now ?? deps.clock();
        const outcome = await queryProvider(deps, rules, claimed);
        warnOfOutcome(deps.log, claimed, { [`${rules.kind}Id`]: id, outcome });
        const isNone = claimed.isFirst && isUnsent(outcome);
        const { notifyWorkflow } = options;
        const row = isNone
          ? await takeBack(deps, claimed)
          : await applyReport(deps, rules, { leased: claimed, outcome, at, notifyWorkflow });
        return checkedOf(row, { queried: true, outcome: outcome.kind, finalStatus: rules.finalStatus });
      },
    });
}

function checkedOf<Row extends PayoutRow>(
  row: Row,
  { finalStatus, ...report }: { finalStatus: string; queried: boolean; outcome: string | null },
): Checked<Row> {
  const isFinal = row.status === finalStatus || (row.status !== 'PENDING' && row.submittedAt === null);
  return { row, ...report, isConclusive: isFinal || (report.queried && report.outcome !== 'unknown') };
}

/**
 * Takes the lease. From then on the order counts as sent, even if this process dies, so that its money is not released.
 */
async function claim<Row extends PayoutRow>(
  { runInTransaction, clock }: CheckDeps,
  rules: PayoutRules<Row>,
  {
    id,
    minIntervalMs,
    proof = false,
    queryOnly = false,
    ...effect
  }: Omit<CheckOptions, 'now'> & Effect & { id: string },
): Promise<Claim<Claimed<Row>, Checked<Row>>> {
  const { at } = effect;
  const { finalStatus } = rules;
  const unqueried = (row: Row) => checkedOf(row, { queried: false, outcome: row.lastOutcome, finalStatus });
  return runInTransaction(async (tx) => {
    const row = await payoutById<Row>(rules.kind).lock(tx.trx, id);
    if (row.stage === 'AWAITING_CONFIRMATION') {
      return { result: unqueried(await endUnconfirmed(tx, rules, { before: row, ...effect })) };
    }
    if (isLeased(row, clock())) return { busy: unqueried(row) };
    const isPending = row.status === 'PENDING';
    const isFirst = row.stage === 'CREATED';
    const isQueryable = isPending
      ? ['CREATED', 'SUBMITTED', 'UNKNOWN'].includes(row.stage)
      : row.submittedAt !== null && row.status !== finalStatus && (proof || row.status === 'SUCCESS');
    const sinceMs = row.lastCheckedAt === null ? Infinity : at.getTime() - row.lastCheckedAt.getTime();
    const isDue = minIntervalMs === 0 || sinceMs >= minIntervalMs;
    if (!isQueryable || !isDue) return { result: unqueried(row) };
    const isWanted = isPending && !queryOnly && row.firstReportedPaidAt === null;
    const mayBeSent = isWanted && (await rules.isSendable(tx.trx, row));
    if (isFirst && !mayBeSent) return { result: unqueried(row) };
    const leaseUntil = leaseEnd(clock);
    const sent = { stage: 'SUBMITTED', version: row.version + 1 } as const;
    const changes = { leaseUntil, submittedAt: row.submittedAt ?? at, ...(isFirst && sent) };
    return { leased: { ...(await changePayout(tx.trx, row, changes)), leaseUntil, isFirst, mayBeSent } };
  });
}

/** The submission was none: as before it, the merchant can cancel a withdrawal, and any account can send it. */
async function takeBack<Row extends PayoutRow>(
  { runInTransaction, clock }: CheckDeps,
  claimed: Claimed<Row>,
): Promise<Row> {
  return runInTransaction(async ({ trx }) => {
    const row = await payoutById<Row>(claimed.kind).lock(trx, claimed.id);
    if (!hasLease(row, claimed)) return row;
    const unsent = { stage: 'CREATED', submittedAt: null, providerAccount: claimed.providerAccount } as const;
    const checked = { lastCheckedAt: clock(), leaseUntil: null, version: row.version + 1 };
    return changePayout(trx, row, { ...unsent, ...checked });
  });
}

async function queryProvider<Row extends PayoutRow>(
  { db, findProvider, clock, baseUrl }: CheckDeps,
  rules: PayoutRules<Row>,
  row: Claimed<Row>,
): Promise<PayoutOutcome> {
  const sentAt = (await rules.readSentAt?.(db, row)) ?? row.submittedAt ?? clock();
  const provider = await findAccountOf(findProvider, { ...row, sentAt }, rules.account);
  if ('kind' in provider) return provider;
  if (!row.isFirst) {
    const outcome = await rules.query(provider, row);
    // Else the first submission was lost: the same id is paid once at most.
    if (outcome.kind !== 'not-found' || !row.mayBeSent) return outcome;
  }
  // After the lease expired another check may have been declined and released the money.
  if (clock() >= row.leaseUntil) {
    return { kind: 'unknown', reason: 'timeout', message: 'not sent: the lease expired' };
  }
  const account = provider.accounts?.[rules.account];
  if (account !== undefined && row.providerAccount === null) {
    await rows(db, 'UPDATE payout SET provider_account = :account WHERE id = :id', { id: row.id, account });
  }
  const { channel, callbackSecret: secret } = row;
  return rules.send(provider, row, callbackUrl(provider.callbackBaseUrl ?? baseUrl, { channel, secret }));
}

/** For so long a provider's queries may lag behind its callbacks. */
const QUERY_LAG = "interval '20 minutes'";

/**
 * Checks orders again that had a verified callback in the last 24 h and are PENDING, or ended before the callback and were not
 * queried well after it: they may have been reversed or paid after all. As {@link recheckOrders} does.
 */
export async function recheckOutgoing<Row>(
  { db, clock, check }: { db: Queryable; clock: Clock; check: Check<Row> },
  { kind, finalStatus }: Pick<PayoutRules, 'kind' | 'finalStatus'>,
  limit: number,
): Promise<number> {
  const where = `o.kind = '${kind}' AND (o.status = 'PENDING' OR (
    o.status <> '${finalStatus}' AND o.submitted_at IS NOT NULL AND callback.received_at > o.completed_at
    AND (o.last_outcome = 'unknown' OR coalesce(o.last_checked_at, o.completed_at) < callback.received_at + ${QUERY_LAG})))`;
  const options = { minIntervalMs: RECHECK_INTERVAL_MIN_MS, proof: true, notifyWorkflow: true };
  return recheckOrders(db, { table: 'payout', where, now: clock(), limit, check: async (id) => check(id, options) });
}
