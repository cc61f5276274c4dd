import { rows, type Database } from '../../src/lib/db.ts';
import { runResendBatch } from '../../src/webhooks/delivery/resend-jobs.ts';

type Deps = Parameters<typeof runResendBatch>[0] & { db: Database };

/** One batch of each bulk resend that has not ended, as their workflows make it. Returns how many resends were requested. */
export async function runResendBatches(deps: Deps, ratePerSecond: number): Promise<number> {
  const open = await rows<{ id: string }>(
    deps.db,
    'SELECT id FROM webhook_resend_job WHERE ended_at IS NULL ORDER BY id',
  );
  let requested = 0;
  for (const { id: jobId } of open) requested += (await runResendBatch(deps, { jobId, ratePerSecond })).requested;
  return requested;
}
