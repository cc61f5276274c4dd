import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';

import { recordAudit } from '../access/audit.ts';
import type { Clock } from '../lib/clock.ts';
import { isDay, startOfAddisDay } from '../lib/dates.ts';
import { AppError, invalid } from '../lib/errors.ts';
import { patternText, plainText } from '../lib/fields.ts';
import { parseBirr } from '../lib/money.ts';
import { dryRun, type UnitOfWork, type RunInTransaction } from '../outbox/record.ts';
import { lateCreditIssue, markCredited, markFailed, markReturned } from './bank-results.ts';
import type { BankFileReport } from './schema.ts';
import { settlementAudit, type SettlementActor, type TransitionResult } from './transition.ts';

type Deps = {
  runInTransaction: RunInTransaction;
  clock: Clock;
  /** Books nothing, and reports what the file would do. */
  isPreview?: boolean;
};

const COLUMNS = ['settlementId', 'result', 'bankReference', 'date', 'reason'] as const;
/** Optional: what the bank has credited, which must be the settlement's amount. */
const AMOUNT = 'amount';
const LINES_MAX = 2_000;
const ECHO_CHARACTERS_MAX = 64;
const HEADING_CHARACTERS_MAX = 200;

const settlementId = patternText(30, /^stl_[0-9A-Z]{26}$/, 'must be a settlement id, stl_…');
const optionalReference = plainText(64);
const bankReference = optionalReference.min(1, 'must be given');
const date = z.string().refine(isDay, 'must be a day as YYYY-MM-DD');
const reason = plainText(200).min(1, 'must be given');
/** In birr. */
const amount = z
  .string()
  .default('')
  .transform((text) => (text === '' ? undefined : parseBirr(text)))
  .refine((santim) => santim !== null, 'must be an amount as 1500.50');

const unpaid = { settlementId, date: date.or(z.literal('')), reason };
const Failed = z.object({
  result: z.literal('failed'),
  ...unpaid,
  bankReference: optionalReference.transform((text) => text || undefined),
});
const Line = z.discriminatedUnion(
  'result',
  [
    z.object({ result: z.literal('credited'), settlementId, bankReference, date, amount }),
    Failed,
    z.object({ result: z.literal('returned'), ...unpaid, bankReference }),
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
  { runInTransaction, clock, isPreview = false }: Deps,
  { operatorId, requestId, text }: { operatorId: string; requestId: string; text: string },
): Promise<BankFileReport> {
  const previewed = new Map<string, number>();
  const report: BankFileReport = { applied: [], already: [], wrong: [] };
  for (const csv of readLines(text)) {
    const { record, info } = csv;
    const wrong = { line: info.lines, settlementId: record['settlementId']?.slice(0, ECHO_CHARACTERS_MAX) ?? null };
    try {
      const line = parseLine(csv);
      if (isPreview) rejectRepeated(line, info.lines, previewed);
      const book = async (tx: UnitOfWork): Promise<TransitionResult> => {
        const at = clock();
        const updated = await apply(tx, line, { operatorId, at });
        const audit = settlementAudit(updated);
        const reason = 'reason' in line ? line.reason : 'By the file of the bank';
        const action = `settlement.${line.result}` as const;
        if (audit) await recordAudit({ tx, operatorId, requestId, at }, { ...audit, action, reason });
        return updated;
      };
      const { settlement, changed } = await runInTransaction((tx) => (isPreview ? dryRun(tx, book) : book(tx)));
      const issue = line.result === 'credited' ? lateCreditIssue(settlement, line.bankReference) : null;
      if (issue !== null) report.wrong.push({ ...wrong, issue });
      else
        report[changed ? 'applied' : 'already'].push({
          line: info.lines,
          settlementId: settlement.id,
          result: line.result,
        });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      report.wrong.push({ ...wrong, issue: error.message });
    }
  }
  return report;
}

async function apply(tx: UnitOfWork, line: Line, actor: SettlementActor): Promise<TransitionResult> {
  const { settlementId: id } = line;
  if (line.result === 'failed') return markFailed(tx, id, { ...actor, ...line, from: ['PROCESSING'] });
  if (line.result === 'returned') return markReturned(tx, id, { ...actor, ...line });
  const { bankReference, date, amount } = line;
  const credit = { bankReference, creditedAt: startOfAddisDay(date), amountSantim: amount ?? undefined };
  return markCredited(tx, id, { ...actor, ...credit });
}

type CsvLine = {
  record: Record<string, string>;
  info: { lines: number; columns: unknown[]; error?: { record: string[] } };
};

/** Throws VALIDATION_ERROR. */
function parseLine({ record, info }: CsvLine): Line {
  // A value too many or too few shifts those after it.
  if (info.error) {
    const issue = `has ${info.error.record.length} values, the heading ${info.columns.length}`;
    throw new AppError('VALIDATION_ERROR', issue);
  }
  const parsed = Line.safeParse(record);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new AppError('VALIDATION_ERROR', issues.join('; '));
}

/** Throws VALIDATION_ERROR for what an earlier line of the preview would already have booked. */
function rejectRepeated(
  { settlementId: id, bankReference: reference }: Line,
  line: number,
  earlier: Map<string, number>,
) {
  const names = reference === undefined ? [id] : [id, `bankReference ${reference}`];
  for (const name of names) {
    const before = earlier.get(name);
    if (before !== undefined) throw new AppError('VALIDATION_ERROR', `${name} is in line ${before} already`);
    earlier.set(name, line);
  }
}

/** The lines below the heading, as values by column. Throws VALIDATION_ERROR for malformed CSV or another heading. */
function readLines(text: string): CsvLine[] {
  if (text.trim() === '') columns([]);
  const cast = (value: string): string => value.trim();
  const options = { bom: true, info: true, relax_column_count: true, skip_empty_lines: true, columns, cast } as const;
  try {
    const lines = parse(text, options) as unknown as CsvLine[];
    if (lines.length <= LINES_MAX) return lines;
    throw invalidFile(`must have at most ${LINES_MAX} lines, got ${lines.length}; split it`);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw invalidFile(`is not CSV: ${error.message}`);
  }
}

function columns(heading: string[]): string[] {
  const known = heading.includes(AMOUNT) ? [...COLUMNS, AMOUNT] : COLUMNS;
  if (heading.length === known.length && known.every((name) => heading.includes(name))) return heading;
  const got = JSON.stringify(heading.join(',').slice(0, HEADING_CHARACTERS_MAX));
  throw invalidFile(`must begin with the line ${COLUMNS.join(',')} (and optionally ${AMOUNT}), got ${got}`);
}

function invalidFile(issue: string): AppError {
  return invalid('file', issue, { message: `The file ${issue}.` });
}
