import { readPeriod, sumPeriod } from '../ledger/statement.ts';
import type { Queryable } from '../lib/db.ts';
import type { Owner } from '../lib/owner.ts';
import { clockText, type Cell } from './columns.ts';
import { birrText } from './rendering.ts';

/** One line of a printed statement: what, and how much or which; a heading has nothing beside it. */
export type Line = { label: string; value?: string; isHeading?: true };

/** A settlement as it is printed: what is known of it, and the movements that lead from what was there to what was left. */
export async function statementLines(
  db: Queryable,
  owner: Owner,
  { columns, cells }: { columns: readonly { heading: string }[]; cells: readonly Cell[] },
): Promise<Line[]> {
  const known = columns.flatMap(({ heading }, index) => {
    const cell = cells[index] ?? null;
    return cell === null ? [] : [{ label: heading, value: typeof cell === 'bigint' ? birrText(cell) : String(cell) }];
  });
  const [settlementId] = cells;
  const period = typeof settlementId === 'string' ? await readPeriod(db, owner, settlementId) : undefined;
  if (!period) return known;
  const sums = await sumPeriod(db, period);
  return [
    ...known,
    { label: 'Available balance, since the settlement before', isHeading: true },
    { label: 'From (UTC)', value: period.from ? clockText(period.from) : 'the beginning' },
    { label: 'Until (UTC)', value: clockText(period.until) },
    { label: 'Opening balance', value: birrText(period.openingSantim) },
    ...sums.map(({ type, count, amountSantim }) => ({ label: `${type} (${count})`, value: birrText(amountSantim) })),
    { label: 'Closing balance', value: birrText(period.closingSantim) },
  ];
}
