import { setTimeout as sleep } from 'node:timers/promises';

import type { Clock } from '../lib/clock.ts';
import { rows, type Knex } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { PROOF_VALID_MS, RECHECK_AGE_PART, RECHECK_INTERVAL_MIN_MS } from '../payments/recheck-callbacks.ts';
import { callbackUrl } from '../providers/callbacks.ts';
import type { FindProvider, PayoutOrder, PayoutOutcome, Provider } from '../providers/provider.ts';
import { applyProviderResult, type LeasedWithdrawal } from './apply-result.ts';
import { destinationOf, readWithdrawal, type WithdrawalRow } from './queries.ts';
import type { WithdrawalStage } from './states.ts';

export type CheckPayoutDeps = {
  db: Knex;
  runInTransaction: RunInTransaction;
  findProvider: FindProvider;
  clock: Clock;
  /** Where providers reach us, without a slash at the end. */
  baseUrl: string;
  log: Pick<Logger, 'warn' | 'error'>;
};

export type CheckPayoutOptions = {
  /** Does not ask when the provider was asked less than this ago. */
  minIntervalMs: number;
  /** The provider itself has said something: then one that had failed is asked about too. */
  proof?: boolean;
  /** Sends nothing: neither what was never sent, nor again what its provider does not know. */
  queryOnly?: boolean;
  /** Whether to tell the withdrawal's workflow of what this check changes (everybody but the workflow itself). */
  notifyWorkflow: boolean;
  /** The time of business, where it is not the clock's: a workflow's. */
  now?: Date;
};

/** Where the withdrawal stands after a check. `asked`: this very call heard `outcome` from the provider. */
export type CheckedPayout = { row: WithdrawalRow; queried: boolean; outcome: PayoutOutcome['kind'] | null };

export type CheckPayout = (withdrawalId: string, options: CheckPayoutOptions) => Promise<CheckedPayout>;

/** Longer than a provider call may take, twice; after it a dead process's withdrawal may be asked about by others. */
const LEASE_MS = 10_000;
const OTHERS_ANSWER_WAIT_MS = 2_000;
const OTHERS_ANSWER_POLL_MS = 100;

/**
 * The one operation that sends a payout and settles doubt about it: leases the withdrawal, sends it or asks about it,
 * applies the answer. A payout the provider never took is sent again under the same id, which never pays twice. Nothing
 * is given back but for the provider's definite no. Repeats and parallel calls are harmless.
 */
export function createCheckPayout(deps: CheckPayoutDeps): CheckPayout {
  return async (withdrawalId, options) => {
    for (let waitedMs = 0; ; waitedMs += OTHERS_ANSWER_POLL_MS) {
      const claimed = await claim(deps, withdrawalId, options);
      if (claimed) return ask(deps, claimed, options);
      const row = await readWithdrawal(deps.db, withdrawalId);
      const leasedByOther = row.leaseUntil !== null && row.leaseUntil > deps.clock();
      if (!leasedByOther || waitedMs >= OTHERS_ANSWER_WAIT_MS) return { row, queried: false, outcome: row.lastOutcome };
      await sleep(OTHERS_ANSWER_POLL_MS);
    }
  };
}

/** `cameFrom`: its stage before, CREATED when this call is the first to send it. */
type Claimed = LeasedWithdrawal & { cameFrom: WithdrawalStage; mayBeSent: boolean };

/**
 * The lease: one conditional UPDATE. From here on it counts as sent, whatever becomes of this process, so that nobody
 * gives its money back. A suspended merchant's is not sent.
 */
async function claim(
  deps: CheckPayoutDeps,
  id: string,
  { minIntervalMs, proof = false, queryOnly = false, now }: CheckPayoutOptions,
): Promise<Claimed | undefined> {
  const clock = deps.clock();
  const at = now ?? clock;
  const [claimed] = await rows<Claimed>(
    deps.db,
    `WITH before AS (
       SELECT w.id, w.stage,
         m.status = 'ACTIVE' AND NOT CAST(:queryOnly AS boolean) AND w.first_reported_paid_at IS NULL AS may_be_sent
       FROM withdrawal w JOIN merchant m ON m.id = w.merchant_id
       WHERE w.id = :id AND w.status = ANY (:queryable) AND w.stage <> 'UNDER_REVIEW'
         AND (w.stage <> 'CREATED' OR (m.status = 'ACTIVE' AND NOT CAST(:queryOnly AS boolean)))
         AND (w.lease_until IS NULL OR w.lease_until <= :clock)
         ${minIntervalMs > 0 ? 'AND (w.last_checked_at IS NULL OR w.last_checked_at <= :queriedBefore)' : ''}
       FOR UPDATE OF w
     ), claimed AS (
       UPDATE withdrawal w SET lease_until = :leaseUntil, submitted_at = coalesce(w.submitted_at, :at),
         stage = CASE w.stage WHEN 'CREATED' THEN 'SUBMITTED' ELSE w.stage END,
         version = w.version + CASE w.stage WHEN 'CREATED' THEN 1 ELSE 0 END
       FROM before WHERE w.id = before.id
       RETURNING w.*, before.stage AS came_from, before.may_be_sent
     ), timeline_row AS (
       INSERT INTO withdrawal_timeline (withdrawal_id, occurred_at, kind)
       SELECT id, CAST(:at AS timestamptz), 'payout.submitted' FROM claimed WHERE came_from = 'CREATED'
     )
     SELECT * FROM claimed`,
    {
      id,
      queryOnly,
      queryable: proof ? ['PENDING', 'SUCCESS', 'FAILED'] : ['PENDING', 'SUCCESS'],
      at,
      clock,
      leaseUntil: new Date(clock.getTime() + LEASE_MS),
      queriedBefore: new Date(at.getTime() - minIntervalMs),
    },
  );
  return claimed;
}

