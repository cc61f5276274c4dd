import type { MemberRole } from '../../http/people.ts';
import type { UserCaller } from '../../http/route.ts';
import { first, rows, updateRow, type Queryable, type Trx } from '../../lib/db.ts';
import { AppError, found, invalidState } from '../../lib/errors.ts';
import { lock } from '../../lib/lock.ts';
import { discardCollected } from '../../outbox/mail.ts';
import { ensurePermission } from './identify.ts';
import { permissionsOf, rolesWith } from './roles.ts';
import { createToken, type UserToken } from './tokens.ts';

export type Member = {
  userId: string;
  name: string;
  email: string;
  role: MemberRole;
  twoFactor: boolean;
  lastUsedAt: Date | null;
  createdAt: Date;
};

const MEMBERS = `
  SELECT m.user_id, u.name, u.email, m.role, u.totp_enabled_at IS NOT NULL AS two_factor, m.created_at,
         (SELECT max(s.last_used_at) FROM user_session s WHERE s.user_id = m.user_id AND s.merchant_id = m.merchant_id)
           AS last_used_at
  FROM membership m JOIN user_account u ON u.id = m.user_id
  WHERE m.merchant_id = :merchantId AND m.removed_at IS NULL`;

/** The members of a merchant by name. */
export async function listMembers(db: Queryable, merchantId: string): Promise<Member[]> {
  return rows<Member>(db, `${MEMBERS} ORDER BY u.name, m.user_id`, { merchantId });
}

/** The members who may confirm what this person, or key, has requested: those with the permission, but for the requester. */
export async function listConfirmers(
  db: Queryable,
  { merchantId, requestedBy }: { merchantId: string; requestedBy: string },
  permission: Parameters<typeof rolesWith>[0],
): Promise<string[]> {
  const roles = rolesWith(permission);
  const members = await listMembers(db, merchantId);
  const others = members.filter(({ userId, role }) => userId !== requestedBy && roles.includes(role));
  return others.map(({ userId }) => userId);
}

const PENDING = `purpose = 'invitation' AND merchant_id = :merchantId AND used_at IS NULL AND revoked_at IS NULL AND expires_at > :at`;

/** The invitations to a merchant that can be accepted, newest first. */
export async function listInvitations(db: Queryable, merchantId: string, at: Date): Promise<UserToken[]> {
  const sql = `SELECT * FROM user_token WHERE ${PENDING} ORDER BY created_at DESC, id DESC`;
  return rows<UserToken>(db, sql, { merchantId, at });
}

type Change = { caller: UserCaller; at: Date };

type Invitee = { email: string; role: MemberRole };

/** Invites an address to the caller's merchant as {@link invite}. Throws INSUFFICIENT_SCOPE where only owners may. */
export async function inviteMember(trx: Trx, { caller, at }: Change, invitee: Invitee) {
  ensureMayGive(caller, invitee.role);
  return invite(trx, { merchantId: caller.merchantId, createdBy: caller.userId, at }, invitee);
}

/** Invites an address to a merchant; its earlier invitations end. Throws DUPLICATE_REFERENCE for a member. */
export async function invite(
  trx: Trx,
  { merchantId, createdBy, at }: { merchantId: string; createdBy: string; at: Date },
  { email, role }: Invitee,
): Promise<{ row: UserToken; token: string }> {
  await lock(trx, 'team', merchantId);
  const members = await listMembers(trx, merchantId);
  if (members.some((member) => member.email.toLowerCase() === email.toLowerCase())) {
    throw new AppError('DUPLICATE_REFERENCE', 'email is that of a member already.');
  }
  const sql = `UPDATE user_token SET revoked_at = :at WHERE ${PENDING} AND lower(email) = lower(:email)`;
  await rows(trx, sql, { merchantId, email, at });
  return createToken(trx, { purpose: 'invitation', email, merchantId, role, createdBy }, at);
}

/** Ends an invitation that was not accepted. Throws NOT_FOUND. */
export async function revokeMemberInvitation(trx: Trx, { caller, at }: Change, id: string): Promise<UserToken> {
  const sql = `UPDATE user_token SET revoked_at = :at WHERE ${PENDING} AND id = :id RETURNING *`;
  return found(await first<UserToken>(trx, sql, { merchantId: caller.merchantId, id, at }), 'invitation');
}

/**
 * Changes the role of a member of the caller's merchant, or removes the member (null), whose invitations end; applies to
 * the next request. The last owner stays. Throws NOT_FOUND, INSUFFICIENT_SCOPE, INVALID_STATE.
 */
export async function changeMember(
  trx: Trx,
  { caller, at }: Change,
  { userId, role }: { userId: string; role: MemberRole | null },
): Promise<{ before: Member; after: Member }> {
  const { merchantId } = caller;
  await lock(trx, 'team', merchantId);
  const members = await listMembers(trx, merchantId);
  const before = found(
    members.find((member) => member.userId === userId),
    'member',
  );
  ensureMayGive(caller, before.role);
  if (role !== null) ensureMayGive(caller, role);
  const owners = members.filter((member) => member.role === 'owner');
  if (role !== 'owner' && owners.every((owner) => owner.userId === userId)) {
    throw invalidState('This is the last owner: make somebody else an owner first.');
  }
  const changes = role === null ? { removedAt: at, updatedAt: at } : { role, updatedAt: at };
  await updateRow(trx, { table: 'membership', userId, merchantId }, changes);
  const permissions = role === null ? [] : permissionsOf(role);
  await discardCollected(trx, { merchantId, email: before.email, permissions });
  if (role === null) {
    const sql = `UPDATE user_token SET revoked_at = :at WHERE ${PENDING} AND created_by = :userId`;
    await rows(trx, sql, { merchantId, userId, at });
  }
  return { before, after: { ...before, role: role ?? before.role } };
}

/** Only owners make and change owners. */
function ensureMayGive(caller: UserCaller, role: MemberRole): void {
  if (role === 'owner') ensurePermission(caller, 'owners:write');
}
