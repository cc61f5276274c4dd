import { z } from 'zod';

import { operatorRoute } from '../access/operator-route.ts';
import { MerchantParams } from '../access/operator-schema.ts';
import { findOperator } from '../access/operators.ts';
import {
  changeMember,
  invite,
  inviteMember,
  listInvitations,
  listMembers,
  revokeMemberInvitation,
} from '../access/users/team.ts';
import type { UserToken } from '../access/users/tokens.ts';
import { findUser } from '../access/users/users.ts';
import { changedFields } from '../http/audit.ts';
import type { Language } from '../http/language.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { KeyRing } from '../lib/crypto.ts';
import type { Database, Trx } from '../lib/db.ts';
import { invalidState } from '../lib/errors.ts';
import { readMerchant } from '../merchants/operations.ts';
import { Member } from '../merchants/schema.ts';
import { enqueueMail, notifyMembers } from '../outbox/mail.ts';
import { invitationMail } from './mails.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; keyRing: KeyRing; portalUrl: string };

const READ = { tag: 'Portal', auth: { by: 'member', permission: 'team:read' } } as const;
/** A role counts in both environments, so each change needs a code. */
const WRITE = { tag: 'Portal', auth: { by: 'member', permission: 'team:write' }, stepUp: 'always' } as const;

/** In the audit log. */
const EVERYWHERE = { environment: null };

/** The members of a merchant and the invitations to it. */
export function teamRoutes({ db, keyRing, portalUrl }: Deps): Route[] {
  const one = { ...WRITE, params: schema.MemberParams, errors: ['INVALID_STATE'] } as const;
  return [
    readRoute('GET /api/portal/team', {
      ...READ,
      operationId: 'listTeam',
      summary: 'The members of your merchant, and the invitations that were not accepted yet',
      responses: { 200: schema.Team },
      handle: async ({ caller: { merchantId }, at }) => {
        const members = await listMembers(db, merchantId);
        const invitations = await listInvitations(db, merchantId, at);
        return { message: 'Team retrieved', data: { members, invitations: invitations.map(presentInvitation) } };
      },
    }),
    writeRoute('POST /api/portal/team/invitations', {
      ...WRITE,
      operationId: 'inviteMember',
      audit: 'member.invite',
      summary: 'Invite somebody by mail; the link works once, for 3 days',
      description: 'Only owners invite owners. Earlier invitations of the address end.',
      body: schema.NewMember,
      responses: { 201: schema.MemberInvitation },
      errors: ['DUPLICATE_REFERENCE'],
      handle: async ({ tx: { trx }, caller, body, at }) => {
        const { row, token } = await inviteMember(trx, { caller, at }, body);
        const inviter = await findUser(trx, caller.userId);
        await mailInvitation(trx, { keyRing, portalUrl }, { row, token, inviter });
        const audit = { ...EVERYWHERE, resourceId: row.id, after: body };
        return { status: 201, message: 'Invitation sent', data: presentInvitation(row), audit };
      },
    }),
    writeRoute('POST /api/portal/team/invitations/:invitationId/revoke', {
      ...WRITE,
      operationId: 'revokeMemberInvitation',
      audit: 'member.revoke-invitation',
      summary: 'Revoke an invitation that was not accepted',
      params: schema.InvitationParams,
      responses: { 200: z.null() },
      handle: async ({ tx: { trx }, caller, params, at }) => {
        const { email, role } = await revokeMemberInvitation(trx, { caller, at }, params.invitationId);
        return { message: 'Invitation revoked', data: null, audit: { ...EVERYWHERE, before: { email, role } } };
      },
    }),
    writeRoute('PATCH /api/portal/team/:userId', {
      ...one,
      operationId: 'changeMember',
      audit: 'member.change-role',
      summary: 'Change the role of a member, from the next request on',
      description: 'Only owners make and change owners; the last owner stays one.',
      body: schema.MemberChange,
      responses: { 200: Member },
      handle: async ({ tx: { trx }, caller, params, body, at }) => {
        const { before, after } = await changeMember(trx, { caller, at }, { ...params, ...body });
        const changed = changedFields(before, after);
        return { message: 'Role changed', data: after, audit: changed && { ...EVERYWHERE, ...changed } };
      },
    }),
    writeRoute('DELETE /api/portal/team/:userId', {
      ...one,
      operationId: 'removeMember',
      audit: 'member.remove',
      summary: 'Remove a member, from the next request on',
      responses: { 200: z.null() },
      handle: async ({ tx: { trx }, caller, params, at }) => {
        const { email, role } = (await changeMember(trx, { caller, at }, { ...params, role: null })).before;
        return { message: 'Member removed', data: null, audit: { ...EVERYWHERE, before: { email, role } } };
      },
    }),
  ];
}

