import { z } from 'zod';

const ECHO_CHARACTERS_MAX = 100;

/**
 * Schemas of texts that errors may repeat, such as days and references. All other texts are private, because error
 * bodies end up in merchants' logs.
 */
const publicTexts = z.registry<{ isPublic: true }>();

/** Declares that errors may repeat this field's wrong value. */
export function publicText<Schema extends z.ZodType>(schema: Schema): Schema {
  publicTexts.add(schema, { isPublic: true });
  return schema;
}

/** Whether errors may repeat the wrong value of a field: of public texts, enums, literals, numbers and booleans. */
export function isPublicSchema(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return isPublicSchema(schema.unwrap());
  }
  if (publicTexts.get(schema)?.isPublic) return true;
  if (schema instanceof z.ZodPipe) return isPublicSchema(schema.in);
  return [z.ZodEnum, z.ZodLiteral, z.ZodNumber, z.ZodBoolean].some((kind) => schema instanceof kind);
}

/** A wrong value as an error may repeat it: a public one as it is, of others the type. Never the content of a list or object. */
export function presentValue(value: unknown, { isPublic }: { isPublic: boolean }): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (!isPublic) return typeof value === 'string' ? `a text of ${value.length} characters` : `a ${typeof value}`;
  // JSON cannot represent a number that is too large: 1e400.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return text.length <= ECHO_CHARACTERS_MAX ? text : `${text.slice(0, ECHO_CHARACTERS_MAX)}…`;
}
