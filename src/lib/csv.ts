/**
 * The rows of a CSV text (RFC 4180): fields apart by commas, in quotes where they hold commas, quotes (doubled) or line
 * breaks. A byte order mark and empty lines are passed over. `line` is where a row begins, from 1. null when a quote is
 * not closed or stands within a field.
 */
export function parseCsv(text: string): { line: number; fields: string[] }[] | null {
  const rows: { line: number; fields: string[] }[] = [];
  let line = 1;
  let fields: string[] = [];
  // A field, and what ends it: a comma, the line's end, or the text's.
  const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  FIELD.lastIndex = text.startsWith('\uFEFF') ? 1 : 0;
  for (let rowLine = line; ;) {
    const [matched, quoted, plain = '', end] = FIELD.exec(text) ?? [];
    if (matched === undefined) return null;
    fields.push(quoted?.replaceAll('""', '"') ?? plain);
    line += matched.split('\n').length - 1;
    if (end === ',') continue;
    if (fields.length > 1 || fields[0] !== '') rows.push({ line: rowLine, fields });
    if (end === '') return rows;
    fields = [];
    rowLine = line;
  }
}
