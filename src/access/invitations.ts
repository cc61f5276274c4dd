import type { z } from 'zod';

import { first, rows, updateRow, type Queryable } from '../lib/db.ts';
import { AppError, found, invalidState } from '../lib/errors.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import {
  auditOfKey,
  createKey,
  createOperatorKey,
  daysAfter,
  ensureRotatable,
  findKey,
  rotateKey,
  type CreatedKey,
  type InvitedKey,
} from './api-keys.ts';
import { recordAudit, type AuditContext } from './audit.ts';
import type { InvitationListQuery, PendingInvitation as PendingInvitationSchema } from './operator-schema.ts';
import { findOperator } from './operators.ts';
import { endMailedLinks } from './users/operator-invitation.ts';
import { createToken, useToken, type UserToken } from './users/tokens.ts';

const LISTED_MAX = 500;

/** An invitation. `token` is returned once; the table stores a hash of it. */
type Invitation = { invitationId: string; token: string; expiresAt: Date };

/**
 * Invites an operator to create a first key of their own; earlier invitations of theirs end. Throws NOT_FOUND, and
 * INVALID_STATE for an inactive operator.
 */
export async function inviteOperator(context: AuditContext, operatorId: string): Promise<Invitation> {
  const { trx } = context.tx;
  const { active } = await findOperator(trx, operatorId);
  if (!active) throw invalidState('This operator is inactive: no key is created.');
  const sql = `UPDATE user_token SET revoked_at = :at
               WHERE operator_id = :operatorId AND used_at IS NULL AND revoked_at IS NULL`;
  await rows(trx, sql, { operatorId, at: context.at });
  return invite(context, { operatorId });
}

/** Invites a merchant to create a key, or to rotate one. Throws NOT_FOUND, INVALID_STATE. */
export async function inviteMerchant(context: AuditContext, invited: { merchantId: string; key: InvitedKey }) {
  const { merchantId, key } = invited;
  if ('rotates' in key) ensureRotatable(await findKey(context.tx.trx, { id: key.rotates, merchantId }), context.at);
  return invite(context, invited);
}

async function invite(
  { tx, operatorId: createdBy, at }: AuditContext,
  invited: { operatorId: string } | { merchantId: string; key: InvitedKey },
): Promise<Invitation> {
  const { row, token } = await createToken(tx.trx, { purpose: 'key', ...invited, createdBy }, at);
  return { invitationId: row.id, token, expiresAt: row.expiresAt };
}

/** An invitation by an operator that can still be accepted: to create or rotate a key, or to own a merchant's portal. */
type PendingInvitation = Omit<
  z.input<typeof PendingInvitationSchema>,
  'operatorName' | 'merchantName' | 'createdByName'
>;

/** Of the portal's invitations those that operators made: a merchant's own people revoke theirs. */
const OF_OPERATORS = `(t.purpose = 'key' OR (t.purpose = 'invitation' AND left(t.created_by, 4) = 'opr_'))`;

/** The invitations that can be accepted, newest first, those for a merchant or an operator if one is given. */
export async function listInvitations(
  db: Queryable,
  query: z.output<typeof InvitationListQuery>,
  at: Date,
): Promise<PendingInvitation[]> {
  const sql = `
    SELECT t.id AS invitation_id, t.operator_id, t.merchant_id, coalesce(t.key->>'environment', k.environment) AS environment,
           CASE WHEN t.purpose = 'invitation' THEN 'owner' WHEN t.operator_id IS NOT NULL THEN 'operator-key'
                WHEN k.id IS NULL THEN 'key' ELSE 'rotation' END AS purpose,
           t.email, k.id AS key_id, t.created_by, t.created_at, t.expires_at
    FROM user_token t LEFT JOIN api_key k ON k.id = t.key->>'rotates'
    WHERE ${OF_OPERATORS} AND t.used_at IS NULL AND t.revoked_at IS NULL AND t.expires_at > :at
      AND (CAST(:merchantId AS text) IS NULL OR t.merchant_id = :merchantId)
      AND (CAST(:operatorId AS text) IS NULL OR t.operator_id = :operatorId)
    ORDER BY t.created_at DESC, t.id DESC LIMIT ${LISTED_MAX}`;
  const { merchantId = null, operatorId = null } = query;
  return rows<PendingInvitation>(db, sql, { merchantId, operatorId, at });
}

