import { randomBytes } from 'node:crypto';

import type { Clock } from '../lib/clock.ts';
import { DAY_MS } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { scopeOf, type Environment } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import {
  createKey,
  ensureRotatable,
  ensureUsable,
  rotateKey,
  type ApiKey,
  type KeyDeps,
  type NewKey,
} from './api-keys.ts';
import { recordAudit, type AuditContext } from './audit.ts';
import { hashKey } from './key-format.ts';
import { createOperatorKey, findOperator } from './operators.ts';

/** How long an invitation can be accepted. */
export const INVITATION_DAYS = 3;
const TOKEN_BYTES = 32;

/** A merchant's key to create; it expires `days` after its creation, or never. */
export type InvitedKey = Omit<NewKey, 'merchantId' | 'expiresAt' | 'createdBy'> & { days?: number | undefined };
/** A merchant's key to rotate. */
export type InvitedRotation = { rotates: string; overlapHours?: number | undefined };

type Invited = { operatorId: string } | { merchantId: string; key: InvitedKey | InvitedRotation };

/** An invitation. `token` is returned once; the table stores a hash of it. */
export type Invitation = { invitationId: string; token: string; expiresAt: string };

/**
 * Invites an operator to create a first key of their own; earlier invitations of theirs end. Throws NOT_FOUND, and
 * INVALID_STATE for an inactive operator.
 */
export async function inviteOperator(context: AuditContext, pepper: string, operatorId: string): Promise<Invitation> {
  const { trx } = context.tx;
  const { active } = await findOperator(trx, operatorId);
  if (!active) throw new AppError('INVALID_STATE', 'This operator is inactive: no key is created.');
  await rows(
    trx,
    `UPDATE invitation SET revoked_at = :at WHERE operator_id = :operatorId AND used_at IS NULL AND revoked_at IS NULL`,
    { operatorId, at: context.at },
  );
  return insert(context, pepper, { operatorId });
}

/** Invites a merchant to create a key, or to rotate one. Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR. */
export async function inviteMerchant(
  context: AuditContext,
  pepper: string,
  invited: { merchantId: string; key: InvitedKey | InvitedRotation },
): Promise<Invitation> {
  const { key, merchantId } = invited;
  if ('rotates' in key) await ensureRotatable(context.tx.trx, { ...key, merchantId, at: context.at });
  else ensureUsable(newKeyOf(key, { merchantId, at: context.at }), context.at);
  return insert(context, pepper, invited);
}

