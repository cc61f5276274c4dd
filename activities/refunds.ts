import type { RefundStage, RefundStatus } from '../src/payouts/refunds/states.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { RefundInput } from '../src/payouts/refunds/workflow.ts';

/** Status and stage: all that histories contain of a refund. */
type RefundReport = { status: RefundStatus; stage: RefundStage };

/** `check` sends it or queries the provider, and applies the report; or ends it where it was not confirmed in time. */
export type RefundDeps = { check: (refundId: string, at: Date) => Promise<RefundReport> };

export type RefundActivities = ReturnType<typeof createRefundActivities>;

export function createRefundActivities(deps: RefundDeps) {
  return withoutUselessRetries({
    async checkRefund({ refundId, atMs }: { refundId: string; atMs: number }): Promise<RefundReport> {
      const { status, stage } = await deps.check(refundId, new Date(atMs + elapsedMs()));
      return { status, stage };
    },
  });
}
