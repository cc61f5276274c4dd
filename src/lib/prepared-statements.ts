import { createHash } from 'node:crypto';

/** A statement with $1 … in place of the named parameters, which are listed in that order. */
export type Prepared = { name: string; text: string; parameters: string[] };

const statements = new Map<string, Prepared>();
/** A named parameter; comments and literals, in which a colon is a colon, are passed over. */
const PARAMETER = /--[^\n]*|'(?:[^']|'')*'|(?<![:\w]):([A-Za-z]\w*)/g;

/** The prepared statement of a text with `:named` parameters: the same for the same text. */
export function prepare(sql: string): Prepared {
  const known = statements.get(sql);
  if (known) return known;
  const parameters: string[] = [];
  const text = sql.replace(PARAMETER, (match, parameter?: string) =>
    parameter ? `$${parameters.push(parameter)}` : match,
  );
  const statement = { name: nameOf(text), text, parameters };
  statements.set(sql, statement);
  return statement;
}

/** Gives a statement a new name, so that connections prepare it again. */
export function rename(sql: string): Prepared {
  const statement = prepare(sql);
  const renamed = { ...statement, name: nameOf(`${statement.name} renewed`) };
  statements.set(sql, renamed);
  return renamed;
}

/** Of 32 characters; PostgreSQL allows 63. */
const nameOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);
