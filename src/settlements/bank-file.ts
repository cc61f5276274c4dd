import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';

import type { Clock } from '../lib/clock.ts';
import { isDay, startOfAddisDay } from '../lib/dates.ts';
import { AppError, invalid } from '../lib/errors.ts';
import { patternText, plainText } from '../lib/fields.ts';
import { parseBirr } from '../lib/money.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import { markCredited, markFailed, markReturned } from './bank-results.ts';
import { lateCreditIssue } from './bank-results.ts';
import type { TransitionResult } from './transition.ts';

export type BankFileDeps = {
  runInTransaction: RunInTransaction;
  clock: Clock;
  /** Called in the transaction of every line that was applied, or stored for operators to decide. */
  onApplied?: (tx: UnitOfWork, updated: TransitionResult, result: BankResult) => Promise<void>;
};

/** The bank's result: credited, not credited, or sent back after the credit. */
export type BankResult = 'credited' | 'failed' | 'returned';

/** The result of each line of a file; line 1 is its heading. */
export type BankFileReport = {
  applied: { line: number; settlementId: string; result: BankResult }[];
  /** Applied before. */
  already: { line: number; settlementId: string; result: BankResult }[];
  wrong: { line: number; settlementId: string | null; issue: string }[];
};

const COLUMNS = ['settlementId', 'result', 'bankReference', 'date', 'reason'] as const;
/** Optional: what the bank has credited, which must be the settlement's amount. */
const AMOUNT = 'amount';
const LINES_MAX = 2_000;
const ECHO_CHARACTERS_MAX = 64;
const HEADING_CHARACTERS_MAX = 200;

const settlementId = patternText(30, /^stl_[0-9A-Z]{26}$/, 'must be a settlement id, stl_…');
const bankReference = plainText(64).min(1, 'must be given');
const date = z.string().refine(isDay, 'must be a day as YYYY-MM-DD');

/** In birr. */
const amount = z
  .string()
  .default('')
  .transform((text) => (text === '' ? undefined : parseBirr(text)))
  .refine((santim) => santim !== null, 'must be an amount as 1500.50');

const optionalDate = date.or(z.literal(''));
const reason = plainText(200).min(1, 'must be given');

const Line = z.discriminatedUnion(
  'result',
  [
    z.object({ result: z.literal('credited'), settlementId, bankReference, date, amount }),
    z.object({
      result: z.literal('failed'),
      settlementId,
      bankReference: plainText(64).transform((text) => text || undefined),
      date: optionalDate,
      reason,
    }),
    z.object({ result: z.literal('returned'), settlementId, bankReference, date: optionalDate, reason }),
  ],
  'must be credited, failed or returned',
);
type Line = z.output<typeof Line>;

/**
 * Books the bank's results of a CSV file: `settlementId,result,bankReference,date,reason` and optionally `amount`. A
 * `credited` line needs bankReference and date; `failed` a reason; `returned` a reason and the bankReference of the return.
 * Each line is a transaction of its own: an invalid line is reported and holds up no other. The credit of a FAILED
 * settlement is reported as well, and stored for operators. Idempotent.
 * Throws VALIDATION_ERROR when the text is no such file; nothing is booked then.
 */
export async function importBankFile(
  { runInTransaction, clock, onApplied }: BankFileDeps,
  { operatorId, text }: { operatorId: string; text: string },
): Promise<BankFileReport> {
  const report: BankFileReport = { applied: [], already: [], wrong: [] };
  for (const { line, values, issue: misshapen } of readLines(text)) {
    const parsed = Line.safeParse(values);
    if (!parsed.success || misshapen !== null) {
      const issues = parsed.error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
      const issue = misshapen ?? issues?.join('; ') ?? '';
      report.wrong.push({ line, settlementId: values['settlementId']?.slice(0, ECHO_CHARACTERS_MAX) ?? null, issue });
      continue;
    }
    const { result } = parsed.data;
    const about = { line, settlementId: parsed.data.settlementId };
    try {
      const { settlement, changed } = await runInTransaction(async (tx) => {
        const updated = await apply(tx, parsed.data, { operatorId, at: clock() });
        if (updated.changed) await onApplied?.(tx, updated, result);
        return updated;
      });
      const issue = result === 'credited' ? lateCreditIssue(settlement, parsed.data.bankReference) : null;
      if (issue !== null) report.wrong.push({ ...about, issue });
      else report[changed ? 'applied' : 'already'].push({ ...about, result });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      report.wrong.push({ ...about, issue: error.message });
    }
  }
  return report;
}

function apply(tx: UnitOfWork, line: Line, actor: { operatorId: string; at: Date }): Promise<TransitionResult> {
  const { settlementId: id } = line;
  switch (line.result) {
    case 'credited': {
      const { bankReference, amount: amountSantim } = line;
      const credited = {
        bankReference,
        creditedAt: startOfAddisDay(line.date),
        amountSantim: amountSantim ?? undefined,
      };
      return markCredited(tx, id, { ...actor, ...credited });
    }
    case 'failed':
      return markFailed(tx, id, { ...actor, ...line, from: ['PROCESSING'] });
    case 'returned':
      return markReturned(tx, id, { ...actor, ...line });
    default:
      return line satisfies never;
  }
}

/** The lines below the heading, as values by column. Throws VALIDATION_ERROR for malformed CSV or another heading. */
function readLines(text: string): { line: number; values: Record<string, string>; issue: string | null }[] {
  let names: string[] = [];
  const lines = readRecords(text, (heading) => (names = heading));
  const known = names.includes(AMOUNT) ? [...COLUMNS, AMOUNT] : COLUMNS;
  if (names.length !== known.length || !known.every((name) => names.includes(name))) {
    const got = JSON.stringify(names.join(',').slice(0, HEADING_CHARACTERS_MAX));
    throw invalidFile(`must begin with the line ${COLUMNS.join(',')} (and optionally ${AMOUNT}), got ${got}`);
  }
  if (lines.length > LINES_MAX)
    throw invalidFile(`must have at most ${LINES_MAX} lines, got ${lines.length}; split it`);
  return lines.map(({ record, info }) => {
    // A value too many or too few shifts those after it.
    const issue = info.error ? `has ${info.error.record.length} values, the heading ${names.length}` : null;
    return { line: info.lines, values: record, issue };
  });
}

type CsvRecord = { record: Record<string, string>; info: { lines: number; error?: { record: string[] } } };

function readRecords(text: string, columns: (heading: string[]) => string[]): CsvRecord[] {
  try {
    const cast = (value: string): string => value.trim();
    const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, columns, cast } as const;
    return parse(text, options) as unknown as CsvRecord[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw invalidFile(`is not CSV: ${error.message}`);
  }
}

function invalidFile(issue: string): AppError {
  return invalid('file', issue, { message: `The file ${issue}.` });
}
