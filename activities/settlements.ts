import { startOfAddisDay } from '../src/lib/dates.ts';
import { autoDecide } from '../src/settlements/decide.ts';
import { markOverdue, recomputeDates, type DatesDeps } from '../src/settlements/expected-dates.ts';
import { overdueFrom, type SettlementRow } from '../src/settlements/queries.ts';
import type { SettlementStatus } from '../src/settlements/states.ts';
import { elapsedMs, withoutUselessRetries } from './running.ts';

export type { SettlementInput } from '../src/settlements/workflow.ts';

/** The status of a settlement and the instants of its business days: all that histories retain of it. */
export type SettlementReport = {
  status: SettlementStatus;
  /** Marked as overdue: its last expected day is over. */
  overdue: boolean;
  /** When its first expected day begins. */
  earliestAtMs: number;
  /** When its last expected day is over. */
  overdueAtMs: number;
};

export type SettlementDeps = DatesDeps;

type SettlementRequest = { settlementId: string; atMs: number };

export type SettlementActivities = ReturnType<typeof createSettlementActivities>;

export function createSettlementActivities(deps: SettlementDeps) {
  const readNow = async ({ settlementId, atMs }: SettlementRequest): Promise<SettlementReport> =>
    reportOf(await recomputeDates(deps, settlementId, timeOf(atMs)));
  return withoutUselessRetries({
    /** Recomputes its days by the current holidays first. */
    readSettlement: readNow,

    /** The sandbox's own review, unless an operator has decided. */
    async decideSettlementInSandbox(request: SettlementRequest): Promise<SettlementReport> {
      await autoDecide(deps, request.settlementId, timeOf(request.atMs));
      return readNow(request);
    },

    /** Marks it as overdue if its last expected day is over. */
    async markSettlementOverdue({ settlementId, atMs }: SettlementRequest): Promise<SettlementReport> {
      return reportOf(await markOverdue(deps, settlementId, timeOf(atMs)));
    },
  });
}

const timeOf = (atMs: number): Date => new Date(atMs + elapsedMs());

function reportOf(row: SettlementRow): SettlementReport {
  return {
    status: row.status,
    overdue: row.overdueAt !== null,
    earliestAtMs: startOfAddisDay(row.expectedFrom).getTime(),
    overdueAtMs: overdueFrom(row).getTime(),
  };
}
