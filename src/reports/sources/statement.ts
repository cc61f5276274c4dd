import type { JournalKind } from '../../ledger/postings.ts';
import { exportPeriod, readPeriod, sumPeriod, type Period } from '../../ledger/statement.ts';
import type { Queryable } from '../../lib/db.ts';
import type { Santim } from '../../lib/money.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { Cell, ColumnHead } from './columns.ts';

/** A settlement as it is printed: what is known of it, and how the balance came from what was there to what was left. */
export type Statement = {
  /** By its column's key: the heading, and what stands under it. */
  facts: ReadonlyMap<string, { heading: string; cell: Cell }>;
  /** null when it was never booked. */
  account: StatementAccount | null;
};

/** opening + all movements = closing, which is what the next statement opens with. */
export type StatementAccount = Period & {
  totals: readonly { type: JournalKind; count: number; amountSantim: Santim }[];
  /** Every one, the oldest first, as they are read. */
  movements: AsyncIterable<StatementMovement[]>;
};
export type StatementMovement = {
  at: Date;
  type: JournalKind;
  resourceId: string;
  amountSantim: Santim;
  balanceAfterSantim: Santim;
};

/** What is printed, and what is called after each of the movements' pages. */
export type StatementInput = {
  columns: readonly ColumnHead[];
  cells: readonly Cell[];
  pageRows: number;
  onRead: () => Promise<void>;
};

/** Reads the statement of one settlement: the first of its cells is its id. */
export async function readStatement(db: Queryable, scope: MerchantScope, input: StatementInput): Promise<Statement> {
  const facts = new Map(
    input.columns.map(({ key, heading }, index) => [key, { heading, cell: input.cells[index] ?? null }]),
  );
  const [settlementId] = input.cells;
  const period = typeof settlementId === 'string' ? await readPeriod(db, scope, settlementId) : undefined;
  if (!period) return { facts, account: null };
  const movements = readMovements(db, period, input);
  return { facts, account: { ...period, totals: await sumPeriod(db, period), movements } };
}

async function* readMovements(
  db: Queryable,
  period: Period,
  { pageRows, onRead }: Pick<StatementInput, 'pageRows' | 'onRead'>,
): AsyncGenerator<StatementMovement[]> {
  for (let { after } = period; after < period.upTo;) {
    const found = await exportPeriod(db, { ...period, after }, pageRows);
    yield found.map(({ effectiveAt, ...movement }) => ({ ...movement, at: effectiveAt }));
    await onRead();
    after = found.length < pageRows ? period.upTo : (found.at(-1)?.sequence ?? period.upTo);
  }
}
