import type { OperatorRole } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { recordAudit, type AuditContext } from './audit.ts';
import {
  changeOperator,
  createOperator,
  createOperatorKey,
  revokeOperatorKey,
  rotateOperatorKey,
  type Operator,
  type OperatorKey,
} from './operators.ts';
import { secretHoldersOf } from './separation-of-duties.ts';

/** Adds an operator. Throws DUPLICATE_REFERENCE. */
export async function addOperator(
  context: AuditContext,
  input: Pick<Operator, 'name' | 'email' | 'role'>,
): Promise<Operator> {
  const { name, email, role } = input;
  const operator = await createOperator(context.tx.trx, { name, email, role });
  await recordAudit(context, {
    action: 'operator.create',
    resourceType: 'operator',
    resourceId: operator.id,
    after: { name, email, role },
  });
  return operator;
}

/** Another role, or off and on. Throws NOT_FOUND, and INVALID_STATE where it would leave no admin. */
export async function changeOperatorRole(
  context: AuditContext,
  input: {
    operatorId: string;
    role?: OperatorRole | undefined;
    active?: boolean | undefined;
    reason?: string | undefined;
  },
): Promise<Operator> {
  const { before, after } = await changeOperator(context.tx.trx, input.operatorId, input);
  if (before.role === after.role && before.active === after.active) return after;
  await recordAudit(context, {
    action: 'operator.change',
    resourceType: 'operator',
    resourceId: after.id,
    before: { role: before.role, active: before.active },
    after: { role: after.role, active: after.active },
    reason: input.reason,
  });
  return after;
}

/** Makes a key for an operator. Throws NOT_FOUND, INVALID_STATE. */
export async function createOperatorKeyFor(
  context: AuditContext,
  input: { operatorId: string; name?: string | undefined; days?: number | undefined },
  { pepper, clock }: { pepper: string; clock: Clock },
): Promise<{ key: OperatorKey; secret: string }> {
  const { trx } = context.tx;
  const secretHolders = await secretHoldersOf(trx, context);
  const made = await createOperatorKey({ trx, pepper, clock }, { ...input, secretHolders });
  const { id, operatorId, name, expiresAt } = made.key;
  const about = { resourceType: 'operatorKey', resourceId: id } as const;
  await recordAudit(context, { action: 'operator-key.create', ...about, after: { operatorId, name, expiresAt } });
  return made;
}

/** Makes an operator's next key, and ends the one before after a while. Throws NOT_FOUND, INVALID_STATE. */
export async function rotateKeyOf(
  context: AuditContext,
  input: { operatorId: string; keyId: string; overlapHours?: number | undefined; days?: number | undefined },
  { pepper, clock }: { pepper: string; clock: Clock },
): Promise<{ key: OperatorKey; secret: string }> {
  const { trx } = context.tx;
  const secretHolders = await secretHoldersOf(trx, context);
  const { key, secret, old } = await rotateOperatorKey({ trx, pepper, clock }, { ...input, secretHolders });
  await recordAudit(context, {
    action: 'operator-key.rotate',
    resourceType: 'operatorKey',
    resourceId: old.id,
    after: { operatorId: old.operatorId, rotatedTo: key.id, expiresAt: old.expiresAt },
  });
  return { key, secret };
}

/** Ends an operator's key; twice is no error, and noted once. Throws NOT_FOUND. */
export async function revokeKeyOf(
  context: AuditContext,
  input: { operatorId: string; keyId: string; reason: string },
): Promise<OperatorKey> {
  const { operatorId, keyId, reason } = input;
  const { key, ended } = await revokeOperatorKey(context.tx.trx, { operatorId, keyId, at: context.at });
  if (!ended) return key;
  const about = { resourceType: 'operatorKey', resourceId: keyId } as const;
  await recordAudit(context, {
    action: 'operator-key.revoke',
    ...about,
    after: { operatorId, revokedAt: key.revokedAt },
    reason,
  });
  return key;
}
