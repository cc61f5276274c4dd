import { isDeepStrictEqual } from 'node:util';

import { z } from 'zod';

import type { Route } from '../http/route.ts';
import type { KeyRing } from '../lib/crypto.ts';
import type { Database } from '../lib/db.ts';
import { listAudit, presentAudit } from './audit.ts';
import { inviteOperator, listInvitations, revokeInvitation } from './invitations.ts';
import { operatorKeyRoutes } from './key-routes.ts';
import { withNames } from './names.ts';
import { operatorListRoute, operatorReadRoute, operatorRoute } from './operator-route.ts';
import * as schema from './operator-schema.ts';
import {
  changeOperator,
  createOperator,
  findOperator,
  listOperators,
  presentOperator,
  type Operator,
} from './operators.ts';
import { accessOf, STEP_UP_ACTIONS } from './permissions.ts';
import { stepUpUntil } from './users/identify.ts';
import { mailOperator } from './users/operator-invitation.ts';
import { readSession } from './users/sessions.ts';
import { findUserByEmail } from './users/users.ts';

/** `consoleUrl`: null where operators have keys only. */
type Deps = { db: Database; pepper: string; keyRing: KeyRing; consoleUrl: string | null };

/** The operators, their keys, and the audit log. */
export function accessOperatorRoutes(deps: Deps): Route[] {
  return [
    meRoute(deps),
    ...operatorRoutes(deps),
    ...invitationRoutes(deps),
    ...operatorKeyRoutes(deps),
    auditRoute(deps),
  ];
}

function meRoute({ db }: Deps): Route {
  return operatorReadRoute('GET /api/ops/me', {
    operationId: 'opsGetMe',
    cli: 'operators whoami',
    summary: 'Who you are, what your role may do, and your session of the console',
    responses: { 200: schema.OperatorMe },
    handle: async ({ caller, at }) => {
      const { id: operatorId, name, email, role } = await findOperator(db, caller.operatorId);
      const { language = 'en', calendar = 'gregorian', clock = '24h' } = (await findUserByEmail(db, email)) ?? {};
      const row = 'sessionId' in caller ? await readSession(db, caller.sessionId, at) : null;
      const session = row && { ...row, sessionId: row.id, stepUpUntil: stepUpUntil(row, at) };
      const user = { name, email, language, calendar, clock };
      const data = { operatorId, role, user, ...accessOf(role), stepUp: STEP_UP_ACTIONS, session };
      return { message: 'Operator retrieved', data };
    },
  });
}

function auditRoute({ db }: Deps): Route {
  return operatorListRoute('GET /api/ops/audit', {
    operationId: 'opsListAudit',
    cli: { name: 'audit list', columns: 'at operatorName action resourceId reason', bothEnvironments: true },
    summary: 'List every change that operators made, newest first',
    description: 'The days default to the last 30, at most 93 apart.',
    query: schema.AuditQuery,
    item: schema.AuditEntry,
    name: 'Audit log',
    list: (query, page, at) => listAudit(db, query, { page, at }),
    present: presentAudit,
  });
}

