import type { Clock } from '../lib/clock.ts';
import type { RunChange } from '../lib/outbox.ts';
import { askForLastDays } from './ask.ts';
import { compareDay, giveDayUp } from './compare.ts';
import { beginReading, readNextPage, rewind, type ReadDeps, type Reading } from './read.ts';
import { settleListed, type SettleDeps } from './settle.ts';

export type StepsDeps = ReadDeps & SettleDeps & { runChange: RunChange; clock: Clock };

/** What the workflows of reconciliation ask for, step by step. */
export function createReconciliationSteps(deps: StepsDeps) {
  const { db, runChange } = deps;
  return {
    askForLastDays: (at: Date) => runChange((change) => askForLastDays(change, { ...deps, clock: () => at })),
    begin: (id: string, at: Date) => beginReading(db, id, at),
    readNext: (reading: Reading) => readNextPage(deps, reading),
    rewind: (reading: Reading) => rewind(db, reading),
    settle: (reconciliationId: string, after: string, at: Date) => settleListed(deps, { reconciliationId, after, at }),
    compare: (reconciliationId: string, at: Date, onProgress?: () => void) =>
      compareDay(deps, { reconciliationId, at, ...(onProgress && { onProgress }) }),
    giveUp: (reading: Reading, problem: string | null) => runChange((change) => giveDayUp(change, reading, problem)),
  };
}
