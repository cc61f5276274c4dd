import { toBirr, type Santim } from '../../lib/money.ts';
import type { Cell } from '../sources/columns.ts';
import { aboutOf, type Rendering } from './rendering.ts';

/** One object: `about`, `totals` and `rows`; what is unknown is null, amounts are numbers of birr. */
export async function* renderJson(rendering: Rendering): AsyncGenerator<string> {
  const { sums, columns, pages } = rendering;
  const totals = Object.fromEntries(Object.entries(sums.totals).map(([name, santim]) => [name, toBirr(santim)]));
  const names = columns.map(({ key }) => JSON.stringify(key));
  yield `{"about":${JSON.stringify(aboutOf(rendering))},\n"totals":${JSON.stringify(totals)},\n"rows":[`;
  let isFirst = true;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    yield (isFirst ? '\n' : ',\n') + rows.map((row) => objectText(names, row)).join(',\n');
    isFirst = false;
  }
  yield '\n]}\n';
}

function objectText(names: string[], row: Cell[]): string {
  return `{${row.map((cell, index) => `${names[index]}:${cellText(cell)}`).join(',')}}`;
}

function cellText(cell: Cell): string {
  return typeof cell === 'bigint' ? String(toBirr(cell satisfies Santim)) : JSON.stringify(cell);
}
