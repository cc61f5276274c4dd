/**
 * Removes the bounds of JavaScript's safe integers from a schema that is being written, as zod's and zod-openapi's
 * `override`: they describe no field, and tools show them as examples.
 */
export function withoutSafeIntegerBounds({ jsonSchema }: { jsonSchema: { minimum?: number; maximum?: number } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
