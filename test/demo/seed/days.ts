import { createRandom } from '../../../src/demo/seed/plan.ts';
import {
  exportMovements,
  listMovements,
  sumMovements,
  type MerchantAccount,
  type ReadMovement,
} from '../../../src/ledger/balance.ts';
import { addisDay, DAY_MS, endOfAddisDay, startOfAddisDay } from '../../../src/lib/dates.ts';
import { type Database, rows } from '../../../src/lib/db.ts';
import type { MerchantScope } from '../../../src/lib/scope.ts';

const DAYS = 90;
const CHOSEN = 12;
/** More than any day of the demo has. */
const LIMIT = 1_000;

/**
 * On random days, the balance's history and its report have the same rows, which lead from the opening balance to the
 * closing one, with which the next day opens. Each entry has its posting's effective time, except for those delayed by
 * the last seconds of a payout.
 */
export async function expectDaysLeadOn(db: Database, scope: MerchantScope): Promise<void> {
  const random = createRandom(Date.now());
  const agos = Array.from({ length: CHOSEN }, () => random.below(DAYS));
  for (const day of agos.map((ago) => addisDay(new Date(Date.now() - ago * DAY_MS)))) {
    for (const account of ['available', 'reserved'] as const) {
      const today = await readDay(db, scope, { account, day });
      const next = await readDay(db, scope, { account, day: addisDay(endOfAddisDay(day)) });
      expect({ day, account, ...today.report }).toEqual({ day, account, ...today.byRows });
      expect({ day, account, opens: next.report.openingSantim }).toEqual({
        day,
        account,
        opens: today.report.closingSantim,
      });
    }
  }
  const [shifted] = await rows<{ late: number; early: number }>(
    db,
    `SELECT count(*) FILTER (WHERE e.effective_at > j.effective_at + interval '15 seconds')::int AS late,
            count(*) FILTER (WHERE e.effective_at < j.effective_at)::int AS early
     FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id`,
  );
  expect(shifted).toEqual({ late: 0, early: 0 });
}

async function readDay(
  db: Database,
  scope: MerchantScope,
  { account, day }: { account: MerchantAccount; day: string },
) {
  const range = { startDate: day, endDate: day, from: startOfAddisDay(day), until: endOfAddisDay(day) };
  const filter = { ...scope, account, range };
  const report = await sumMovements(db, filter);
  const history = (await listMovements(db, { ...filter, types: null }, { page: 1, limit: LIMIT, after: null })).rows;
  const exported = await exportMovements(db, filter, { after: null, limit: LIMIT });
  const ids = (found: readonly Pick<ReadMovement, 'journalId'>[]): string[] => found.map(({ journalId }) => journalId);
  expect(ids(history)).toEqual(ids(exported));
  return { report, byRows: leadingOn(report.openingSantim, history.toReversed()) };
}

type Amounts = Pick<ReadMovement, 'amountSantim' | 'balanceAfterSantim'>;

/** The totals of a day by its rows, each of which must have the running balance. */
function leadingOn(openingSantim: bigint, movements: readonly Amounts[]) {
  let closingSantim = openingSantim;
  for (const { amountSantim, balanceAfterSantim } of movements) {
    closingSantim += amountSantim;
    expect(balanceAfterSantim).toBe(closingSantim);
  }
  return { count: movements.length, openingSantim, amountSantim: closingSantim - openingSantim, closingSantim };
}
