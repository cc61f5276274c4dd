import { inAddis } from '../../lib/dates.ts';

/** Where a command prints: its result, and beside it what only a person reads. */
export type Terminal = {
  write: (text: string | Uint8Array) => void;
  note: (line: string) => void;
  /** The width in characters; undefined where lines may be of any length. */
  columns?: number | undefined;
  /** Asks the person at the terminal; undefined where there is none. */
  ask?: ((question: string) => Promise<string>) | undefined;
};

type Fields = Readonly<Record<string, unknown>>;

/** Fields in birr. Other numbers are counts. */
const BIRR = new Set(
  (
    'amount available daily expected fee feeTax feesToDate fixed largeAmount max min net netAmount netSettled ours owed ' +
    'paidAmount receivedAmount reserved totalDebit twoPersonAmount usedTodayBefore'
  ).split(' '),
);
/** Amounts of which another field names the currency. */
const OTHER_CURRENCY = new Set(['received', 'theirs']);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
/** A last column is cut to no less: a line that is too long all the same wraps. */
const LAST_COLUMN_MIN = 20;

/** Prints the data of a response: as JSON, a list as a table of these columns, anything else field by field. */
export function printData(
  terminal: Terminal,
  data: unknown,
  { json, columns }: { json: boolean; columns?: readonly string[] | undefined },
): void {
  if (json || data === null || typeof data !== 'object') terminal.write(`${JSON.stringify(data, null, 2)}\n`);
  else if (Array.isArray(data) && data.length === 0) terminal.note('None.');
  else if (Array.isArray(data)) terminal.write(tableOf(data, columns ?? fieldsOf(data), terminal.columns));
  else terminal.write(sectionOf(data as Fields, terminal.columns));
}

/** Every scalar field of any row, in the order of the first. */
function fieldsOf(list: readonly Fields[]): string[] {
  return [...new Set(list.flatMap((row) => Object.keys(row)))];
}

/** A table with a heading. Where it is wider than the terminal, its last column is cut, unless too little would remain. */
function tableOf(list: readonly Fields[], columns: readonly string[], widthMax: number | undefined): string {
  const isNumber = columns.map((name) => list.some((row) => typeof row[name] === 'number'));
  const cells = list.map((row) => columns.map((name) => cellOf(name, row[name])));
  const table = [columns.map((name) => headingOf(name, list)), ...cells];
  const widths = columns.map((_, index) => Math.max(...table.map((line) => line[index]?.length ?? 0)));
  const others = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const left = widthMax === undefined ? Infinity : widthMax - others;
  const lastMax = left < LAST_COLUMN_MIN ? Infinity : left;
  const lineOf = (line: readonly string[]): string => {
    const padded = line.map((cell, index) => {
      const width = widths[index] ?? 0;
      return isNumber[index] ? cell.padStart(width) : cell.padEnd(width);
    });
    const last = padded.pop()?.trimEnd() ?? '';
    return [...padded, last.length > lastMax ? `${last.slice(0, lastMax - 1)}…` : last].join('  ').trimEnd();
  };
  return table.map((line) => `${lineOf(line)}\n`).join('');
}

/** Names the unit of a column once. */
function headingOf(name: string, list: readonly Fields[]): string {
  if (BIRR.has(name)) return `${name} (ETB)`;
  return list.some((row) => INSTANT.test(String(row[name]))) ? `${name} (EAT)` : name;
}

/** One thing as lines of name and value, its lists as tables below. Fields without a value are left out. */
function sectionOf(data: Fields, widthMax: number | undefined): string {
  const entries = Object.entries(data).flatMap(([name, value]) => flatten(name, value));
  const values = entries.filter((entry): entry is [string, unknown] => !isTable(entry[1]));
  const width = Math.max(...values.map(([name]) => name.length));
  const lines = values.map(([name, value]) => `${name.padEnd(width)}  ${valueOf(name, value)}\n`);
  const tables = entries.flatMap(([name, value]) =>
    isTable(value) ? [`\n${name}\n${tableOf(value, fieldsOf(value), widthMax)}`] : [],
  );
  return [...lines, ...tables].join('');
}

/** The fields of an object under dotted names; without those that have no value. */
function flatten(name: string, value: unknown): [string, unknown][] {
  if (value === null || value === undefined || value === '') return [];
  if (Array.isArray(value)) return value.length > 0 ? [[name, value]] : [];
  if (typeof value !== 'object') return [[name, value]];
  return Object.entries(value).flatMap(([inner, one]) => flatten(`${name}.${inner}`, one));
}

function isTable(value: unknown): value is Fields[] {
  return Array.isArray(value) && typeof value[0] === 'object';
}

function valueOf(path: string, value: unknown): string {
  const name = path.slice(path.lastIndexOf('.') + 1);
  const unit = BIRR.has(name) ? ' ETB' : INSTANT.test(String(value)) ? ' EAT' : '';
  return cellOf(name, value) + unit;
}

/** Amounts with two decimals, instants in Addis Ababa's time to the minute; nothing that moves the cursor. */
function cellOf(name: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && (BIRR.has(name) || OTHER_CURRENCY.has(name))) return birr(value);
  if (Array.isArray(value) && typeof value[0] !== 'object')
    return value.map((one) => cellOf(name, one)).join(', ') || '-';
  if (isFields(value)) return inner(value) || '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (INSTANT.test(text)) return inAddis(new Date(text)).toISOString().slice(0, 16).replace('T', ' ');
  return text.replaceAll(/\p{Cc}/gu, ' ');
}

/** An object in a cell. */
function inner(value: Fields): string {
  const entries = Object.entries(value).flatMap(([name, one]) => flatten(name, one));
  return entries.map(([name, one]) => `${name} ${cellOf(name.slice(name.lastIndexOf('.') + 1), one)}`).join(', ');
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An amount as 1,234.50. */
export function birr(amount: number): string {
  return amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
