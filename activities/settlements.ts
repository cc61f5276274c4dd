import { startOfAddisDay } from '../src/lib/dates.ts';
import type { RunInTransaction } from '../src/outbox/record.ts';
import { autoDecide } from '../src/settlements/decide.ts';
import { updateDates } from '../src/settlements/expected-dates.ts';
import { overdueFrom } from '../src/settlements/queries.ts';
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

export type SettlementDeps = { runInTransaction: RunInTransaction };

type SettlementRequest = { settlementId: string; atMs: number };

export type SettlementActivities = ReturnType<typeof createSettlementActivities>;

/** @param elapsed milliseconds since the running activity was scheduled. */
export function createSettlementActivities(deps: SettlementDeps, elapsed = elapsedMs) {
  const report = async ({ settlementId, atMs }: SettlementRequest): Promise<SettlementReport> => {
    const row = await updateDates(deps, settlementId, new Date(atMs + elapsed()));
    return {
      status: row.status,
      overdue: row.overdueAt !== null,
      earliestAtMs: startOfAddisDay(row.expectedFrom).getTime(),
      overdueAtMs: overdueFrom(row).getTime(),
    };
  };
  return withoutUselessRetries({
    /** Recomputes its days by the current holidays, and marks it as overdue once the last of them is over. */
    readSettlement: report,

    /** The sandbox's own review, unless an operator has decided. */
    async decideSettlementInSandbox(request: SettlementRequest): Promise<SettlementReport> {
      await autoDecide(deps, request.settlementId, new Date(request.atMs + elapsed()));
      return report(request);
    },
  });
}