async function ask(deps: CheckPayoutDeps, claimed: Claimed, options: CheckPayoutOptions): Promise<CheckedPayout> {
  const at = options.now ?? deps.clock();
  try {
    const outcome = await queryProvider(deps, claimed);
    if (outcome.kind === 'unknown' && outcome.reason === 'other-order') {
      const about = { withdrawalId: claimed.id, channel: claimed.channel, reason: outcome.reason };
      deps.log.warn(about, 'a provider answered about another order: not believed');
    }
    const row = await applyProviderResult(deps, claimed, { outcome, at, notifyWorkflow: options.notifyWorkflow });
    return { row: row ?? (await readWithdrawal(deps.db, claimed.id)), queried: true, outcome: outcome.kind };
  } catch (error) {
    await giveLeaseBack(deps.db, claimed).catch(() => undefined);
    throw error;
  }
}

/** After a failure, so that the next check need not wait for the lease's end. */
async function giveLeaseBack(db: Knex, { id, leaseUntil }: Claimed): Promise<void> {
  await rows(db, 'UPDATE withdrawal SET lease_until = NULL WHERE id = :id AND lease_until = :leaseUntil', {
    id,
    leaseUntil,
  });
}

async function queryProvider(deps: CheckPayoutDeps, row: Claimed): Promise<PayoutOutcome> {
  const provider = deps.findProvider(row.channel, row.environment);
  if (!provider) {
    return { kind: 'unknown', reason: 'network', message: `no provider is configured for ${row.channel}` };
  }
  if (row.cameFrom === 'CREATED') return send(deps, provider, row);
  const outcome = await provider.queryPayout(row.id);
  // The first sending was lost on its way: the same id again pays once at most.
  const isLost = outcome.kind === 'not-found' && row.status === 'PENDING';
  return isLost && row.mayBeSent ? send(deps, provider, row) : outcome;
}

async function send({ baseUrl, clock }: CheckPayoutDeps, provider: Provider, row: Claimed): Promise<PayoutOutcome> {
  // Who slept through its lease may be late: another may have had a definite no, and given the money back.
  if (clock() >= row.leaseUntil) return { kind: 'unknown', reason: 'timeout', message: 'not sent: the lease ran out' };
  const { accountName, ...destination } = destinationOf(row);
  const order: PayoutOrder = {
    orderId: row.id,
    amountSantim: row.amountSantim,
    currency: row.currency,
    destination,
    accountName,
    notifyUrl: callbackUrl(baseUrl, { channel: row.channel, secret: row.callbackSecret }),
  };
  return provider.payout(order);
}

/**
 * Whether the check that a provider's genuine word set off may count as its answer: it was asked and was definite, or
 * the withdrawal was never sent or has come back, which nothing changes any more.
 */
export function isPayoutConclusive({ row, queried, outcome }: CheckedPayout): boolean {
  if (['REJECTED', 'CANCELLED', 'REVERSED'].includes(row.status)) return true;
  return queried && outcome !== 'unknown';
}

/** So long may a provider's answers know less than its callbacks say. */
const QUERY_LAG_MINUTES = 20;

/**
 * Asks again about withdrawals whose provider sent a genuine callback in the last 24 h that did not settle them: one that
 * is PENDING, or one that had ended before the provider spoke, which may have been reversed or paid after all, until the
 * provider has answered well after it spoke. At most `limit` of them, ever more rarely, as payments are rechecked.
 * @returns how many were asked about. Throws when a check failed, after all were made.
 */
export async function recheckProvenPayouts(
  { db, clock, checkPayout }: { db: Knex; clock: Clock; checkPayout: CheckPayout },
  limit: number,
): Promise<number> {
  const now = clock();
  const due = await rows<{ id: string }>(
    db,
    `SELECT w.id
     FROM (
       SELECT withdrawal_id, max(created_at) AS said_at FROM provider_callback
       WHERE verified AND created_at > :validFrom AND withdrawal_id IS NOT NULL GROUP BY withdrawal_id
     ) said JOIN withdrawal w ON w.id = said.withdrawal_id
     WHERE (w.status = 'PENDING' OR (
         w.status IN ('SUCCESS', 'FAILED') AND said.said_at > w.completed_at
         AND (w.last_outcome = 'unknown' OR coalesce(w.last_checked_at, w.completed_at) < said.said_at + CAST(:lag AS interval))))
       AND coalesce(w.last_checked_at, w.created_at) <= least(
         CAST(:queriedBefore AS timestamptz),
         CAST(:now AS timestamptz) - (CAST(:now AS timestamptz) - said.said_at) / ${RECHECK_AGE_PART})
     ORDER BY random() LIMIT :limit`,
    {
      now,
      validFrom: new Date(now.getTime() - PROOF_VALID_MS),
      queriedBefore: new Date(now.getTime() - RECHECK_INTERVAL_MIN_MS),
      lag: `${QUERY_LAG_MINUTES} minutes`,
      limit,
    },
  );
  const options = { minIntervalMs: RECHECK_INTERVAL_MIN_MS, proof: true, notifyWorkflow: true };
  const checks = await Promise.allSettled(due.map(async ({ id }) => checkPayout(id, options)));
  const failed = checks.find((check) => check.status === 'rejected');
  if (failed) throw failed.reason;
  return due.length;
}
