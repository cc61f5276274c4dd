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
  else if (Array.isArray(data)) terminal.write(tableOf(data, terminal.columns, columns));
  else terminal.write(sectionOf(data as Fields, terminal.columns));
}

/**
 * A table with a heading, of every field unless columns are given. Where it is wider than the terminal, its last column is
 * cut, unless too little would remain.
 */
function tableOf(list: readonly Fields[], widthMax = Infinity, columns?: readonly string[]): string {
  const names = columns ?? [...new Set(list.flatMap((row) => Object.keys(row)))];
  const isNumber = names.map((name) => list.some((row) => typeof row[name] === 'number'));
  const heading = names.map((name) => {
    const unit = list.map((row) => unitOf(name, row[name])).find(Boolean);
    return unit === undefined ? name : `${name} (${unit})`;
  });
  const table = [heading, ...list.map((row) => names.map((name) => cellOf(name, row[name])))];
  const widths = names.map((_, index) => Math.max(...table.map((line) => line[index]?.length ?? 0)));
  const left = widthMax - widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const lines = table.map((line) => {
    const padded = line.map((cell, index) =>
      isNumber[index] ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
    );
    const last = padded.pop()?.trimEnd() ?? '';
    const isCut = last.length > left && left >= LAST_COLUMN_MIN;
    return [...padded, isCut ? `${last.slice(0, left - 1)}…` : last].join('  ').trimEnd();
  });
  return `${lines.join('\n')}\n`;
}

/** One thing as lines of name and value, its lists as tables below. Fields without a value are left out. */
function sectionOf(data: Fields, widthMax: number | undefined): string {
  const entries = flatten(data);
  const isTable = (value: unknown): value is Fields[] => Array.isArray(value) && typeof value[0] === 'object';
  const values = entries.filter(([, value]) => !isTable(value));
  const width = Math.max(...values.map(([name]) => name.length));
  const lines = values.map(([name, value]) =>
    `${name.padEnd(width)}  ${cellOf(name, value)} ${unitOf(name, value)}`.trimEnd(),
  );
  const tables = entries.flatMap(([name, value]) =>
    isTable(value) ? [`\n${name}\n${tableOf(value, widthMax).trimEnd()}`] : [],
  );
  return `${[...lines, ...tables].join('\n')}\n`;
}

/** The fields that have a value, those of inner objects under dotted names. */
function flatten(fields: Fields): [string, unknown][] {
  return Object.entries(fields).flatMap(([name, value]): [string, unknown][] => {
    if (value === null || value === undefined || value === '') return [];
    if (Array.isArray(value)) return value.length > 0 ? [[name, value]] : [];
    if (typeof value !== 'object') return [[name, value]];
    return flatten(value as Fields).map(([inner, one]) => [`${name}.${inner}`, one]);
  });
}

const lastName = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

function unitOf(path: string, value: unknown): string {
  return BIRR.has(lastName(path)) ? 'ETB' : INSTANT.test(String(value)) ? 'EAT' : '';
}

/** Amounts with two decimals, instants in Addis Ababa's time to the minute; nothing that moves the cursor. */
function cellOf(path: string, value: unknown): string {
  const name = lastName(path);
  if (value === null || value === undefined || value === '') return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number' && (BIRR.has(name) || OTHER_CURRENCY.has(name))) return birr(value);
  if (Array.isArray(value) && typeof value[0] !== 'object')
    return value.map((one) => cellOf(name, one)).join(', ') || '-';
  if (typeof value === 'object' && !Array.isArray(value)) {
    const entries = flatten(value as Fields);
    return entries.map(([inner, one]) => `${inner} ${cellOf(inner, one)}`).join(', ') || '-';
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (INSTANT.test(text)) return inAddis(new Date(text)).toISOString().slice(0, 16).replace('T', ' ');
  return text.replaceAll(/\p{Cc}/gu, ' ');
}

/** An amount as 1,234.50. */
export function birr(amount: number): string {
  return amount.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
