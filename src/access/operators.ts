import type { z } from 'zod';

import type { OperatorRole } from '../http/route.ts';
import { first, type Queryable, rows, type Trx, updateRow } from '../lib/db.ts';
import { AppError, found, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { lock } from '../lib/lock.ts';
import type { Operator as OperatorSchema } from './operator-schema.ts';
import { endOperatorSessions } from './users/sessions.ts';

/** A row of `operator`: one of the platform's own staff. */
export type Operator = Omit<z.output<typeof OperatorSchema>, 'operatorId' | 'createdAt'> & {
  id: string;
  createdAt: Date;
};

/** Creates an operator. Throws DUPLICATE_REFERENCE if another operator has the e-mail address. */
export async function createOperator(
  trx: Trx,
  { id = newId('opr'), name, email, role }: Pick<Operator, 'name' | 'email' | 'role'> & { id?: string },
): Promise<Operator> {
  const sql = `INSERT INTO operator (id, name, email, role) VALUES (:id, :name, :email, :role)
               ON CONFLICT (lower(email)) DO NOTHING RETURNING *`;
  const created = await first<Operator>(trx, sql, { id, name, email, role });
  if (created) return created;
  const taken = 'SELECT id AS operator_id FROM operator WHERE lower(email) = lower(:email)';
  const existing = await first<{ operatorId: string }>(trx, taken, { email });
  const issue = 'must differ from that of another operator';
  const details = [{ field: 'email', issue }];
  throw new AppError('DUPLICATE_REFERENCE', `email ${issue}.`, { details, ...(existing && { existing }) });
}

/** One operator. Throws NOT_FOUND. */
export async function findOperator(db: Queryable, operatorId: string): Promise<Operator> {
  return found(await first<Operator>(db, 'SELECT * FROM operator WHERE id = :operatorId', { operatorId }), 'operator');
}

/** The active operator with an e-mail address, in any case of letters. */
export async function findActiveOperator(db: Queryable, email: string): Promise<Operator | undefined> {
  return first<Operator>(db, 'SELECT * FROM operator WHERE lower(email) = lower(:email) AND active', { email });
}

/** Whether an active admin can invite other operators. */
async function hasActiveAdmin(db: Queryable): Promise<boolean> {
  return (await rows(db, `SELECT 1 FROM operator WHERE role = 'admin' AND active LIMIT 1`)).length > 0;
}

/** The active operators, oldest first. */
export async function listActiveOperators(db: Queryable): Promise<Operator[]> {
  return rows<Operator>(db, 'SELECT * FROM operator WHERE active ORDER BY created_at, id');
}

/** All operators, newest first. */
export async function listOperators(db: Queryable): Promise<Operator[]> {
  return rows<Operator>(db, 'SELECT * FROM operator ORDER BY created_at DESC, id DESC');
}

/**
 * Changes a role, or deactivates and reactivates an operator; applies to their keys within 5 s, and to their sessions at
 * once. The last active admin cannot be changed. Throws NOT_FOUND, INVALID_STATE.
 */
export async function changeOperator(
  trx: Trx,
  operatorId: string,
  { role, active }: { role?: OperatorRole | undefined; active?: boolean | undefined },
): Promise<{ before: Operator; after: Operator }> {
  // Changes are serialized: of two admins who deactivate each other, one stays.
  await lock(trx, 'operators', 'all');
  const before = await findOperator(trx, operatorId);
  const changes = { role: role ?? before.role, active: active ?? before.active, updatedAt: new Date() };
  await updateRow(trx, { table: 'operator', id: operatorId }, changes);
  if (!changes.active) await endOperatorSessions(trx, operatorId, changes.updatedAt);
  if (!(await hasActiveAdmin(trx))) {
    throw invalidState('This is the last active admin: create another one first.');
  }
  return { before, after: { ...before, ...changes } };
}

/** An operator as the operators' API presents one. */
export function presentOperator({ id, name, email, role, active, createdAt }: Operator) {
  return { operatorId: id, name, email, role, active, createdAt };
}
