import { rows, type Queryable } from './db.ts';
import { toPage, pageOffset, type Page } from './pagination.ts';

/** What to list, in SQL: columns of a table, by conditions with `:named` values, in the order of a time. */
export type Listed = { columns: string; table: string; time: string; where: string; values: Record<string, unknown> };

/** One page of rows, the newest first, then by id; and how many there are in all. Two statements, asked at once. */
export async function paginateNewest<Row extends { id: string }>(db: Queryable, listed: Listed, page: Page) {
  const { columns, table, time, where, values } = listed;
  const after = page.after ? `AND (${time}, id) < (CAST(:afterAt AS timestamptz), CAST(:afterId AS text))` : '';
  const [[count], found] = await Promise.all([
    rows<{ total: number }>(db, `SELECT count(*)::int AS total FROM ${table} WHERE ${where}`, values),
    rows<Row & { position: string }>(
      db,
      `SELECT ${columns}, ${time}::text AS position FROM ${table} WHERE ${where} ${after}
       ORDER BY ${time} DESC, id DESC LIMIT :most OFFSET :offset`,
      {
        ...values,
        afterAt: page.after?.at ?? null,
        afterId: page.after?.id ?? null,
        most: page.limit + 1,
        offset: pageOffset(page),
      },
    ),
  ]);
  return toPage(page, count?.total ?? 0, found);
}
