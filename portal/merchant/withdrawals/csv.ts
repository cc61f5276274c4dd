/** A record of a file: its fields, and the line that it begins in, from 1. `isUnclosed`: a quote in it is not closed. */
export type CsvRecord = { line: number; fields: string[]; isUnclosed?: true };

/** What the first line separates its fields by: spreadsheets write what the language of the computer has. */
function separatorOf(content: string): string {
  const [first = ''] = content.split(/[\r\n]/, 1);
  const countOf = (one: string): number => first.split(one).length;
  return [',', ';', '\t'].reduce((best, one) => (countOf(one) > countOf(best) ? one : best));
}

/** The records of a CSV file as RFC 4180 describes it, or separated by semicolons or tabs; blank lines are left out. */
export function parseCsv(text: string): CsvRecord[] {
  const content = text.replace(/^\uFEFF/, '');
  const separator = separatorOf(content);
  const records: CsvRecord[] = [];
  let record: CsvRecord = { line: 1, fields: [] };
  let field = '';
  let line = 1;
  let isQuoted = false;
  const endRecord = (): void => {
    record.fields.push(field);
    if (record.fields.some((one) => one.trim() !== '')) records.push(record);
    record = { line: line + 1, fields: [] };
    field = '';
  };
  for (let at = 0; at < content.length; at += 1) {
    const [character = '', next] = [content[at], content[at + 1]];
    if (isQuoted && character === '"' && next === '"') at += 1;
    else if (character === '"' && (isQuoted || field === '')) {
      isQuoted = !isQuoted;
      continue;
    } else if (!isQuoted && character === separator) {
      record.fields.push(field);
      field = '';
      continue;
    }
    const isLineEnd = character === '\n' || (character === '\r' && next !== '\n');
    if (!isQuoted && (isLineEnd || character === '\r')) {
      if (isLineEnd) endRecord();
    } else field += character;
    if (isLineEnd) line += 1;
  }
  if (isQuoted) record.isUnclosed = true;
  endRecord();
  return records;
}

const FORMULA = /^[=+\-@\t\r]/;

/** A file for spreadsheets: quoted where needed, and no text is read as a formula. */
export function csvOf(records: readonly (readonly (string | number)[])[]): Blob {
  const fieldOf = (value: string | number): string => {
    const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
    return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = records.map((fields) => `${fields.map(fieldOf).join(',')}\r\n`);
  return new Blob(['\uFEFF', ...lines], { type: 'text/csv;charset=utf-8' });
}
