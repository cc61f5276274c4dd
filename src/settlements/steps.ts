import { startOfAddisDay } from '../lib/dates.ts';
import { followCalendar, markOverdue, type DatesDeps } from './dates.ts';
import { overdueFrom, type SettlementRow } from './model.ts';
import { decideInSandbox } from './sandbox.ts';

/** What a settlement's workflow asks for; each answers where the settlement stands and what its days lead to. */
export function createSettlementSteps(deps: DatesDeps) {
  return {
    followCalendar: async (id: string, at: Date) => reportOf(await followCalendar(deps, id, at)),
    markOverdue: async (id: string, at: Date) => reportOf(await markOverdue(deps, id, at)),
    decideInSandbox: (id: string, at: Date) => decideInSandbox(deps, id, at),
  };
}

function reportOf(row: SettlementRow) {
  return {
    status: row.status,
    overdue: row.overdueAt !== null,
    earliestAtMs: startOfAddisDay(row.earliestExpected).getTime(),
    overdueAtMs: overdueFrom(row).getTime(),
  };
}