type Sent = { row: UserToken; token: string; inviter: { name: string; language: Language } };

async function mailInvitation(
  trx: Trx,
  { keyRing, portalUrl }: Pick<Deps, 'keyRing' | 'portalUrl'>,
  { row: { email, merchantId, role }, token, inviter }: Sent,
): Promise<void> {
  if (email === null || merchantId === null || role === null) throw new Error('not an invitation of a member');
  const { name: merchantName } = await readMerchant(trx, merchantId);
  const link = `${portalUrl}/invitation?${new URLSearchParams({ token }).toString()}`;
  const about = { merchantName, inviterName: inviter.name, role, link };
  await enqueueMail(trx, keyRing, { recipient: email, ...invitationMail(inviter.language, about) });
}

/**
 * How a merchant that an operator created gets its first owner, and one whose owners are locked out another: one operator
 * alone must not give access to live money, nor to a merchant that is an owner's.
 */
export function ownerInvitationRoutes({ keyRing, portalUrl }: Omit<Deps, 'db'>): Route[] {
  return [
    operatorRoute('POST /api/ops/merchants/:merchantId/owner-invitations', {
      operationId: 'opsInviteOwner',
      cli: 'merchants invite-owner',
      summary: "Invite somebody to a merchant's portal as an owner, by mail; the link works once, for 3 days",
      description:
        'Earlier invitations of the address to this merchant end. Its owners get a mail. Two operators are needed once the merchant is verified or has an owner.',
      action: 'merchant.invite-owner',
      params: MerchantParams,
      body: schema.NewOwner,
      responses: { 201: schema.MemberInvitation },
      errors: ['DUPLICATE_REFERENCE', 'INVALID_STATE'],
      secondPerson: async ({ tx: { trx } }, { params: { merchantId } }) => {
        const { kycStatus } = await readMerchant(trx, merchantId);
        const members = await listMembers(trx, merchantId);
        return kycStatus === 'APPROVED' || members.some(({ role }) => role === 'owner');
      },
      run: async ({ tx, operatorId, proposedBy = operatorId, at }, { params: { merchantId }, body: { email } }) => {
        const { trx } = tx;
        if (portalUrl === '') throw invalidState('There is no portal: PORTAL_URL is not set.');
        const sender = { merchantId, createdBy: proposedBy, at };
        const { row, token } = await invite(trx, sender, { email, role: 'owner' });
        const { name } = await findOperator(trx, proposedBy);
        await mailInvitation(trx, { keyRing, portalUrl }, { row, token, inviter: { name, language: 'en' } });
        // A role counts in both environments; notices of the sandbox are marked as tests.
        const everywhere = { merchantId, environment: 'live' } as const;
        await notifyMembers(tx, everywhere, { kind: 'owner.invited', roles: ['owner'], email });
        const audit = { resourceType: 'merchant', resourceId: merchantId, merchantId, after: { email } } as const;
        return { status: 201, message: 'Invitation sent', data: presentInvitation(row), audit };
      },
    }),
  ];
}

function presentInvitation({ id, email, role, createdBy, createdAt, expiresAt }: UserToken) {
  return { invitationId: id, email, role, createdBy, createdAt, expiresAt };
}
