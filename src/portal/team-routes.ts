import { z } from 'zod';

import {
  changeMember,
  inviteMember,
  listInvitations,
  listMembers,
  revokeMemberInvitation,
} from '../access/users/team.ts';
import type { UserToken } from '../access/users/tokens.ts';
import { findUser } from '../access/users/users.ts';
import { changedFields } from '../http/audit.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { KeyRing } from '../lib/crypto.ts';
import type { Database } from '../lib/db.ts';
import { readMerchant } from '../merchants/operations.ts';
import { Member } from '../merchants/schema.ts';
import { enqueueMail } from '../outbox/mail.ts';
import { invitationMail } from './mails.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; keyRing: KeyRing; portalUrl: string };

const READ = { tag: 'Portal', auth: { by: 'member', permission: 'team:read' } } as const;
/** A role counts in both environments, so each change needs a code. */
const WRITE = { tag: 'Portal', auth: { by: 'member', permission: 'team:write' }, stepUp: 'always' } as const;

/** In the audit log. */
const EVERYWHERE = { environment: null };

/** The members of a merchant and the invitations to it. */
export function teamRoutes(deps: Deps): Route[] {
  return [...invitationRoutes(deps), ...memberRoutes()];
}

function invitationRoutes({ db, keyRing, portalUrl }: Deps): Route[] {
  return [
    readRoute('GET /api/portal/team', {
      ...READ,
      operationId: 'listTeam',
      summary: 'The members of your merchant, and the invitations that were not accepted yet',
      responses: { 200: schema.Team },
      handle: async ({ caller: { merchantId }, at }) => {
        const [members, invitations] = await Promise.all([
          listMembers(db, merchantId),
          listInvitations(db, merchantId, at),
        ]);
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
        const [merchant, inviter] = await Promise.all([
          readMerchant(trx, caller.merchantId),
          findUser(trx, caller.userId),
        ]);
        const link = `${portalUrl}/invitation?${new URLSearchParams({ token }).toString()}`;
        const about = { merchantName: merchant.name, inviterName: inviter.name, role: body.role, link };
        await enqueueMail(trx, keyRing, { recipient: body.email, ...invitationMail(inviter.language, about) });
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
  ];
}

function memberRoutes(): Route[] {
  return [
    writeRoute('PATCH /api/portal/team/:userId', {
      ...WRITE,
      operationId: 'changeMember',
      audit: 'member.change-role',
      summary: 'Change the role of a member, from the next request on',
      description: 'Only owners make and change owners; the last owner stays one.',
      params: schema.MemberParams,
      body: schema.MemberChange,
      responses: { 200: Member },
      errors: ['INVALID_STATE'],
      handle: async ({ tx: { trx }, caller, params, body, at }) => {
        const { before, after } = await changeMember(trx, { caller, at }, { ...params, ...body });
        const changed = changedFields(before, after);
        return { message: 'Role changed', data: after, audit: changed && { ...EVERYWHERE, ...changed } };
      },
    }),
    writeRoute('DELETE /api/portal/team/:userId', {
      ...WRITE,
      operationId: 'removeMember',
      audit: 'member.remove',
      summary: 'Remove a member, from the next request on',
      params: schema.MemberParams,
      responses: { 200: z.null() },
      errors: ['INVALID_STATE'],
      handle: async ({ tx: { trx }, caller, params, at }) => {
        const { email, role } = (await changeMember(trx, { caller, at }, { ...params, role: null })).before;
        return { message: 'Member removed', data: null, audit: { ...EVERYWHERE, before: { email, role } } };
      },
    }),
  ];
}

function presentInvitation({ id, email, role, createdBy, createdAt, expiresAt }: UserToken) {
  return { invitationId: id, email, role, createdBy, createdAt, expiresAt };
}
