import { randomBytes } from 'node:crypto';

import { first, insertRow, rows, updateRow } from '../lib/db.ts';
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
import { findOperator } from './operators.ts';

/** How long an invitation can be accepted. */
export const INVITATION_DAYS = 3;
const TOKEN_BYTES = 32;

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

/** Ends an invitation that was not accepted; `ended`: this call has ended it. Throws NOT_FOUND, INVALID_STATE. */
export async function revokeInvitation({ tx: { trx }, at }: AuditContext, id: string) {
  type Row = { merchantId: string | null; usedAt: Date | null; revokedAt: Date | null };
  const row = found(await first<Row>(trx, 'SELECT * FROM invitation WHERE id = :id FOR UPDATE', { id }), 'invitation');
  if (row.usedAt) throw invalidState('This invitation was accepted: revoke the key that it created.');
  if (!row.revokedAt) await updateRow(trx, { table: 'invitation', id }, { revokedAt: at });
  return { merchantId: row.merchantId, revokedAt: row.revokedAt ?? at, ended: !row.revokedAt };
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
