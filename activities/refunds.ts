import type { RefundStage, RefundStatus } from '../src/payouts/refunds/states.ts';
import { untilConfirmed, type UntilConfirmed } from '../src/payouts/states.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { RefundInput } from '../src/payouts/refunds/workflow.ts';

/** All that histories contain of a refund. */
type RefundReport = { status: RefundStatus; stage: RefundStage } & UntilConfirmed;
type RefundNow = { status: RefundStatus; stage: RefundStage; requestedAt: Date };

/** `check` sends it or queries the provider, and applies the report; or ends it where it was not confirmed in time. */
export type RefundDeps = { check: (refundId: string, at: Date) => Promise<RefundNow> };

export type RefundActivities = ReturnType<typeof createRefundActivities>;

export function createRefundActivities(deps: RefundDeps) {
  return withoutUselessRetries({
    async checkRefund({ refundId, atMs }: { refundId: string; atMs: number }): Promise<RefundReport> {
      const { status, stage, requestedAt } = await deps.check(refundId, new Date(atMs + elapsedMs()));
      return { status, stage, ...untilConfirmed({ stage, requestedAt }) };
    },
  });
}
