import { startOfAddisDay } from '../lib/dates.ts';
import { recomputeDates, markOverdue, type DatesDeps } from './expected-dates.ts';
import { overdueFrom, type SettlementRow } from './model.ts';
import { autoDecide } from './sandbox.ts';

/** What a settlement's workflow asks for; each answers where the settlement stands and what its days lead to. */
export function createSettlementSteps(deps: DatesDeps) {
  return {
    recomputeDates: async (id: string, at: Date) => reportOf(await recomputeDates(deps, id, at)),
    markOverdue: async (id: string, at: Date) => reportOf(await markOverdue(deps, id, at)),
    autoDecide: (id: string, at: Date) => autoDecide(deps, id, at),
  };
}

function reportOf(row: SettlementRow) {
  return {
    status: row.status,
    overdue: row.overdueAt !== null,
    earliestAtMs: startOfAddisDay(row.expectedFrom).getTime(),
    overdueAtMs: overdueFrom(row).getTime(),
  };
}
