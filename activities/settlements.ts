import type { SettlementStatus } from '../src/settlements/states.ts';
import { elapsedMs } from './business-time.ts';
import { asNonRetryable } from './non-retryable.ts';

export type { SettlementInput } from '../src/settlements/workflow-input.ts';

/** Where the settlement stands, and the instants that its business days lead to. Histories keep no more than this. */
export type SettlementReport = {
  status: SettlementStatus;
  /** Its last expected day is over, and that was noted. */
  overdue: boolean;
  /** When its first expected day begins. */
  earliestAtMs: number;
  /** When its last expected day is over. */
  overdueAtMs: number;
};

export type SettlementDeps = {
  /** Reads it, its days counted by the holidays as they stand. */
  recomputeDates: (settlementId: string, at: Date) => Promise<SettlementReport>;
  /** The sandbox's own review, where no operator has decided. */
  autoDecide: (settlementId: string, at: Date) => Promise<void>;
  /** Notes that its last expected day is over, if it is. */
  markOverdue: (settlementId: string, at: Date) => Promise<SettlementReport>;
};

type SettlementRequest = { settlementId: string; atMs: number };

export type SettlementActivities = ReturnType<typeof createSettlementActivities>;

/** @param elapsed milliseconds since the running activity was scheduled. */
export function createSettlementActivities(deps: SettlementDeps, elapsed = elapsedMs) {
  const timeOf = (atMs: number): Date => new Date(atMs + elapsed());
  return {
    async readSettlement({ settlementId, atMs }: SettlementRequest): Promise<SettlementReport> {
      return asNonRetryable(() => deps.recomputeDates(settlementId, timeOf(atMs)));
    },

    async decideSettlementInSandbox({ settlementId, atMs }: SettlementRequest): Promise<SettlementReport> {
      return asNonRetryable(async () => {
        await deps.autoDecide(settlementId, timeOf(atMs));
        return deps.recomputeDates(settlementId, timeOf(atMs));
      });
    },

    async markSettlementOverdue({ settlementId, atMs }: SettlementRequest): Promise<SettlementReport> {
      return asNonRetryable(() => deps.markOverdue(settlementId, timeOf(atMs)));
    },
  };
}