async function insert({ tx, operatorId: createdBy, at }: AuditContext, pepper: string, invited: Invited) {
  const id = newId('inv', at.getTime());
  const token = `invite_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const expiresAt = new Date(at.getTime() + INVITATION_DAYS * DAY_MS);
  const whose = 'operatorId' in invited ? { ...invited, merchantId: null, key: {} } : { ...invited, operatorId: null };
  await rows(
    tx.trx,
    `INSERT INTO invitation (id, operator_id, merchant_id, key, token_hash, created_by, expires_at)
     VALUES (:id, :operatorId, :merchantId, CAST(:key AS jsonb), :tokenHash, :createdBy, :expiresAt)`,
    { ...whose, id, key: JSON.stringify(whose.key), tokenHash: hashKey(pepper, token), createdBy, expiresAt },
  );
  return { invitationId: id, token, expiresAt: expiresAt.toISOString() };
}

function newKeyOf({ days, ...key }: InvitedKey, { merchantId, at }: { merchantId: string; at: Date }): NewKey {
  return { ...key, merchantId, expiresAt: days === undefined ? null : new Date(at.getTime() + days * DAY_MS) };
}

type InvitationRow = { id: string; createdBy: string } & (
  | { operatorId: string; merchantId: null }
  | { operatorId: null; merchantId: string; key: InvitedKey | InvitedRotation }
);
type AcceptDeps = { peppers: readonly [string, ...string[]]; clock: Clock };
/** The created key, of an operator or of a merchant. */
export type AcceptedInvitation = Pick<ApiKey, 'id' | 'expiresAt'> & { secret: string } & (
    | { operatorId: string; merchantId: null; environment: null }
    | { operatorId: null; merchantId: string; environment: Environment }
  );

/**
 * Creates the key of an invitation, once. Throws AUTHENTICATION_REQUIRED, the same for a wrong, a used, a revoked and an
 * expired token and for an inactive operator; INVALID_STATE where the key to rotate has ended since.
 */
export async function acceptInvitation(
  tx: UnitOfWork,
  { peppers, clock }: AcceptDeps,
  { token, requestId }: { token: string; requestId: string },
): Promise<AcceptedInvitation> {
  const at = clock();
  const [invitation] = await rows<InvitationRow>(
    tx.trx,
    `UPDATE invitation SET used_at = :at
     WHERE token_hash = ANY (:hashes) AND used_at IS NULL AND revoked_at IS NULL AND expires_at > :at
       AND (operator_id IS NULL OR EXISTS (SELECT 1 FROM operator WHERE id = operator_id AND active))
     RETURNING id, created_by, operator_id, merchant_id, key`,
    { at, hashes: peppers.map((pepper) => hashKey(pepper, token)) },
  );
  if (!invitation) {
    const why = 'This invitation does not exist, was used, or has expired';
    throw new AppError('AUTHENTICATION_REQUIRED', `${why}: request another one from whoever sent it.`);
  }
  const deps = { trx: tx.trx, pepper: peppers[0], clock: () => at };
  return invitation.operatorId === null
    ? createForMerchant({ tx, requestId, at }, deps, invitation)
    : createForOperator({ tx, requestId, at }, deps, invitation);
}

type Redeemed<Row> = Extract<InvitationRow, Row>;
type AcceptContext = Omit<AuditContext, 'operatorId'>;

async function createForOperator(
  context: AcceptContext,
  deps: KeyDeps,
  { id: invitationId, operatorId }: Redeemed<{ merchantId: null }>,
): Promise<AcceptedInvitation> {
  const { key, secret } = await createOperatorKey(deps, { operatorId });
  const { id, expiresAt } = key;
  const about = {
    resourceType: 'operatorKey',
    resourceId: id,
    after: { invitationId, operatorId, expiresAt },
  } as const;
  await recordAudit({ ...context, operatorId }, { ...about, action: 'operator-key.create' });
  return { id, expiresAt, secret, operatorId, merchantId: null, environment: null };
}

async function createForMerchant(
  context: AcceptContext,
  deps: KeyDeps,
  { id: invitationId, merchantId, createdBy, key: wanted }: Redeemed<{ operatorId: null }>,
): Promise<AcceptedInvitation> {
  const inviter = { ...context, operatorId: createdBy };
  const reason = 'The merchant accepted the invitation';
  if ('rotates' in wanted) {
    const { rotates: keyId, overlapHours } = wanted;
    const { key, secret, old } = await rotateKey(deps, { keyId, overlapHours, createdBy });
    const after = { invitationId, rotatedTo: key.id, expiresAt: old.expiresAt };
    await recordAudit(inviter, { ...aboutKey(old), action: 'key.rotate', after, reason });
    return acceptedKey(key, secret);
  }
  const input = newKeyOf(wanted, { merchantId, at: context.at });
  const { key, secret } = await createKey(deps, { ...input, createdBy });
  const { kind, name, scopes, ipRanges, expiresAt } = key;
  const after = { invitationId, kind, name, scopes, ipRanges, expiresAt };
  await recordAudit(inviter, { ...aboutKey(key), action: 'key.create', after, reason });
  return acceptedKey(key, secret);
}

function acceptedKey({ id, merchantId, environment, expiresAt }: ApiKey, secret: string): AcceptedInvitation {
  return { id, expiresAt, secret, operatorId: null, merchantId, environment };
}

/** A merchant's key in the audit log. */
export function aboutKey(key: ApiKey) {
  return { resourceType: 'key', resourceId: key.id, ...scopeOf(key) } as const;
}
