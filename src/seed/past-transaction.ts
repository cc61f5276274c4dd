import { createHash } from 'node:crypto';

import type { Knex } from '../lib/db.ts';

/** Questions about the merchant's settings, which nobody changes while its past is being made. */
const SETTLED_QUESTION = /^\s*SELECT\b[^;]*?\bFROM (channel|webhook_subscription)\b/;

const names = new Map<string, string>();

/**
 * The same transaction for payments of one merchant, thousands of which are alike: PostgreSQL plans each raw statement once for a
 * connection, and each question about settings is asked once. Together that halves the time of making the past.
 */
export function forThePast(trx: Knex.Transaction): Knex.Transaction {
  const answers = new Map<string, Promise<unknown>>();
  const ask = (sql: string, bindings: Knex.RawBinding[]): Knex.Raw =>
    trx.raw(sql, bindings).options({ name: nameOf(sql) });
  const raw = (sql: string, bindings: Knex.RawBinding[]): PromiseLike<unknown> => {
    if (!SETTLED_QUESTION.test(sql)) return ask(sql, bindings);
    const known = answers.get(sql);
    if (known) return known;
    const answer = Promise.resolve(ask(sql, bindings));
    answers.set(sql, answer);
    return answer;
  };
  return new Proxy(trx, { get: (target, name) => (name === 'raw' ? raw : Reflect.get(target, name)) });
}

/** A prepared statement's name may have 63 characters, so its text is hashed. */
function nameOf(sql: string): string {
  const known = names.get(sql);
  if (known !== undefined) return known;
  const name = createHash('sha256').update(sql).digest('hex').slice(0, 32);
  names.set(sql, name);
  return name;
}
