import { parse as parseQuery } from 'node:querystring';

import { z } from 'zod';

import { isPublicSchema, presentValue } from '../lib/echo.ts';
import { AppError, ERROR_STATUS, invalid, type ErrorCode, type FieldIssue } from '../lib/errors.ts';
import { isStorable } from './body.ts';
import { ensureSafeForInput, schemaAt } from './input-schema.ts';

const FIELD_CHARACTERS_MAX = 100;
const SENTENCES_MAX = 10;
const DETAILS_MAX = 100;

/** The parts of a request that a route may describe, unvalidated. */
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

type FoundIssue = FieldIssue & { code: ErrorCode };

/** Parameters as single texts. One given twice is an issue, because either value could be meant. */
function single(query: Record<string, unknown>, issues: FoundIssue[]): Record<string, unknown> {
  for (const [field, value] of Object.entries(query)) {
    if (Array.isArray(value)) {
      issues.push({ field, issue: `must be given once, got ${value.length} values`, code: 'VALIDATION_ERROR' });
      query = { ...query, [field]: value[0] };
    } else if (typeof value === 'string' && !isStorable(value)) {
      issues.push({ field, issue: 'must not contain the NUL character', code: 'VALIDATION_ERROR' });
    }
  }
  return query;
}

type Part = { part: 'path' | 'query' | 'body'; value: unknown };

function check(schema: z.ZodType, part: Part, issues: FoundIssue[]): unknown {
  const parsed = schema.safeParse(part.value, PARSE_OPTIONS);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    if (issue.code === 'unrecognized_keys') issues.push(...unknownFields(issue, part.part, schema));
    else issues.push(fieldIssue(issue, part, schema));
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
    code: 'VALIDATION_ERROR',
  }));
}

function fieldIssue(issue: z.core.$ZodIssue, part: Part, schema: z.ZodType): FoundIssue {
  const field = issue.path.length === 0 ? part.part : issue.path.map(String).join('.');
  let value = part.value;
  for (const key of issue.path) value = isRecord(value) ? value[String(key)] : undefined;
  const named = issue.message.includes('got ') || value === undefined || issue.path.length === 0;
  const isPublic = isPublicSchema(schemaAt(schema, issue.path));
  return {
    field: field.slice(0, FIELD_CHARACTERS_MAX),
    issue: named ? issue.message : `${issue.message}, got ${presentValue(value, { isPublic })}`,
    code: issue.code === 'custom' && isErrorCode(issue.params?.['code']) ? issue.params['code'] : 'VALIDATION_ERROR',
  };
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_STATUS, code);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function validationError(issues: FoundIssue[]): AppError {
  const codes = new Set(issues.map((issue) => issue.code));
  const [first] = issues;
  const code = codes.size === 1 && first ? first.code : 'VALIDATION_ERROR';
  const details = issues.slice(0, DETAILS_MAX).map(({ field, issue }) => ({ field, issue }));
  const sentences = details.slice(0, SENTENCES_MAX).map(({ field, issue }) => `${field} ${issue}`);
  if (issues.length > SENTENCES_MAX) sentences.push(`and ${issues.length - SENTENCES_MAX} more`);
  return new AppError(code, sentences.join('; '), { details });
}

/** Texts of issues whose schema has no message of its own. */
const PARSE_OPTIONS = { error: (issue: z.core.$ZodRawIssue): string => sentence(issue) };

function sentence(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${kind(String(issue.expected))}`;
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : `must be ${oneOf(issue.values ?? [])}`;
    case 'too_small':
      return `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unit(issue.origin)}`;
    case 'too_big':
      return `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unit(issue.origin)}`;
    case 'invalid_format':
      return issue.format === 'regex' ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : 'has none of the allowed forms';
    case 'invalid_key':
    case 'invalid_element':
    case 'unrecognized_keys':
    case 'custom':
    default:
      return 'is not valid';
  }
}

function kind(expected: string): string {
  if (expected === 'int') return 'a whole number';
  if (expected === 'boolean') return 'true or false';
  if (expected === 'record') return 'an object';
  if (expected === 'array') return 'a list';
  return expected === 'object' ? 'an object' : `a ${expected}`;
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return texts.length === 1 ? `${texts[0]}` : `one of ${texts.join(', ')}`;
}

function unit(origin: unknown): string {
  if (origin === 'string') return ' characters long';
  return origin === 'array' || origin === 'set' ? ' long' : '';
}
