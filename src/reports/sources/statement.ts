import { readMovements, readPeriod, sumPeriod, type Period, type ReadMovement } from '../../ledger/balance.ts';
import type { Queryable } from '../../lib/db.ts';
import type { MerchantScope } from '../../lib/scope.ts';
import type { Cell, ColumnHead } from './columns.ts';

/** The statement of one settlement: its fields, and the movements of the balance since the settlement before it. */
export type Statement = {
  /** Headings and cells by the key of their column. */
  facts: ReadonlyMap<string, { heading: string; cell: Cell }>;
  /** null for a settlement that was never booked. */
  account: StatementAccount | null;
};

/** opening + all movements = closing, which is the opening balance of the next statement. */
export type StatementAccount = Period & {
  totals: Readonly<Awaited<ReturnType<typeof sumPeriod>>>;
  /** All movements in pages, oldest first. */
  movements: AsyncIterable<ReadMovement[]>;
};

type StatementInput = {
  columns: readonly ColumnHead[];
  /** A row of settlements; its first cell is the settlement's id. */
  cells: readonly Cell[];
  pageRows: number;
  /** Called after each page of movements. */
  onRead: () => Promise<void>;
};

/** Reads the statement of one settlement; its movements are read while they are iterated. */
export async function readStatement(db: Queryable, scope: MerchantScope, input: StatementInput): Promise<Statement> {
  const { columns, cells, pageRows, onRead } = input;
  const facts = new Map(columns.map(({ key, heading }, index) => [key, { heading, cell: cells[index] ?? null }]));
  const period = await readPeriod(db, scope, String(cells[0]));
  if (!period) return { facts, account: null };
  const pages = async function* (): AsyncGenerator<ReadMovement[]> {
    for (let { after } = period; after < period.upTo;) {
      const found = await readMovements(db, { ...period, after }, { order: 'ASC', limit: pageRows });
      yield found;
      await onRead();
      after = found.at(-1)?.sequence ?? period.upTo;
    }
  };
  return { facts, account: { ...period, totals: await sumPeriod(db, period), movements: pages() } };
}
