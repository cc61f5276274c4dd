import { toBirr } from '../../lib/money.ts';
import type { Cell } from '../sources/columns.ts';
import { aboutOf, type Rendering } from './rendering.ts';

/** One object: `about`, `totals` and `rows`. Unknown values are null, amounts are numbers of birr. */
export async function* renderJson(rendering: Rendering): AsyncGenerator<string> {
  const { sums, columns, pages } = rendering;
  const totals = Object.fromEntries(Object.entries(sums.totals).map(([name, santim]) => [name, toBirr(santim)]));
  const rowText = (row: Cell[]): string =>
    JSON.stringify(Object.fromEntries(columns.map(({ key }, index) => [key, jsonValue(row[index] ?? null)])));
  yield `{"about":${JSON.stringify(aboutOf(rendering))},\n"totals":${JSON.stringify(totals)},\n"rows":[`;
  let separator = '\n';
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield separator + rows.map(rowText).join(',\n');
    separator = ',\n';
  }
  yield '\n]}\n';
}

function jsonValue(cell: Cell): string | number | null {
  return typeof cell === 'bigint' ? toBirr(cell) : cell;
}
