import { startOfAddisDay } from '../src/lib/dates.ts';
import { overdueFrom, type SettlementRow } from '../src/settlements/queries.ts';
import type { SettlementStatus } from '../src/settlements/states.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { SettlementInput } from '../src/settlements/workflow.ts';

/** The status of a settlement and the instants of its business days: all that histories contain of it. */
export type SettlementReport = {
  status: SettlementStatus;
  /** Marked as overdue: its last expected day is over. */
  overdue: boolean;
  /** When its first expected day begins. */
  earliestAtMs: number;
  /** When its last expected day is over. */
  overdueAtMs: number;
};

type Settlement = Pick<SettlementRow, 'status' | 'overdueAt' | 'expectedFrom' | 'expectedUntil'>;

export type SettlementDeps = {
  /** Recomputes its days by the current holidays, and marks it as overdue once the last of them is over. */
  updateDates: (settlementId: string, at: Date) => Promise<Settlement>;
  /** The sandbox's own review, if no operator has decided. */
  autoDecide: (settlementId: string, at: Date) => Promise<void>;
};

type SettlementRequest = { settlementId: string; atMs: number };

export type SettlementActivities = ReturnType<typeof createSettlementActivities>;

export function createSettlementActivities(deps: SettlementDeps) {
  const timeOf = (atMs: number): Date => new Date(atMs + elapsedMs());
  return withoutUselessRetries({
    async readSettlement({ settlementId, atMs }: SettlementRequest): Promise<SettlementReport> {
      return reportOf(await deps.updateDates(settlementId, timeOf(atMs)));
    },

    async decideSettlementInSandbox({ settlementId, atMs }: SettlementRequest): Promise<SettlementReport> {
      await deps.autoDecide(settlementId, timeOf(atMs));
      return reportOf(await deps.updateDates(settlementId, timeOf(atMs)));
    },
  });
}

function reportOf({ status, overdueAt, ...days }: Settlement): SettlementReport {
  return {
    status,
    overdue: overdueAt !== null,
    earliestAtMs: startOfAddisDay(days.expectedFrom).getTime(),
    overdueAtMs: overdueFrom(days).getTime(),
  };
}
