import { parse as parseQuery } from 'node:querystring';

import { z } from 'zod';

import { AppError, invalid, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { presentValue } from '../lib/fields.ts';
import type { Issue, IssueCode } from '../lib/issues.ts';
import { isStorable } from './body.ts';

const FIELD_CHARACTERS_MAX = 100;
const SENTENCES_MAX = 10;
const DETAILS_MAX = 100;

export type RequestParts = { params: unknown; query: Record<string, unknown>; body: unknown };
type Schemas = { params?: z.ZodType; query?: z.ZodType; body?: z.ZodType };

const NO_FIELDS = z.strictObject({});

/**
 * Creates the validator of a route's input. Throws, when the server is built, if a schema accepts unknown fields or texts
 * without a limit. The validator throws one VALIDATION_ERROR with every field's issue, or the code in `params.code` that
 * all issues have.
 */
export function createValidator(schemas: Schemas, operationId: string): (parts: RequestParts) => RequestParts {
  for (const part of ['params', 'query', 'body'] as const) {
    const schema = schemas[part];
    if (schema) ensureSafeForInput(schema, `${operationId}: ${part}`);
  }
  const { params: paramsSchema, query: querySchema = NO_FIELDS, body: bodySchema = NO_FIELDS } = schemas;
  return (parts) => {
    const issues: FoundIssue[] = [];
    const params = paramsSchema ? check(paramsSchema, { part: 'path', value: parts.params }, issues) : {};
    const query = check(querySchema, { part: 'query', value: single(parts.query, issues) }, issues);
    const body = check(bodySchema, { part: 'body', value: parts.body }, issues);
    if (issues.length > 0) throw validationError(issues);
    return { params, query: query as Record<string, unknown>, body };
  };
}

const PARAMETERS_MAX = 50;

/** Parses a query string. Throws VALIDATION_ERROR for more parameters than the parser would read. */
export function readQuery(text: string): Record<string, unknown> {
  if (text === '') return {};
  if (text.split('&', PARAMETERS_MAX + 1).length <= PARAMETERS_MAX) return parseQuery(text);
  throw invalid('query', `must have at most ${PARAMETERS_MAX} parameters`);
}

/** The definitions of the schemas that a schema consists of; those after a transform read no input. */
type Parts = {
  shape?: Record<string, z.core.$ZodType>;
  catchall?: z.core.$ZodType;
  options?: (z.core.$ZodType | undefined)[];
} & Partial<Record<'element' | 'keyType' | 'valueType' | 'in' | 'innerType', z.core.$ZodType>>;

/**
 * Throws unless a schema is safe for untrusted input: it rejects unknown fields, and every text and list has a limit, of
 * texts before any pattern or other rule. `what`: its name in the error.
 */
function ensureSafeForInput(schema: z.core.$ZodType, what: string): void {
  if (!rejectsUnknown(schema)) throw new Error(`${what} must be a strict object`);
  ensureLimits(schema, what);
}

/** Whether a schema rejects unknown fields: a strict object, or a pipe or wrapper that begins with one. */
function rejectsUnknown(schema: z.core.$ZodType): boolean {
  const { shape, catchall, in: piped, innerType, options = [piped ?? innerType] } = schema._zod.def as Parts;
  if (shape) return catchall instanceof z.ZodNever;
  return options.every((option) => option !== undefined && rejectsUnknown(option));
}

function ensureLimits(schema: z.core.$ZodType, what: string): void {
  const isText = schema instanceof z.ZodString || schema instanceof z.ZodStringFormat;
  const isLimited = isText ? isLimitedText(schema) : checksOf(schema).some(isLengthLimit);
  if (!isLimited && (isText || schema instanceof z.ZodArray)) {
    throw new Error(`${what} must have a length limit before its other rules`);
  }
  const { shape, options, element, keyType, valueType, in: piped, innerType } = schema._zod.def as Parts;
  const parts = Object.entries({ ...shape, element, keyType, valueType, piped, innerType });
  for (const part of options ?? []) parts.push(['option', part]);
  for (const [name, part] of parts) if (part) ensureLimits(part, `${what}.${name}`);
}

type Check = { check: string; abort?: boolean | undefined };

/** Whether a limit aborts before any check that is not about the length. */
function isLimitedText(schema: z.core.$ZodType): boolean {
  // zod checks its own formats, such as z.email(), first.
  if (schema instanceof z.ZodStringFormat) return false;
  const checks = checksOf(schema);
  const others = checks.findIndex(({ check }) => !/^(?:min|max)_length$|^length_equals$/.test(check));
  if (others === -1) return checks.some(isLengthLimit);
  return checks.slice(0, others).some((check) => isLengthLimit(check) && check.abort === true);
}

function isLengthLimit({ check }: Check): boolean {
  return check === 'max_length' || check === 'length_equals';
}

function checksOf(schema: z.core.$ZodType): Check[] {
  return (schema._zod.def.checks ?? []).map((one) => one._zod.def);
}

/** `error` is the code of the whole error, if that is not VALIDATION_ERROR. */
type FoundIssue = FieldIssue & { error?: ErrorCode };

/** Parameters as single texts. One given twice is an issue, because either value could be meant. */
function single(query: Record<string, unknown>, issues: FoundIssue[]): Record<string, unknown> {
  for (const [field, value] of Object.entries(query)) {
    if (Array.isArray(value)) {
      issues.push({ field, issue: `must be given once, got ${value.length} values`, code: 'given_twice' });
      query = { ...query, [field]: value[0] };
    } else if (typeof value === 'string' && !isStorable(value)) {
      issues.push({ field, issue: 'must not contain the NUL character', code: 'control_characters' });
    }
  }
  return query;
}

type Part = { part: 'path' | 'query' | 'body'; value: unknown };

function check(schema: z.ZodType, { part, value }: Part, issues: FoundIssue[]): unknown {
  const parsed = schema.safeParse(value, { error: sentence, reportInput: true });
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    if (issue.code === 'unrecognized_keys') issues.push(...unknownFields(issue, part, schema));
    else issues.push(fieldIssue(issue, part));
  }
  return undefined;
}

