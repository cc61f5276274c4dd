import { randomBytes } from 'node:crypto';

import type { z } from 'zod';

import { first, insertRow, rows, updateRow, type Queryable } from '../lib/db.ts';
import { AppError, found, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import {
  auditOfKey,
  createKey,
  createOperatorKey,
  daysAfter,
  ensureRotatable,
  findKey,
  rotateKey,
  type ApiKey,
  type CreatedKey,
} from './api-keys.ts';
import { recordAudit, type AuditContext } from './audit.ts';
import { hashKey } from './key-format.ts';
import type { InvitationListQuery, PendingInvitation as PendingInvitationSchema } from './operator-schema.ts';
import { findOperator } from './operators.ts';
import { endMailedLinks } from './users/operator-invitation.ts';

export const INVITATION_DAYS = 3;
const TOKEN_BYTES = 32;
const LISTED_MAX = 500;

/** A merchant's key to create, which expires `days` after its creation, or never; or one to rotate. */
export type InvitedKey =
  | (Pick<ApiKey, 'environment' | 'kind' | 'name' | 'scopes' | 'ipRanges'> & { days?: number | undefined })
  | { rotates: string; overlapHours?: number | undefined };

/** An invitation. `token` is returned once; the table stores a hash of it. */
export type Invitation = { invitationId: string; token: string; expiresAt: Date };

/**
 * Invites an operator to create a first key of their own; earlier invitations of theirs end. Throws NOT_FOUND, and
 * INVALID_STATE for an inactive operator.
 */
export async function inviteOperator(context: AuditContext, pepper: string, operatorId: string): Promise<Invitation> {
  const { trx } = context.tx;
  const { active } = await findOperator(trx, operatorId);
  if (!active) throw invalidState('This operator is inactive: no key is created.');
  const sql = `UPDATE invitation SET revoked_at = :at
               WHERE operator_id = :operatorId AND used_at IS NULL AND revoked_at IS NULL`;
  await rows(trx, sql, { operatorId, at: context.at });
  return invite(context, pepper, { operatorId, key: {} });
}

/** Invites a merchant to create a key, or to rotate one. Throws NOT_FOUND, INVALID_STATE. */
export async function inviteMerchant(
  context: AuditContext,
  pepper: string,
  { merchantId, key }: { merchantId: string; key: InvitedKey },
): Promise<Invitation> {
  if ('rotates' in key) ensureRotatable(await findKey(context.tx.trx, { id: key.rotates, merchantId }), context.at);
  return invite(context, pepper, { merchantId, key });
}

/** An invitation by an operator that can still be accepted: to create or rotate a key, or to own a merchant's portal. */
type PendingInvitation = Omit<
  z.input<typeof PendingInvitationSchema>,
  'operatorName' | 'merchantName' | 'createdByName'
>;

const PENDING = 'used_at IS NULL AND revoked_at IS NULL AND expires_at > :at';
/** Of the portal's invitations those that operators made: a merchant's own people revoke theirs. */
const OF_OWNERS = `purpose = 'invitation' AND left(created_by, 4) = 'opr_'`;

/** The invitations that can be accepted, newest first, those for a merchant or an operator if one is given. */
export async function listInvitations(
  db: Queryable,
  query: z.output<typeof InvitationListQuery>,
  at: Date,
): Promise<PendingInvitation[]> {
  const sql = `
    SELECT * FROM (
      SELECT i.id AS invitation_id, CASE WHEN i.operator_id IS NOT NULL THEN 'operator-key' WHEN k.id IS NULL THEN 'key' ELSE 'rotation' END
               AS purpose, i.operator_id, i.merchant_id, coalesce(i.key->>'environment', k.environment) AS environment,
             NULL AS email, k.id AS key_id, i.created_by, i.created_at, i.expires_at
      FROM (SELECT * FROM invitation WHERE ${PENDING}) i LEFT JOIN api_key k ON k.id = i.key->>'rotates'
      UNION ALL
      SELECT id, 'owner', NULL, merchant_id, NULL, email, NULL, created_by, created_at, expires_at
      FROM user_token WHERE ${OF_OWNERS} AND ${PENDING}
    ) each
    WHERE (CAST(:merchantId AS text) IS NULL OR merchant_id = :merchantId)
      AND (CAST(:operatorId AS text) IS NULL OR operator_id = :operatorId)
    ORDER BY created_at DESC, invitation_id DESC LIMIT ${LISTED_MAX}`;
  const { merchantId = null, operatorId = null } = query;
  return rows<PendingInvitation>(db, sql, { merchantId, operatorId, at });
}

/**
 * Ends an invitation that was not accepted, of an operator with the link that was mailed; `ended`: this call has ended it.
 * Throws NOT_FOUND, INVALID_STATE.
 */
export async function revokeInvitation({ tx: { trx }, at }: AuditContext, id: string) {
  type Row = { merchantId: string | null; operatorId?: string | null; usedAt: Date | null; revokedAt: Date | null };
  const isOfOwner = id.startsWith('utk_');
  const [table, where] = isOfOwner ? ['user_token', `id = :id AND ${OF_OWNERS}`] : ['invitation', 'id = :id'];
  const sql = `SELECT * FROM ${table} WHERE ${where} FOR UPDATE`;
  const { merchantId, operatorId, usedAt, revokedAt } = found(await first<Row>(trx, sql, { id }), 'invitation');
  if (usedAt) {
    const next = isOfOwner ? 'an owner of the merchant removes members.' : 'revoke the key that it created.';
    throw invalidState(`This invitation was accepted: ${next}`);
  }
  if (!revokedAt) {
    await updateRow(trx, { table, id }, { revokedAt: at });
    // Not again: a later invitation may have come with a link of its own.
    if (operatorId) await endMailedLinks(trx, await findOperator(trx, operatorId), at);
  }
  return { merchantId, revokedAt: revokedAt ?? at, ended: !revokedAt };
}

async function invite(
  { tx, operatorId: createdBy, at }: AuditContext,
  pepper: string,
  { key, ...invited }: ({ operatorId: string } | { merchantId: string }) & { key: InvitedKey | object },
): Promise<Invitation> {
  const id = newId('inv', at.getTime());
  const token = `invite_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  const expiresAt = daysAfter(at, INVITATION_DAYS);
  const stored = { ...invited, id, key, tokenHash: hashKey(pepper, token), createdBy, expiresAt };
  await insertRow(tx.trx, 'invitation', stored);
  return { invitationId: id, token, expiresAt };
}

/** The current one first. */
export type Peppers = readonly [string, ...string[]];

type InvitationRow = { id: string; createdBy: string } & (
  | { operatorId: string; merchantId: null }
  | { operatorId: null; merchantId: string; key: InvitedKey }
);

/**
 * Creates the key of an invitation, once. Throws AUTHENTICATION_REQUIRED, the same for a wrong, a used, a revoked and an
 * expired token and for an inactive operator; INVALID_STATE where the key to rotate has ended since.
 */
export async function acceptInvitation(
  tx: UnitOfWork,
  peppers: Peppers,
  { token, requestId, at }: { token: string; requestId: string; at: Date },
): Promise<CreatedKey> {
  const invitation = await first<InvitationRow>(
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
