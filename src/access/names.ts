import { z } from 'zod';

import { rows, type Queryable } from '../lib/db.ts';

/** The field with the name of an id: merchantId → merchantName, requestedBy → requestedByName. */
type NameOf<Field extends string> = Field extends `${infer What}Id` ? `${What}Name` : `${Field}Name`;
const nameOf = (field: string): string => `${field.replace(/Id$/, '')}Name`;

/** The schemas of the fields that {@link withNames} adds. */
export function nameFields<Field extends string>(...fields: Field[]) {
  const name = z.string().nullable().describe('The name that belongs to the id; null: there is none');
  return Object.fromEntries(fields.map((field) => [nameOf(field), name])) as Record<NameOf<Field>, typeof name>;
}

const NAMES = `
  SELECT id, name FROM merchant WHERE id = ANY (:ids)
  UNION ALL SELECT id, name FROM operator WHERE id = ANY (:ids)
  UNION ALL SELECT id, coalesce(nullif(name, ''), email) FROM user_account WHERE id = ANY (:ids)
  UNION ALL SELECT id, nullif(name, '') FROM api_key WHERE id = ANY (:ids)`;

/** The objects with the names of the merchants, people and keys whose ids are in these of their fields: one query. */
export async function withNames<Shown extends object>(
  db: Queryable,
  shown: readonly Shown[],
  fields: readonly string[],
): Promise<Shown[]> {
  const idsOf = (one: Shown): [string, unknown][] => Object.entries(one).filter(([field]) => fields.includes(field));
  const ids = new Set(shown.flatMap(idsOf).map(([, id]) => id));
  const named = await rows<{ id: string; name: string | null }>(db, NAMES, { ids: [...ids] });
  const names = new Map<unknown, string | null>(named.map(({ id, name }) => [id, name]));
  return shown.map((one) => ({
    ...one,
    ...Object.fromEntries(idsOf(one).map(([field, id]) => [nameOf(field), names.get(id) ?? null])),
  }));
}
