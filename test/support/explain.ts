import pg from 'pg';

import type { Database } from '../../src/lib/db.ts';

type Node = Record<string, unknown> & { Plans?: Node[] };
/** The plan of a statement that EXPLAIN has run, and its time. */
export type Explained = { plan: Node; ms: number };

/** The answer of EXPLAIN (ANALYZE, FORMAT JSON). */
export function explainedBy(rows: unknown[][]): Explained {
  const [[[{ Plan: plan, 'Execution Time': ms }]]] = rows as [[[{ Plan: Node; 'Execution Time': number }]]];
  return { plan, ms };
}

/** Runs the work in a transaction that is undone. */
export async function undone(
  db: Database,
  work: (run: (sql: string) => Promise<unknown[][]>) => Promise<void>,
): Promise<void> {
  const end = new Error('undone');
  const running = db.transaction(async (trx) => {
    await work(async (text) => (await trx.run({ text, rowMode: 'array' })).rows);
    throw end;
  });
  await running.catch((error: unknown) => {
    if (error !== end) throw error;
  });
}

/** The arguments of EXECUTE. */
export function argumentsOf(values: readonly unknown[]): string {
  return values.length === 0 ? '' : `(${values.map((value) => pg.escapeLiteral(literal(value))).join(', ')})`;
}

function literal(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return Array.isArray(value) ? `{${value.map((one) => JSON.stringify(one)).join(',')}}` : String(value);
}

/** The rows that the nodes of a plan have looked at, each as often as it did. */
export function rowsSeen(node: Node): number {
  const each = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Join Filter'].map((name) =>
    Number(node[name] ?? 0),
  );
  const own = each.reduce((sum, count) => sum + count, 0) * Number(node['Actual Loops'] ?? 1);
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsSeen(child), own);
}
