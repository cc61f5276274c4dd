import type { z } from 'zod';

import type { Clock } from '../../lib/clock.ts';
import { first, rows, type Queryable } from '../../lib/db.ts';
import { found, invalidState } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { lock } from '../../lib/lock.ts';
import type { Listed } from '../../lib/paginate-newest.ts';
import type { Environment, MerchantScope } from '../../lib/scope.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { resendJobMessage } from './resend-workflow.ts';
import { resendEligible } from './resend.ts';
import type { OperatorResendJob } from './schema.ts';

/** Bulk resends that a merchant or an operator may run at once in an environment; each has its own rate. */
const RUNNING_JOBS_MAX = 5;
/** A batch has what a second allows. The pause is shorter, for what a batch takes. */
export const BATCH_EVERY_MS = 900;

/** Whose job it is: a merchant's, or an operator's over all merchants. */
type Owner = MerchantScope | { merchantId: null; environment: Environment; operatorId: string; reason: string };

/** Which deliveries are resent: conditions on a webhook_delivery d. */
type Selection = Pick<Listed, 'where' | 'values'> & { limit: number };

/** `ratePerSecond`: at most so many, where the platform's rate is higher. */
type NewResendJob = { owner: Owner; selection: Selection; ratePerSecond?: number | null | undefined };

/** In SQL: the ids of the deliveries that a bulk resend includes. */
const matchingSql = ({ where }: Selection): string => `
  SELECT d.id FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.subscription_id
  WHERE ${where} AND s.active AND s.deleted_at IS NULL
  ORDER BY d.created_at, d.id LIMIT :limit`;

/** The number of deliveries that a bulk resend would include. */
export async function countResendJob(db: Queryable, selection: Selection) {
  const sql = `SELECT CAST(count(*) AS integer) AS matched FROM (${matchingSql(selection)}) matching`;
  const { values, limit } = selection;
  return { matched: (await first<{ matched: number }>(db, sql, { ...values, limit }))?.matched ?? 0 };
}

/**
 * Starts a bulk resend of the selected deliveries, oldest first, at most `limit`, and its workflow. Those of inactive or deleted
 * subscriptions do not match. Throws INVALID_STATE when five jobs of the owner are running.
 */
export async function createResendJob(
  { clock }: { clock: Clock },
  { trx, enqueue }: UnitOfWork,
  { owner, selection, ratePerSecond = null }: NewResendJob,
) {
  const now = clock();
  const jobId = newId('whj', now.getTime());
  const { merchantId: ownerMerchantId, environment: jobEnvironment } = owner;
  const { operatorId, reason } = 'operatorId' in owner ? owner : { operatorId: null, reason: null };
  const values = { ownerMerchantId, jobEnvironment, operatorId, reason, ratePerSecond, jobId, now };
  await lock(trx, 'resend_job', ownerMerchantId ?? operatorId ?? '');
  const running = await rows(
    trx,
    `SELECT FROM webhook_resend_job WHERE coalesce(merchant_id, operator_id) = coalesce(:ownerMerchantId, :operatorId)
       AND environment = :jobEnvironment AND status = 'RUNNING'`,
    values,
  );
  if (running.length >= RUNNING_JOBS_MAX) {
    throw invalidState(`${running.length} resend jobs are running: wait for one to end, or cancel it.`);
  }
  const job = await first<{ matched: number }>(
    trx,
    `WITH matching AS (${matchingSql(selection)}), inserted_items AS (
       INSERT INTO webhook_resend_item (job_id, delivery_id) SELECT :jobId, id FROM matching
     )
     INSERT INTO webhook_resend_job
       (id, merchant_id, operator_id, reason, environment, status, matched, rate_max, next_batch_at, created_at)
     SELECT :jobId, :ownerMerchantId, :operatorId, :reason, :jobEnvironment, 'RUNNING', count(*),
            CAST(:ratePerSecond AS integer), :now, :now FROM matching
     RETURNING matched`,
    { ...selection.values, ...values, limit: selection.limit },
  );
  await enqueue([resendJobMessage({ jobId, merchantId: ownerMerchantId, environment: jobEnvironment })]);
  return { jobId, matched: job?.matched ?? 0 };
}

/** A job of a merchant in an environment; without a merchant, an operator's. */
type Target = { jobId: string } & (MerchantScope | { merchantId: null; environment: null });

const IS_TARGET = `j.id = :jobId AND j.merchant_id IS NOT DISTINCT FROM :merchantId
  AND j.environment = coalesce(:environment, j.environment)`;

/**
 * A bulk resend. `sent` are the resends requested so far; `delivered` and `failed` those of them that are complete.
 * Throws NOT_FOUND, also for another merchant's.
 */
