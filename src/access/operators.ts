import type { OperatorRole } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../lib/dates.ts';
import { isUniqueViolation, type Queryable, rows, type Trx } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { lock } from '../lib/lock.ts';
import { ROTATION_OVERLAP_HOURS } from './api-keys.ts';
import { hashKey, lastFourOf, generateKey, pepperId, prefixOf, maskKey } from './key-format.ts';

/** A row of `operator`: one of the platform's own staff. */
export type Operator = {
  id: string;
  name: string;
  email: string;
  role: OperatorRole;
  active: boolean;
  createdAt: Date;
};

/** A row of `operator_key` without its hash; `key` is its masked text. */
export type OperatorKey = {
  id: string;
  operatorId: string;
  name: string;
  key: string;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  createdAt: Date;
};

/** The lifetime of an operator's key. */
export const OPERATOR_KEY_DAYS = { default: 90, max: 365 } as const;

const OPERATOR_COLUMNS = 'id, name, email, role, active, created_at';

/** Creates an operator. Throws DUPLICATE_REFERENCE if another operator has the e-mail address. */
export async function createOperator(
  trx: Trx,
  input: Pick<Operator, 'name' | 'email' | 'role'> & { id?: string },
): Promise<Operator> {
  const { id = newId('opr'), name, email, role } = input;
  const [there] = await rows<{ id: string }>(trx, 'SELECT id FROM operator WHERE lower(email) = lower(:email)', {
    email,
  });
  if (there) throw emailTaken(there.id);
  const sql = `INSERT INTO operator (id, name, email, role) VALUES (:id, :name, :email, :role) RETURNING ${OPERATOR_COLUMNS}`;
  try {
    const [created] = await rows<Operator>(trx, sql, { id, name, email, role });
    if (!created) throw new Error('creating an operator returned no row');
    return created;
  } catch (error) {
    throw isUniqueViolation(error) ? emailTaken() : error;
  }
}

function emailTaken(operatorId?: string): AppError {
  return new AppError('DUPLICATE_REFERENCE', 'email must differ from that of another operator.', {
    details: [{ field: 'email', issue: 'must differ from that of another operator' }],
    ...(operatorId !== undefined && { existing: { operatorId } }),
  });
}

/** One operator. Throws NOT_FOUND. */
export async function findOperator(db: Queryable, operatorId: string): Promise<Operator> {
  const sql = `SELECT ${OPERATOR_COLUMNS} FROM operator WHERE id = :operatorId`;
  const [operator] = await rows<Operator>(db, sql, { operatorId });
  if (!operator) throw notFound('operator');
  return operator;
}

/** Whether an active admin can invite other operators. */
export async function hasActiveAdmin(db: Queryable): Promise<boolean> {
  return (await rows(db, `SELECT 1 FROM operator WHERE role = 'admin' AND active LIMIT 1`)).length > 0;
}

/** All operators, newest first. */
export async function listOperators(db: Queryable): Promise<Operator[]> {
  return rows<Operator>(db, `SELECT ${OPERATOR_COLUMNS} FROM operator ORDER BY created_at DESC, id DESC`);
}

/**
 * Changes a role, or deactivates and reactivates an operator; applies to their keys within 5 s. The last active admin
 * cannot be changed.
 * Throws NOT_FOUND, INVALID_STATE.
 */
export async function changeOperator(
  trx: Trx,
  operatorId: string,
  changes: { role?: OperatorRole | undefined; active?: boolean | undefined },
): Promise<{ before: Operator; after: Operator }> {
  // Changes are serialized: of two admins who deactivate each other, one stays.
  await lock(trx, 'operators', 'all');
  const before = await findOperator(trx, operatorId);
  const [after] = await rows<Operator>(
    trx,
    `UPDATE operator SET role = :role, active = :active, updated_at = now() WHERE id = :operatorId
     RETURNING ${OPERATOR_COLUMNS}`,
    { operatorId, role: changes.role ?? before.role, active: changes.active ?? before.active },
  );
  const [admins] = await rows<{ left: number }>(
    trx,
    `SELECT count(*)::int AS left FROM operator WHERE role = 'admin' AND active`,
  );
  if (admins?.left === 0)
    throw new AppError('INVALID_STATE', 'This is the last active admin: create another one first.');
  return { before, after: after ?? before };
}

export type OperatorKeyDeps = { trx: Trx; pepper: string; clock: Clock };

/** A key to create. */
export type NewOperatorKey = {
  operatorId: string;
  name?: string | undefined;
  days?: number | undefined;
};

