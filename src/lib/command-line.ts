import { parseArgs, type ParseArgsConfig } from 'node:util';

import { AppError, type ErrorCode } from './errors.ts';
import { closestMatch } from './suggest.ts';

/** The words were wrong; answered with the usage, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type OptionTypes = NonNullable<ParseArgsConfig['options']>;

/** What a command shows: names and values. */
export type Row = Readonly<Record<string, string | number | null>>;

/** Where a command's output goes, and beside it what only its reader should know: refusals, hints. */
export type Write = (part: string | Uint8Array, to?: 'aside') => void;

/** What is printed as it is: JSON, the bytes of a file. */
export class Verbatim {
  readonly parts: Iterable<string> | AsyncIterable<Uint8Array>;

  constructor(parts: Iterable<string> | AsyncIterable<Uint8Array>) {
    this.parts = parts;
  }
}

type Parsed<Options extends OptionTypes> = ReturnType<typeof parseArgs<{ options: Options }>>['values'];

/** `args` are the words after the verb, options left out. */
export type Verb<Options extends OptionTypes> = (call: {
  options: Parsed<Options>;
  args: readonly string[];
}) => Promise<Row | Row[] | Verbatim>;

export type Noun<Options extends OptionTypes> = {
  name: string;
  usage: string;
  options: Options;
  verbs: ReadonlyMap<string, Verb<Options>>;
  /** The columns of a list, of every verb or of each; a single thing is shown whole. */
  columns: readonly string[] | Readonly<Record<string, readonly string[]>>;
  write: Write;
};

/** Given to every noun. */
export const COMMON_OPTIONS = { json: { type: 'boolean' }, help: { type: 'boolean' } } as const;

/**
 * Runs `meskot <noun> <verb> …`; `args` without the first two words. Exit code: 0 done, 1 refused, 2 wrong usage, 3 not
 * allowed, 4 not found.
 */
export async function runNoun<Options extends OptionTypes & typeof COMMON_OPTIONS>(
  noun: Noun<Options>,
  args: readonly string[],
): Promise<number> {
  try {
    const { values, positionals } = readArguments(noun.options, args);
    const [verb = '', ...words] = positionals;
    if ('help' in values && values['help']) {
      noun.write(noun.usage);
      return 0;
    }
    const run = noun.verbs.get(verb);
    if (!run) throw unknownVerb(noun, verb);
    const result = await run({ options: values, args: words });
    const asJson = 'json' in values && values['json'] === true;
    if (result instanceof Verbatim) for await (const part of result.parts) noun.write(part);
    else noun.write(asJson ? `${JSON.stringify(result, null, 2)}\n` : asText(result, columnsOf(noun, verb)));
    return 0;
  } catch (error) {
    const [typed = ''] = args;
    const verb = noun.verbs.has(typed) ? typed : closestMatch(typed, [...noun.verbs.keys()]);
    return reject(error, { ...noun, verb: verb ?? typed });
  }
}

function unknownVerb<Options extends OptionTypes>({ name, verbs }: Noun<Options>, verb: string): UsageError {
  const guess = closestMatch(verb, [...verbs.keys()]);
  const hint = guess === undefined ? '' : ` Did you mean "${guess}"?`;
  return new UsageError(`There is no "${`${name} ${verb}`.trim()}".${hint}`);
}

function columnsOf({ columns }: Pick<Noun<never>, 'columns'>, verb: string): readonly string[] {
  return isList(columns) ? columns : (columns[verb] ?? []);
}

function isList(columns: Noun<never>['columns']): columns is readonly string[] {
  return Array.isArray(columns);
}

function readArguments<Options extends OptionTypes>(options: Options, args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'The arguments are wrong.');
  }
}

function reject(
  error: unknown,
  { name, usage, verb, write }: Pick<Noun<never>, 'name' | 'usage' | 'write'> & { verb: string },
): number {
  if (error instanceof UsageError) {
    const lines = usage.split('\n');
    const ofVerb = lines.filter((line) => `${line} `.startsWith(`meskot ${name} ${verb} `));
    write(`${error.message}\n\n${(ofVerb.length > 0 ? [...ofVerb, ''] : lines).join('\n')}`, 'aside');
    return 2;
  }
  if (!(error instanceof AppError)) throw error;
  write(`${error.message}\n`, 'aside');
  return EXIT_CODES[error.code] ?? 1;
}

const EXIT_CODES: Partial<Record<ErrorCode, number>> = { VALIDATION_ERROR: 2, INSUFFICIENT_SCOPE: 3, NOT_FOUND: 4 };

/** One thing as lines of name and value; many as a table of the columns that tell them apart. */
function asText(result: Row | Row[], columns: readonly string[]): string {
  if (Array.isArray(result)) return asTable(result, columns);
  const entries = Object.entries(result).filter(([, value]) => value !== null && value !== '');
  return entries.map(([name, value]) => `${name.padEnd(12)} ${value}\n`).join('');
}

function asTable(list: readonly Row[], columns: readonly string[]): string {
  const table = [[...columns], ...list.map((one) => columns.map((name) => String(one[name] ?? '-')))];
  const widths = columns.map((_, index) => Math.max(...table.map((line) => line[index]?.length ?? 0)));
  const lineOf = (line: readonly string[]): string =>
    line.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ');
  return table.map((line) => `${lineOf(line).trimEnd()}\n`).join('');
}
