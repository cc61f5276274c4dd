import { snakeCase } from './column-names.ts';
import { first, rows, type Queryable } from './db.ts';
import { toPage, pageOffset, type Page, type Position } from './pagination.ts';

/** An order by a column, in SQL, and then by id. */
export type Order = { column: string; type: 'timestamptz' | 'bigint'; direction: 'ASC' | 'DESC' };

/**
 * What to list, in SQL: all columns of a table unless given, by conditions with `:named` values, in the order of a time,
 * the newest first, unless `order` is given.
 */
export type Listed = {
  columns?: string;
  table: string;
  time?: string;
  order?: Order;
  where: string;
  values: Record<string, unknown>;
};

/** In SQL: the condition of rows after a position, whose values are `:afterAt` and `:afterId`, and the ORDER BY. */
export function orderSql({ column, type, direction }: Order, id = 'id') {
  const sign = direction === 'ASC' ? '>' : '<';
  return {
    isAfter: `(${column}, ${id}) ${sign} (CAST(:afterAt AS ${type}), CAST(:afterId AS text))`,
    orderBy: `ORDER BY ${column} ${direction}, ${id} ${direction}`,
  };
}

/** Conditions joined with AND, of those that are texts; without one everything matches. */
export function allOf(conditions: readonly (string | false | null | undefined)[]): string {
  return conditions.filter((one) => typeof one === 'string').join(' AND ') || 'true';
}

/** Conditions on columns, of which those without a value match everything. */
export function whereGiven(filter: Record<string, string | undefined>): Pick<Listed, 'where' | 'values'> {
  const given = Object.keys(filter).filter((name) => filter[name] !== undefined);
  return { where: allOf(given.map((name) => `${snakeCase(name)} = :${name}`)), values: filter };
}

/** At most `limit` rows after a position, or the first ones; `offset` of them are skipped, if given. */
export type ListPart = { after: Position | null; limit: number; offset?: number };

/** Rows of a list in its order, with their positions. */
export async function readNewest<Row>(
  db: Queryable,
  { columns = '*', table, time = 'created_at', order, where, values }: Listed,
  { after, limit, offset }: ListPart,
): Promise<(Row & { position: string })[]> {
  const by = order ?? { column: time, type: 'timestamptz', direction: 'DESC' };
  const { isAfter, orderBy } = orderSql(by);
  return rows<Row & { position: string }>(
    db,
    `SELECT ${columns}, ${by.column}::text AS position FROM ${table} WHERE ${where} ${after ? `AND ${isAfter}` : ''}
     ${orderBy} LIMIT :most ${offset === undefined ? '' : 'OFFSET :offset'}`,
    { ...values, afterAt: after?.at ?? null, afterId: after?.id ?? null, most: limit, offset: offset ?? 0 },
  );
}

/** One page of a list and its total: one statement, and a second one for the total of a later page that is empty. */
export async function paginateNewest<Row extends { id: string }>(db: Queryable, listed: Listed, page: Page) {
  const total = `(SELECT count(*)::int FROM ${listed.table} WHERE ${listed.where}) AS total`;
  const part = { after: page.after, limit: page.limit + 1, offset: pageOffset(page) };
  const columns = `${listed.columns ?? '*'}, ${total}`;
  const found = await readNewest<Row & { total: number }>(db, { ...listed, columns }, part);
  const count =
    found[0] ?? (page.page === 1 ? undefined : await first<{ total: number }>(db, `SELECT ${total}`, listed.values));
  return toPage(page, count?.total ?? 0, found);
}

/** The number of rows of a list, counted up to `most`. */
export async function countUpTo(
  db: Queryable,
  { table, where, values }: Pick<Listed, 'table' | 'where' | 'values'>,
  most: number,
): Promise<number> {
  const sql = `SELECT count(*)::int AS count FROM (SELECT FROM ${table} WHERE ${where} LIMIT :most) counted`;
  return (await first<{ count: number }>(db, sql, { ...values, most }))?.count ?? 0;
}