const WHAT = { path: 'part of this path', query: 'query parameter of this route', body: 'field of this body' };

function unknownFields(issue: z.core.$ZodIssueUnrecognizedKeys, part: Part['part'], schema: z.ZodType): FoundIssue[] {
  const top = issue.path.length === 0 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : null;
  const known = !top ? '' : top.length === 0 ? '; there are none' : `; there are ${top.join(', ')}`;
  return issue.keys.map((key) => ({
    field: [...issue.path.map(String), key].join('.').slice(0, FIELD_CHARACTERS_MAX),
    issue: `is not a ${WHAT[part]}${known}`,
    code: 'unknown_field',
  }));
}

function fieldIssue(issue: z.core.$ZodIssue, part: Part['part']): FoundIssue {
  const { path, message, input } = issue;
  const isComplete = message.includes('got ') || input === undefined || path.length === 0;
  return {
    field: (path.map(String).join('.') || part).slice(0, FIELD_CHARACTERS_MAX),
    issue: isComplete ? message : `${message}, got ${presentValue(input, { isPublic: isPublic(issue) })}`,
    ...codeOf(issue),
  };
}

type Coded = Pick<FoundIssue, 'error' | 'code' | 'params'>;

/** The code of an issue, with its parameters: of a schema's own rule its own (`ruleOf`), else by zod's kind of issue. */
function codeOf(issue: z.core.$ZodIssue): Coded {
  if (issue.code === 'custom') {
    const { code: error, issue: own } = (issue.params ?? {}) as { code?: ErrorCode; issue?: Omit<Issue, 'issue'> };
    return { ...(error && { error }), ...(own ?? (issue.input === undefined && { code: 'required' })) };
  }
  if (issue.input === undefined) return { code: 'required' };
  if (issue.code === 'invalid_type') return { code: 'wrong_type', params: { expected: issue.expected } };
  if (issue.code === 'invalid_value') {
    return { code: 'not_an_option', params: { allowed: issue.values.map(String).join(', ') } };
  }
  if (issue.code === 'too_small') {
    return { code: OF_SIZE[issue.origin]?.[0] ?? 'too_small', params: { minimum: Number(issue.minimum) } };
  }
  if (issue.code === 'too_big') {
    return { code: OF_SIZE[issue.origin]?.[1] ?? 'too_big', params: { maximum: Number(issue.maximum) } };
  }
  return issue.code === 'invalid_format' ? { code: 'wrong_format' } : {};
}

const OF_SIZE: Readonly<Record<string, readonly [few: IssueCode, many: IssueCode]>> = {
  string: ['too_short', 'too_long'],
  array: ['too_few', 'too_many'],
};

const PUBLIC_TYPES: ReadonlySet<string> = new Set(['number', 'int', 'boolean']);

/** Whether an error may repeat the value: where a number, true or false, or one of a few values was expected. */
function isPublic(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_type') return PUBLIC_TYPES.has(issue.expected);
  return issue.code === 'invalid_value' || typeof issue.input === 'number';
}

function validationError(issues: FoundIssue[]): AppError {
  const [code = 'VALIDATION_ERROR', ...others] = new Set(issues.map(({ error = 'VALIDATION_ERROR' }) => error));
  const details = issues.slice(0, DETAILS_MAX).map(({ error: _error, ...issue }) => issue);
  const sentences = details.slice(0, SENTENCES_MAX).map(({ field, issue }) => `${field} ${issue}`);
  if (issues.length > SENTENCES_MAX) sentences.push(`and ${issues.length - SENTENCES_MAX} more`);
  return new AppError(others.length > 0 ? 'VALIDATION_ERROR' : code, sentences.join('; '), { details });
}

const KINDS: Readonly<Record<string, string>> = {
  int: 'a whole number',
  boolean: 'true or false',
  record: 'an object',
  array: 'a list',
  object: 'an object',
};
const UNITS: Readonly<Record<string, string>> = { string: ' characters long', array: ' long' };

/** The text of an issue whose schema has no message of its own. */
function sentence(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is required';
  if (issue.code === 'invalid_type') return `must be ${KINDS[String(issue.expected)] ?? `a ${issue.expected}`}`;
  if (issue.code === 'invalid_value') return `must be ${oneOf(issue.values ?? [])}`;
  const unit = ('origin' in issue && UNITS[String(issue.origin)]) || '';
  if (issue.code === 'too_small') {
    return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unit}`;
  }
  if (issue.code === 'too_big') {
    return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unit}`;
  }
  if (issue.code === 'invalid_format') {
    return issue.format === 'regex' ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`;
  }
  if (issue.code === 'not_multiple_of') return `must be a multiple of ${issue.divisor}`;
  return issue.code === 'invalid_union' ? 'has none of the allowed forms' : 'is not valid';
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return texts.length === 1 ? `${texts[0]}` : `one of ${texts.join(', ')}`;
}
