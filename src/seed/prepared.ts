import { createHash } from 'node:crypto';

import type { Knex } from '../lib/db.ts';

const names = new Map<string, string>();

/**
 * The same transaction, with its raw statements prepared: PostgreSQL plans each text once for a connection. Planning is
 * most of what a single payment costs it, and here thousands are alike.
 */
export function withPreparedStatements(trx: Knex.Transaction): Knex.Transaction {
  const raw = (sql: string, bindings: Knex.RawBinding[]): Knex.Raw =>
    trx.raw(sql, bindings).options({ name: nameOf(sql) });
  return new Proxy(trx, { get: (target, name) => (name === 'raw' ? raw : Reflect.get(target, name)) });
}

/** A statement's name may have 63 characters, so its text is hashed. */
function nameOf(sql: string): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(sql).digest('hex').slice(0, 32);
  names.set(sql, name);
  return name;
}
