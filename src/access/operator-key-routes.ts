import { z } from 'zod';

import { writeRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { isoOrNull } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import type { AuditContext, AuditedChange } from './audit.ts';
import { acceptInvitation } from './invitations.ts';
import { operatorReadRoute, operatorRoute, type OperatorResult } from './operator-route.ts';
import * as schema from './operator-schema.ts';
import {
  createOperatorKey,
  findOperator,
  listOperatorKeys,
  revokeOperatorKey,
  rotateOperatorKey,
  type OperatorKey,
} from './operators.ts';

type Deps = { db: Database; clock: Clock; pepper: string };

/** Operators' keys: everybody creates their own, and admins list and revoke those of others. */
export function operatorKeyRoutes(deps: Deps): Route[] {
  return [listOwnRoute(deps), ...ownKeyRoutes(deps), ...otherKeyRoutes(deps)];
}

function listOwnRoute({ db }: Deps): Route {
  return operatorReadRoute('GET /api/ops/keys', {
    operationId: 'opsListOwnKeys',
    cli: { name: 'own-keys list', columns: 'createdAt keyId key expiresAt revokedAt lastUsedAt name' },
    summary: 'List your own keys, expired and revoked ones too, newest first',
    responses: { 200: z.array(schema.OperatorKey) },
    handle: async ({ caller: { operatorId } }) => {
      const keys = await listOperatorKeys(db, operatorId);
      return { message: 'Keys retrieved', data: keys.map(presentOperatorKey) };
    },
  });
}

function ownKeyRoutes({ clock, pepper }: Deps): Route[] {
  const path = '/api/ops/keys';
  return [
    operatorRoute(`POST ${path}`, {
      operationId: 'opsCreateOwnKey',
      cli: 'own-keys create',
      summary: 'Create another key of your own; its secret is returned once',
      action: 'operator-key.create',
      clock,
      body: schema.NewOperatorKey,
      responses: { 201: schema.CreatedOperatorKey },
      run: async ({ tx: { trx }, operatorId }, { body }) => {
        const { key, secret } = await createOperatorKey({ trx, pepper, clock }, { operatorId, ...body });
        const { id, name, expiresAt } = key;
        const audit = auditKey(id, { operatorId, name, expiresAt });
        return { status: 201, message: 'Key created', data: { ...presentOperatorKey(key), secret }, audit };
      },
    }),
    operatorRoute(`POST ${path}/:keyId/rotate`, {
      operationId: 'opsRotateOwnKey',
      cli: { name: 'own-keys rotate', confirm: true },
      summary: 'Create the successor of a key of your own, returned once; the old key stays valid for some hours',
      action: 'operator-key.rotate',
      clock,
      params: schema.OwnKeyParams,
      body: schema.OperatorKeyRotation,
      responses: { 201: schema.CreatedOperatorKey },
      errors: ['INVALID_STATE'],
      run: async ({ tx: { trx }, operatorId }, { params, body }) => {
        const input = { operatorId, ...params, ...body };
        const { key, secret, old } = await rotateOperatorKey({ trx, pepper, clock }, input);
        const audit = auditKey(old.id, { operatorId, rotatedTo: key.id, expiresAt: old.expiresAt });
        return { status: 201, message: 'Key rotated', data: { ...presentOperatorKey(key), secret }, audit };
      },
    }),
    operatorRoute(`POST ${path}/:keyId/revoke`, {
      operationId: 'opsRevokeOwnKey',
      cli: { name: 'own-keys revoke', confirm: true },
      summary: 'Revoke a key of your own; it is rejected within 5 s',
      action: 'operator-key.revoke',
      permission: 'operator-key.create',
      clock,
      params: schema.OwnKeyParams,
      body: schema.Reason,
      responses: { 200: schema.OperatorKey },
      run: (context, { params: { keyId } }) => revoke(context, { operatorId: context.operatorId, keyId }),
    }),
  ];
}

function otherKeyRoutes({ db, clock }: Deps): Route[] {
  const path = '/api/ops/operators/:operatorId/keys';
  return [
    operatorReadRoute(`GET ${path}`, {
      operationId: 'opsListOperatorKeys',
      cli: { name: 'operators list-keys', columns: 'createdAt keyId key expiresAt revokedAt lastUsedAt name' },
      summary: "List an operator's keys, expired and revoked ones too, newest first",
      permission: 'operator-key.revoke',
      params: schema.OperatorParams,
      responses: { 200: z.array(schema.OperatorKey) },
      handle: async ({ params: { operatorId } }) => {
        await findOperator(db, operatorId);
        const keys = await listOperatorKeys(db, operatorId);
        return { message: 'Keys retrieved', data: keys.map(presentOperatorKey) };
      },
    }),
    operatorRoute(`POST ${path}/:keyId/revoke`, {
      operationId: 'opsRevokeOperatorKey',
      cli: { name: 'operators revoke-key', confirm: true },
      summary: "Revoke an operator's key; it is rejected within 5 s",
      action: 'operator-key.revoke',
      clock,
      params: schema.OperatorKeyParams,
      body: schema.Reason,
      responses: { 200: schema.OperatorKey },
      run: (context, { params }) => revoke(context, params),
    }),
  ];
}

async function revoke({ tx, at }: AuditContext, whose: { operatorId: string; keyId: string }): Promise<OperatorResult> {
  const { key, ended } = await revokeOperatorKey(tx.trx, { ...whose, at });
  const { id, operatorId, revokedAt } = key;
  const audit = ended ? auditKey(id, { operatorId, revokedAt }) : null;
  return { message: 'Key revoked', data: presentOperatorKey(key), audit };
}

function auditKey(resourceId: string, after: Record<string, unknown>): AuditedChange {
  return { resourceType: 'operatorKey', resourceId, after };
}

function presentOperatorKey({ id, createdAt, expiresAt, revokedAt, lastUsedAt, ...row }: OperatorKey) {
  return {
    keyId: id,
    ...row,
    expiresAt: isoOrNull(expiresAt),
    revokedAt: isoOrNull(revokedAt),
    lastUsedAt: isoOrNull(lastUsedAt),
    createdAt: createdAt.toISOString(),
  };
}

/** How invited operators and merchants get their key. `peppers`: the current one first. */
export function invitationRoute({ peppers, clock }: { peppers: readonly [string, ...string[]]; clock: Clock }): Route {
  return writeRoute('POST /api/invitations/accept', {
    operationId: 'acceptInvitation',
    tag: 'Invitations',
    summary: 'Accept an invitation: creates the key of its holder, which is returned once',
    description: 'The token of the invitation is the credential; no API key is needed. It works once.',
    auth: { by: 'public', tokenInBody: true },
    body: schema.InvitationAcceptance,
    responses: { 201: schema.AcceptedInvitation },
    errors: ['AUTHENTICATION_REQUIRED', 'INVALID_STATE'],
    handle: async ({ tx, requestId, body }) => {
      const accepted = await acceptInvitation(tx, { peppers, clock }, { ...body, requestId });
      const data = { ...accepted, keyId: accepted.id, expiresAt: isoOrNull(accepted.expiresAt) };
      return { status: 201, message: 'Key created. Store it now: it is not returned again', data };
    },
  });
}