function operatorRoutes({ db, ...deps }: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/operators', {
      operationId: 'opsListOperators',
      cli: { name: 'operators list', columns: 'createdAt operatorId role active email name' },
      summary: 'List the operators, newest first',
      responses: { 200: z.array(schema.Operator) },
      handle: async () => ({ message: 'Operators retrieved', data: (await listOperators(db)).map(presentOperator) }),
    }),
    operatorRoute('POST /api/ops/operators', {
      operationId: 'opsCreateOperator',
      cli: 'operators create',
      summary: 'Create an operator, with an invitation to create their first key; its token is returned once',
      description:
        'The token is for the operator alone, who sends it to POST /api/invitations/accept of this address within 3 days. Where there is a console, the operator also gets a mail with a link to set a password.',
      action: 'operator.create',
      body: schema.NewOperator,
      responses: { 201: schema.InvitedOperator },
      errors: ['DUPLICATE_REFERENCE'],
      run: async (context, { body }) => {
        const operator = await createOperator(context.tx.trx, body);
        const invitation = await inviteOperator(context, operator.id);
        await mailOperator(context.tx.trx, deps, { ...operator, at: context.at });
        const audit = { resourceType: 'operator', resourceId: operator.id, after: body } as const;
        const data = { ...presentOperator(operator), invitation };
        return { status: 201, message: 'Operator created', data, audit };
      },
    }),
    operatorRoute('PATCH /api/ops/operators/:operatorId', {
      operationId: 'opsChangeOperator',
      cli: [
        { name: 'operators change-role', summary: "Change an operator's role", options: ['role!', 'reason'] },
        { name: 'operators activate', summary: 'Reactivate an operator', body: { active: true }, options: ['reason'] },
        {
          name: 'operators deactivate',
          summary: 'Deactivate an operator',
          body: { active: false },
          options: ['reason'],
        },
      ],
      summary:
        "Change an operator's role, or deactivate and reactivate an operator; applies to their keys and sessions within 5 s",
      action: 'operator.change',
      params: schema.OperatorParams,
      body: schema.OperatorChanges,
      responses: { 200: schema.Operator },
      errors: ['INVALID_STATE'],
      run: async ({ tx }, { params, body }) => {
        const { before, after } = await changeOperator(tx.trx, params.operatorId, body);
        const audited = ({ role, active }: Operator) => ({ role, active });
        const change = { before: audited(before), after: audited(after) };
        const audit = { resourceType: 'operator', resourceId: after.id, ...change } as const;
        const changed = !isDeepStrictEqual(change.before, change.after);
        return { message: 'Operator changed', data: presentOperator(after), audit: changed ? audit : null };
      },
    }),
  ];
}

function invitationRoutes({ db, ...deps }: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/invitations', {
      operationId: 'opsListInvitations',
      cli: {
        name: 'invitations list',
        columns: 'createdAt invitationId purpose operatorName merchantName email expiresAt',
        bothEnvironments: true,
      },
      summary: 'List the invitations of operators and merchants that can still be accepted, newest first',
      permission: 'invitation.revoke',
      query: schema.InvitationListQuery,
      responses: { 200: z.array(schema.PendingInvitation) },
      handle: async ({ query, at }) => {
        const data = await withNames(db, await listInvitations(db, query, at), schema.INVITATION_NAMES);
        return { message: 'Invitations retrieved', data };
      },
    }),
    operatorRoute('POST /api/ops/operators/:operatorId/invitations', {
      operationId: 'opsInviteOperator',
      cli: 'operators invite',
      summary: 'Invite an operator again, who has lost the key; the token is returned once',
      description:
        'Earlier unused invitations of the operator end. Where there is a console, its link to set a password is mailed again.',
      action: 'operator.invite',
      params: schema.OperatorParams,
      body: schema.OptionalReason,
      responses: { 201: schema.Invitation },
      errors: ['INVALID_STATE'],
      run: async (context, { params: { operatorId } }) => {
        const { email } = await findOperator(context.tx.trx, operatorId);
        const invitation = await inviteOperator(context, operatorId);
        await mailOperator(context.tx.trx, deps, { email, at: context.at });
        const { invitationId, expiresAt } = invitation;
        const audit = { resourceType: 'operator', resourceId: operatorId, after: { invitationId, expiresAt } } as const;
        return { status: 201, message: 'Operator invited', data: invitation, audit };
      },
    }),
    operatorRoute('POST /api/ops/invitations/:invitationId/revoke', {
      operationId: 'opsRevokeInvitation',
      cli: { name: 'invitations revoke', confirm: true },
      summary: 'Revoke an invitation of an operator, a merchant or its owner that was not accepted',
      description:
        "With that of an operator the mailed link to set a password ends. A merchant's own people revoke theirs.",
      action: 'invitation.revoke',
      params: schema.InvitationParams,
      body: schema.Reason,
      responses: { 200: schema.RevokedInvitation },
      errors: ['INVALID_STATE'],
      run: async (context, { params: { invitationId } }) => {
        const { ended, merchantId, revokedAt } = await revokeInvitation(context, invitationId);
        const about = { resourceType: 'invitation', resourceId: invitationId, merchantId } as const;
        const audit = ended ? { ...about, after: { revokedAt } } : null;
        return { message: 'Invitation revoked', data: { invitationId, revokedAt }, audit };
      },
    }),
  ];
}
