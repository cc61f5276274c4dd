import { stringify } from 'csv-stringify/sync';

import { clockText, harmless } from './columns.ts';
import { birrText, filterText, type Rendering } from './rendering.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** RFC 4180: texts are quoted, so that readers which look at quotes keep ids and phones as text; amounts are not. */
const OPTIONS = {
  record_delimiter: 'windows',
  quoted_string: true,
  cast: { bigint: birrText, string: harmless },
} as const;

/**
 * CSV for spreadsheets. What the file is stands in two last columns of every line: lines before the heading would break
 * filters and every reader that takes the first line for the heading, and a line after the last would be summed up. The
 * file's name says it too, and the report has the totals.
 */
export async function* renderCsv(rendering: Rendering): AsyncGenerator<string> {
  const { report, snapshotAt, columns, pages } = rendering;
  const headings = [...columns.map(({ heading }) => heading), 'Report Filters', 'Report as of (UTC)'];
  const about = [filterText(report), clockText(snapshotAt)];
  yield BYTE_ORDER_MARK + stringify([headings], OPTIONS);
  for await (const rows of pages) {
    yield stringify(
      rows.map((row) => [...row, ...about]),
      OPTIONS,
    );
  }
}