/**
 * Ends an invitation that was not accepted, of an operator with the link that was mailed; `ended`: this call has ended it.
 * Throws NOT_FOUND, INVALID_STATE.
 */
export async function revokeInvitation({ tx: { trx }, at }: AuditContext, id: string) {
  const sql = `SELECT * FROM user_token t WHERE t.id = :id AND ${OF_OPERATORS} FOR UPDATE`;
  const invitation = found(await first<UserToken>(trx, sql, { id }), 'invitation');
  const { purpose, merchantId, operatorId, usedAt, revokedAt } = invitation;
  if (usedAt) {
    const next = purpose === 'key' ? 'revoke the key that it created.' : 'an owner of the merchant removes members.';
    throw invalidState(`This invitation was accepted: ${next}`);
  }
  if (!revokedAt) {
    await updateRow(trx, { table: 'user_token', id }, { revokedAt: at });
    // Not again: a later invitation may have come with a link of its own.
    if (operatorId) await endMailedLinks(trx, await findOperator(trx, operatorId), at);
  }
  return { merchantId, revokedAt: revokedAt ?? at, ended: !revokedAt };
}

type KeyInvitation = { id: string; createdBy: string } & (
  | { operatorId: string; merchantId: null }
  | { operatorId: null; merchantId: string; key: InvitedKey }
);

/** Whose key it is. */
export type KeyHolder = 'merchant' | 'operator';

/**
 * Creates the key of an invitation of one of these holders, once. Throws AUTHENTICATION_REQUIRED, the same for a wrong, a
 * used, a revoked and an expired token, for that of another holder and for an inactive operator; INVALID_STATE where the key
 * to rotate has ended since.
 */
export async function acceptInvitation(
  tx: UnitOfWork,
  { pepper, holders }: { pepper: string; holders: readonly KeyHolder[] },
  { token, requestId, at }: { token: string; requestId: string; at: Date },
): Promise<CreatedKey> {
  const invitation = (await useToken(tx.trx, { purpose: 'key', token, at })) as KeyInvitation | null;
  const operator = invitation?.operatorId ? await findOperator(tx.trx, invitation.operatorId) : null;
  // The error undoes the token's use.
  if (!invitation || !holders.includes(operator ? 'operator' : 'merchant') || operator?.active === false) {
    const why = 'This invitation does not exist, was used, or has expired';
    throw new AppError('AUTHENTICATION_REQUIRED', `${why}: request another one from whoever sent it.`);
  }
  const deps = { trx: tx.trx, pepper, clock: () => at };
  const { id: invitationId, operatorId, createdBy } = invitation;
  const context = { tx, requestId, at, operatorId: operatorId ?? createdBy };
  if (operatorId !== null) {
    const created = await createOperatorKey(deps, { operatorId });
    const after = { invitationId, operatorId, expiresAt: created.key.expiresAt };
    await recordAudit(context, { ...auditOfKey(created.key), action: 'operator-key.create', after });
    return created;
  }
  const { merchantId, key: wanted } = invitation;
  const reason = 'The merchant accepted the invitation';
  if ('rotates' in wanted) {
    const { rotates: keyId, overlapHours } = wanted;
    const { old, ...created } = await rotateKey(deps, { keyId, overlapHours, createdBy });
    const after = { invitationId, rotatedTo: created.key.id, expiresAt: old.expiresAt };
    await recordAudit(context, { ...auditOfKey(old), action: 'key.rotate', after, reason });
    return created;
  }
  const { days, ...settings } = wanted;
  const expiresAt = days === undefined ? null : daysAfter(at, days);
  const created = await createKey(deps, { ...settings, merchantId, createdBy, expiresAt });
  const { kind, name, scopes, ipRanges } = settings;
  const after = { invitationId, kind, name, scopes, ipRanges, expiresAt };
  await recordAudit(context, { ...auditOfKey(created.key), action: 'key.create', after, reason });
  return created;
}