/** Creates an operator's key; `secret` is its text, of which the table stores a hash. Throws NOT_FOUND, INVALID_STATE. */
export async function createOperatorKey(
  { trx, pepper, clock }: OperatorKeyDeps,
  input: NewOperatorKey,
): Promise<{ key: OperatorKey; secret: string }> {
  const operator = await findOperator(trx, input.operatorId);
  if (!operator.active) throw new AppError('INVALID_STATE', 'This operator is inactive: no key is created.');
  const now = clock();
  const id = newId('opk', now.getTime());
  const secret = generateKey({ id, kind: 'operator' });
  const expiresAt = new Date(now.getTime() + (input.days ?? OPERATOR_KEY_DAYS.default) * DAY_MS);
  const [row] = await rows<KeyRow>(
    trx,
    `INSERT INTO operator_key (id, operator_id, name, prefix, last_four, secret_hash, pepper_id, expires_at, created_at)
     VALUES (:id, :operatorId, :name, :prefix, :lastFour, :secretHash, :pepperId, :expiresAt, :now)
     RETURNING ${KEY_COLUMNS}`,
    {
      id,
      operatorId: operator.id,
      name: input.name ?? '',
      prefix: prefixOf(secret),
      lastFour: lastFourOf(secret),
      secretHash: hashKey(pepper, secret),
      pepperId: pepperId(pepper),
      expiresAt,
      now,
    },
  );
  if (!row) throw new Error('creating a key returned no row');
  return { key: present(row), secret };
}

/**
 * Creates another key for the same operator; the old one stays valid for `overlapHours` (0–168, 24 unless given), or
 * until its own expiry if that is sooner. Throws NOT_FOUND, and INVALID_STATE for a key that has ended or an inactive
 * operator.
 */
export async function rotateOperatorKey(
  deps: OperatorKeyDeps,
  input: Omit<NewOperatorKey, 'name'> & { keyId: string; overlapHours?: number | undefined },
): Promise<{ key: OperatorKey; secret: string; old: OperatorKey }> {
  const { trx, clock } = deps;
  const { operatorId, keyId, overlapHours = ROTATION_OVERLAP_HOURS.default, ...next } = input;
  const now = clock();
  const [old] = await rows<KeyRow>(
    trx,
    `UPDATE operator_key SET expires_at = least(expires_at, CAST(:overlapEnd AS timestamptz))
     WHERE id = :keyId AND operator_id = :operatorId AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
     RETURNING ${KEY_COLUMNS}`,
    { keyId, operatorId, now, overlapEnd: new Date(now.getTime() + overlapHours * HOUR_MS) },
  );
  if (old) return { ...(await createOperatorKey(deps, { ...next, operatorId, name: old.name })), old: present(old) };
  if (!(await listOperatorKeys(trx, operatorId)).some(({ id }) => id === keyId)) throw notFound('key');
  throw new AppError('INVALID_STATE', `The key ${keyId} has ended. Create a new key.`);
}

/** An operator's keys, expired and revoked ones too, newest first. */
export async function listOperatorKeys(db: Queryable, operatorId: string): Promise<OperatorKey[]> {
  const sql = `SELECT ${KEY_COLUMNS} FROM operator_key WHERE operator_id = :operatorId ORDER BY created_at DESC, id DESC`;
  return (await rows<KeyRow>(db, sql, { operatorId })).map(present);
}

/** Revokes a key; all processes reject it within 5 s. `ended`: this call has revoked it. Throws NOT_FOUND. */
export async function revokeOperatorKey(
  trx: Trx,
  input: { operatorId: string; keyId: string; at: Date },
): Promise<{ key: OperatorKey; ended: boolean }> {
  const ended = await rows(
    trx,
    `UPDATE operator_key SET revoked_at = :at WHERE id = :keyId AND operator_id = :operatorId AND revoked_at IS NULL
     RETURNING 1`,
    input,
  );
  const key = (await listOperatorKeys(trx, input.operatorId)).find(({ id }) => id === input.keyId);
  if (!key) throw notFound('key');
  return { key, ended: ended.length > 0 };
}

const KEY_COLUMNS = 'id, operator_id, name, prefix, last_four, expires_at, revoked_at, last_used_at, created_at';

type KeyRow = Omit<OperatorKey, 'key'> & { prefix: string; lastFour: string };

function present({ prefix, lastFour, ...row }: KeyRow): OperatorKey {
  return { ...row, key: maskKey({ prefix, lastFour }) };
}
