import { BANK_CODES } from '../../../src/lib/banks.ts';
import { CHANNELS, LIVE_CHANNELS, manifestOf } from '../../../src/merchants/channels/channel.ts';
import { parseBirr } from '../../ui/parse-birr.ts';
import { parseCsv, type CsvRecord } from './csv.ts';

/** The columns of a file by the fields of the API, with the headings of the template. */
const HEADINGS = {
  requestId: 'Reference',
  amount: 'Amount',
  channel: 'Channel',
  phone: 'Phone',
  bankCode: 'Bank code',
  accountNumber: 'Account number',
  accountName: 'Account name',
  reason: 'Reason',
} as const;
type Column = keyof typeof HEADINGS;
const COLUMNS = Object.keys(HEADINGS) as Column[];
const REQUIRED: readonly Column[] = ['requestId', 'amount', 'channel', 'accountName'];

/** The heading of the column of a field that the API names; undefined: it is of no single column. */
export function headingOf(field: string): string | undefined {
  const column = COLUMNS.find((one) => field === one || field === `destination.${one}`);
  return column && HEADINGS[column];
}

const TO_BANKS = LIVE_CHANNELS.find((one) => manifestOf(one).payoutTo.includes('bank')) ?? '';
/** The file to begin with: a payout to a wallet, and one to a bank account. */
export const TEMPLATE: readonly string[][] = [
  Object.values(HEADINGS),
  ['PAYROLL-2026-11-001', '1250.50', CHANNELS[0], '0911000001', '', '', 'Abebe Bikila', 'Salary of November'],
  ['PAYROLL-2026-11-002', '2300', TO_BANKS, '', BANK_CODES[0], '01320123456', 'Derartu Tulu', 'Salary of November'],
];

/** As many as one request quotes. */
const LINES_MAX = 500;
/** What a request may be long, with room for the names of its fields. */
export const FILE_BYTES_MAX = 100_000;

/** The body of a request as the line has it, right or wrong: the API has the rules. */
type Body = {
  requestId: string;
  amount: number | string;
  channel: string;
  destination: Partial<Record<'phone' | 'bankCode' | 'accountNumber' | 'accountName', string>>;
  reason?: string;
};

/** A payout of a file. `line`: its place there. */
export type BatchLine = { line: number; body: Body };

/** Why a file cannot be read, and what in it. */
export type FileProblem = {
  name:
    | 'tooLarge'
    | 'unreadable'
    | 'notUtf8'
    | 'unclosedQuote'
    | 'missingColumns'
    | 'unknownColumn'
    | 'repeatedColumn'
    | 'tooManyFields'
    | 'noLines'
    | 'tooManyLines';
  what: string;
};

const known = Object.values(HEADINGS).join(', ');

/** What is wrong with the file as a whole; null: nothing. */
function problemOf(content: string, [heading, ...records]: readonly CsvRecord[]): FileProblem | null {
  // It would hide the lines after it.
  const unclosed = [heading, ...records].find((record) => record?.isUnclosed);
  const fields = heading?.fields ?? [];
  const columns = fields.map(columnOf);
  const missing = REQUIRED.filter((one) => !columns.includes(one)).map((one) => HEADINGS[one]);
  const unknown = fields.find((_field, index) => columns[index] === undefined);
  const uneven = records.find((record) => record.fields.length > columns.length);
  // Another encoding than UTF-8 would pay to names that nobody has.
  if (content.includes('\uFFFD')) return { name: 'notUtf8', what: '' };
  if (unclosed) return { name: 'unclosedQuote', what: String(unclosed.line) };
  if (missing.length > 0) return { name: 'missingColumns', what: missing.join(', ') };
  if (unknown !== undefined) return { name: 'unknownColumn', what: `"${unknown}" (${known})` };
  if (new Set(columns).size < columns.length) return { name: 'repeatedColumn', what: '' };
  if (uneven) return { name: 'tooManyFields', what: String(uneven.line) };
  if (records.length === 0) return { name: 'noLines', what: '' };
  return records.length > LINES_MAX ? { name: 'tooManyLines', what: String(LINES_MAX) } : null;
}

/** The payouts of a file, or why it cannot be read. */
export function readBatch(content: string): { lines: BatchLine[]; problem: FileProblem | null } {
  const records = parseCsv(content);
  const problem = problemOf(content, records);
  if (problem) return { lines: [], problem };
  const [heading, ...payouts] = records;
  const columns = heading?.fields.map(columnOf) ?? [];
  const lines = payouts.map(({ line, fields }) => {
    const cell = (column: Column): string => fields[columns.indexOf(column)]?.trim() ?? '';
    return { line, body: bodyOf(cell) };
  });
  return { lines, problem: null };
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]/g, '');

/** "Bank code", "bank_code" and "bankCode" are one column, and so are "Reference" and "requestId". */
const columnOf = (heading: string): Column | undefined =>
  COLUMNS.find((one) => plain(HEADINGS[one]) === plain(heading) || plain(one) === plain(heading));

function bodyOf(cell: (column: Column) => string): Body {
  const destination = (['phone', 'bankCode', 'accountNumber', 'accountName'] as const)
    .map((name) => [name, name === 'bankCode' ? codeOf(cell(name)) : cell(name)] as const)
    .filter(([, value]) => value !== '');
  const reason = cell('reason');
  return {
    requestId: cell('requestId'),
    // Anything else as it is, which the API rejects: "1250,50" might be either.
    amount: parseBirr(cell('amount')) ?? cell('amount'),
    channel: codeOf(cell('channel')),
    destination: Object.fromEntries(destination),
    ...(reason !== '' && { reason }),
  };
}

/** A name as a code: in capitals, with _ for spaces. */
const codeOf = (value: string): string => value.toUpperCase().replaceAll(/[\s-]+/g, '_');

/** Lines that pay the same amount to the same beneficiary as an earlier one, by their place: with that one's. */
export function findRepeated(lines: readonly BatchLine[]): ReadonlyMap<number, number> {
  const first = new Map<string, number>();
  const repeated = new Map<number, number>();
  for (const { line, body } of lines) {
    const { phone, bankCode, accountNumber } = body.destination;
    // The last nine digits of a phone, however it begins.
    const key = [body.amount, phone?.replaceAll(/\D/g, '').slice(-9), bankCode, accountNumber].join(' ');
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, line);
    else repeated.set(line, earlier);
  }
  return repeated;
}