export async function findResendJob(db: Queryable, target: Target) {
  const sql = `
    SELECT j.*, j.id AS job_id, j.rate_max AS rate_per_second,
           CAST(count(i.job_id) FILTER (WHERE i.state <> 'WAITING') AS integer) AS sent,
           CAST(count(i.job_id) FILTER (WHERE i.state = 'DELIVERED') AS integer) AS delivered,
           CAST(count(i.job_id) FILTER (WHERE i.state = 'FAILED') AS integer) AS failed
    FROM webhook_resend_job j LEFT JOIN webhook_resend_item i ON i.job_id = j.id
    WHERE ${IS_TARGET} GROUP BY j.id`;
  return found(await first<z.input<typeof OperatorResendJob>>(db, sql, target), 'resend job');
}

/** Requests no more resends; those requested still complete. Idempotent; throws INVALID_STATE once the job is DONE. */
export async function cancelResendJob({ trx }: UnitOfWork, target: Target) {
  const sql = `UPDATE webhook_resend_job j SET status = 'CANCELLED' WHERE ${IS_TARGET} AND status = 'RUNNING'`;
  await rows(trx, sql, target);
  const job = await findResendJob(trx, target);
  if (job.status === 'DONE') throw invalidState('The resend job is DONE: there is nothing to cancel.');
  return job;
}

/** The same by the workflow of the job, which was cancelled: a job that has ended stays as it is. */
export async function stopResendJob(db: Queryable, jobId: string): Promise<void> {
  await rows(db, `UPDATE webhook_resend_job SET status = 'CANCELLED' WHERE id = :jobId AND status = 'RUNNING'`, {
    jobId,
  });
}

type ResendJobDeps = { runInTransaction: RunInTransaction; clock: Clock };

/** `requested`: the resends of this batch. `hasEnded`: all that were requested have, and no more will be. */
export type ResendBatch = { requested: number; status: 'RUNNING' | 'DONE' | 'CANCELLED'; hasEnded: boolean };

/**
 * One batch of a bulk resend, to be called each {@link BATCH_EVERY_MS}: requests its next resends, `ratePerSecond` at most, counts
 * the complete ones, and closes the job when all are. Does nothing before the batch is due, however many call it.
 */
export async function runResendBatch(
  deps: ResendJobDeps,
  batch: { jobId: string; ratePerSecond: number },
): Promise<ResendBatch> {
  return deps.runInTransaction(async (tx) => {
    const requested = await runIfDue(deps, tx, batch);
    const sql = 'SELECT status, ended_at IS NOT NULL AS has_ended FROM webhook_resend_job WHERE id = :jobId';
    const job = found(await first<Omit<ResendBatch, 'requested'>>(tx.trx, sql, batch), 'resend job');
    return { requested, ...job };
  });
}

async function runIfDue(
  deps: ResendJobDeps,
  tx: UnitOfWork,
  { jobId, ratePerSecond }: { jobId: string; ratePerSecond: number },
): Promise<number> {
  const now = deps.clock();
  const job = await first<{ status: string; rateMax: number | null; reason: string | null }>(
    tx.trx,
    `UPDATE webhook_resend_job SET next_batch_at = :next
     WHERE id = (SELECT id FROM webhook_resend_job
                 WHERE id = :jobId AND ended_at IS NULL AND next_batch_at <= :now FOR UPDATE SKIP LOCKED)
     RETURNING status, rate_max, reason`,
    { jobId, now, next: new Date(now.getTime() + BATCH_EVERY_MS) },
  );
  if (!job) return 0;
  const items = await rows<{ deliveryId: string }>(
    tx.trx,
    `UPDATE webhook_resend_item SET state = 'SENT'
     WHERE job_id = :jobId AND delivery_id = ANY (ARRAY(
       SELECT delivery_id FROM webhook_resend_item WHERE job_id = :jobId AND state = 'WAITING'
       ORDER BY delivery_id LIMIT :most FOR UPDATE SKIP LOCKED))
     RETURNING delivery_id`,
    { jobId, most: job.status === 'RUNNING' ? Math.min(job.rateMax ?? ratePerSecond, ratePerSecond) : 0 },
  );
  const deliveryIds = items.map((item) => item.deliveryId);
  const { requested } = await resendEligible(deps, tx, { scope: null, deliveryIds, reason: job.reason });
  // A resend is complete when its delivery has left the resend state. One that was rejected never entered it.
  await rows(
    tx.trx,
    `UPDATE webhook_resend_item i SET state = CASE WHEN d.status = 'DELIVERED' THEN 'DELIVERED' ELSE 'FAILED' END
     FROM webhook_delivery d
     WHERE i.job_id = :jobId AND i.state = 'SENT' AND d.id = i.delivery_id AND d.status_before_resend IS NULL`,
    { jobId },
  );
  await rows(
    tx.trx,
    `UPDATE webhook_resend_job j
     SET ended_at = :now, status = CASE WHEN j.status = 'RUNNING' THEN 'DONE' ELSE j.status END
     WHERE j.id = :jobId AND NOT EXISTS (
       SELECT FROM webhook_resend_item i WHERE i.job_id = j.id
         AND (i.state = 'SENT' OR (i.state = 'WAITING' AND j.status = 'RUNNING')))`,
    { jobId, now },
  );
  return requested.length;
}
