import { z } from 'zod';

/**
 * Throws unless a schema is safe for untrusted input: it rejects unknown fields, and every text and list has a limit, of
 * texts before any pattern or other rule. `what`: its name in the error.
 */
export function ensureSafeForInput(schema: z.core.$ZodType, what: string): void {
  if (!rejectsUnknown(schema)) throw new Error(`${what} must be a strict object`);
  ensureLimits(schema, what);
}

/** Whether a schema rejects unknown fields: a strict object, or a pipe or wrapper that begins with one. */
function rejectsUnknown(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodObject) return schema.def.catchall instanceof z.ZodNever;
  if (schema instanceof z.ZodPipe) return rejectsUnknown(schema.in);
  if (schema instanceof z.ZodUnion) return schema.options.every(rejectsUnknown);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return rejectsUnknown(schema.unwrap());
  return false;
}

/** The schema of the value at a path; the innermost one known where the path goes deeper. */
export function schemaAt(schema: z.core.$ZodType, [key, ...rest]: readonly PropertyKey[]): z.core.$ZodType {
  if (key === undefined) return schema;
  if (schema instanceof z.ZodObject) {
    const inner: z.core.$ZodType | undefined = schema.shape[String(key)];
    return inner ? schemaAt(inner, rest) : schema;
  }
  if (schema instanceof z.ZodRecord) return schemaAt(schema.valueType, rest);
  if (schema instanceof z.ZodArray) return schemaAt(schema.element, rest);
  if (schema instanceof z.ZodPipe) return schemaAt(schema.in, [key, ...rest]);
  return isWrapper(schema) ? schemaAt(schema.unwrap(), [key, ...rest]) : schema;
}

function ensureLimits(schema: z.core.$ZodType, what: string): void {
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) {
    if (!isLimitedText(schema)) throw new Error(`${what} must have a length limit before its other rules`);
  } else if (schema instanceof z.ZodArray) {
    if (!checksOf(schema).some(isLengthLimit)) throw new Error(`${what} must have a limit of its length`);
  }
  for (const [name, inner] of partsOf(schema)) ensureLimits(inner, `${what}${name}`);
}

/** The schemas of a value's parts, each with its name. Those after a transform read no input. */
function partsOf(schema: z.core.$ZodType): [string, z.core.$ZodType][] {
  if (schema instanceof z.ZodObject) return Object.entries(schema.shape).map(([key, inner]) => [`.${key}`, inner]);
  if (schema instanceof z.ZodRecord) {
    return [
      [' key', schema.keyType],
      [' value', schema.valueType],
    ];
  }
  if (schema instanceof z.ZodArray) return [['[]', schema.element]];
  if (schema instanceof z.ZodUnion) return schema.options.map((option) => ['', option]);
  if (schema instanceof z.ZodPipe) return [['', schema.in]];
  if (isWrapper(schema)) return [['', schema.unwrap()]];
  return [];
}

/** Whether a schema only makes another one optional or nullable. */
function isWrapper(schema: z.core.$ZodType): schema is z.ZodOptional | z.ZodDefault | z.ZodNullable {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable;
}

type Check = { check: string; abort?: boolean | undefined };

/** Whether a limit aborts before any check that is not about the length. */
function isLimitedText(schema: z.core.$ZodType): boolean {
  // zod checks its own formats, such as z.email(), first.
  if (schema instanceof z.ZodStringFormat) return false;
  const checks = checksOf(schema);
  const others = checks.findIndex(({ check }) => !LENGTHS.has(check));
  if (others === -1) return checks.some(isLengthLimit);
  return checks.slice(0, others).some((check) => isLengthLimit(check) && check.abort === true);
}

const LENGTHS = new Set(['min_length', 'max_length', 'length_equals']);

function isLengthLimit({ check }: Check): boolean {
  return check === 'max_length' || check === 'length_equals';
}

function checksOf(schema: z.core.$ZodType): Check[] {
  return (schema._zod.def.checks ?? []).map((one) => one._zod.def);
}
