import { z } from 'zod';

import { writeRoute, type Route } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import {
  auditOfKey,
  createOperatorKey,
  daysAfter,
  findKey,
  listKeys,
  OPERATOR_KEY_DAYS,
  presentKey,
  revokeKey,
  rotateKey,
} from './api-keys.ts';
import type { AuditContext } from './audit.ts';
import { acceptInvitation, type KeyHolder } from './invitations.ts';
import { operatorReadRoute, operatorRoute, type OperatorResult } from './operator-route.ts';
import * as schema from './operator-schema.ts';
import { findOperator } from './operators.ts';

type Deps = { db: Database; pepper: string };

const OWN = '/api/ops/keys';
const OTHERS = '/api/ops/operators/:operatorId/keys';

/** Operators' keys: operators create their own, and admins list and revoke those of others. */
export function operatorKeyRoutes(deps: Deps): Route[] {
  return [...readAndRevokeRoutes(deps), ...ownKeyRoutes(deps)];
}

function readAndRevokeRoutes({ db }: Deps): Route[] {
  const list = async (operatorId: string) => ({
    message: 'Keys retrieved',
    data: (await listKeys(db, { operatorId })).map(presentKey),
  });
  const revoke = {
    action: 'operator-key.revoke',
    body: schema.Reason,
    responses: { 200: schema.OperatorKey },
  } as const;
  return [
    operatorReadRoute(`GET ${OWN}`, {
      operationId: 'opsListOwnKeys',
      cli: { name: 'own-keys list', columns: 'createdAt keyId key expiresAt revokedAt lastUsedAt name' },
      summary: 'List your own keys, expired and revoked ones too, newest first',
      responses: { 200: z.array(schema.OperatorKey) },
      handle: ({ caller: { operatorId } }) => list(operatorId),
    }),
    operatorRoute(`POST ${OWN}/:keyId/revoke`, {
      ...revoke,
      operationId: 'opsRevokeOwnKey',
      cli: { name: 'own-keys revoke', confirm: true },
      summary: 'Revoke a key of your own; it is rejected within 5 s',
      permission: 'operator-key.create',
      params: schema.OwnKeyParams,
      run: (context, { params }) => revokeKeyOf(context, params.keyId, { operatorId: context.operatorId }),
    }),
    operatorReadRoute(`GET ${OTHERS}`, {
      operationId: 'opsListOperatorKeys',
      cli: { name: 'operators list-keys', columns: 'createdAt keyId key expiresAt revokedAt lastUsedAt name' },
      summary: "List an operator's keys, expired and revoked ones too, newest first",
      permission: 'operator-key.revoke',
      params: schema.OperatorParams,
      responses: { 200: z.array(schema.OperatorKey) },
      handle: async ({ params: { operatorId } }) => list((await findOperator(db, operatorId)).id),
    }),
    operatorRoute(`POST ${OTHERS}/:keyId/revoke`, {
      ...revoke,
      operationId: 'opsRevokeOperatorKey',
      cli: { name: 'operators revoke-key', confirm: true },
      summary: "Revoke an operator's key; it is rejected within 5 s",
      params: schema.OperatorKeyParams,
      run: (context, { params: { keyId, ...owner } }) => revokeKeyOf(context, keyId, owner),
    }),
  ];
}

function ownKeyRoutes({ pepper }: Deps): Route[] {
  const created = { responses: { 201: schema.CreatedOperatorKey } };
  const keyDeps = ({ tx: { trx }, at }: AuditContext) => ({ trx, pepper, clock: () => at });
  return [
    operatorRoute(`POST ${OWN}`, {
      ...created,
      operationId: 'opsCreateOwnKey',
      cli: 'own-keys create',
      summary: 'Create another key of your own; its secret is returned once',
      action: 'operator-key.create',
      body: schema.NewOperatorKey,
      run: async (context, { body: { name = '', days } }) => {
        const { operatorId } = context;
        const { key, secret } = await createOperatorKey(keyDeps(context), { operatorId, name, days });
        const audit = { ...auditOfKey(key), after: { operatorId, name, expiresAt: key.expiresAt } };
        return { status: 201, message: 'Key created', data: { ...presentKey(key), secret }, audit };
      },
    }),
    operatorRoute(`POST ${OWN}/:keyId/rotate`, {
      ...created,
      operationId: 'opsRotateOwnKey',
      cli: { name: 'own-keys rotate', confirm: true },
      summary: 'Create the successor of a key of your own, returned once; the old key stays valid for some hours',
      action: 'operator-key.rotate',
      params: schema.OwnKeyParams,
      body: schema.OperatorKeyRotation,
      errors: ['INVALID_STATE'],
      run: async (context, { params: { keyId }, body: { days = OPERATOR_KEY_DAYS.default, overlapHours } }) => {
        const { operatorId, tx, at } = context;
        await findKey(tx.trx, { id: keyId, operatorId });
        const rotation = { keyId, overlapHours, expiresAt: daysAfter(at, days) };
        const { key, secret, old } = await rotateKey(keyDeps(context), rotation);
        const after = { operatorId, rotatedTo: key.id, expiresAt: old.expiresAt };
        const data = { ...presentKey(key), secret };
        return { status: 201, message: 'Key rotated', data, audit: { ...auditOfKey(old), after } };
      },
    }),
  ];
}

/** Revokes a key of an operator or a merchant. Throws NOT_FOUND. */
export async function revokeKeyOf(
  { tx: { trx }, at }: AuditContext,
  keyId: string,
  owner: { operatorId: string } | { merchantId: string },
): Promise<OperatorResult> {
  await findKey(trx, { id: keyId, ...owner });
  const { key, ended } = await revokeKey({ trx, clock: () => at }, keyId);
  const audit = ended ? { ...auditOfKey(key), after: { ...owner, revokedAt: key.revokedAt } } : null;
  return { message: 'Key revoked', data: presentKey(key), audit };
}

/** How invited operators and merchants get their key; `holders`: those of them who call it here. */
export function invitationRoute(pepper: string, holders: readonly KeyHolder[]): Route {
  return writeRoute('POST /api/invitations/accept', {
    operationId: 'acceptInvitation',
    tag: 'Invitations',
    summary: 'Accept an invitation: creates the key of its holder, which is returned once',
    description:
      'The token of the invitation is the credential; no API key is needed. It works once, for merchants at the public address of the API and for operators at theirs.',
    auth: { by: 'public', tokenInBody: true },
    body: schema.InvitationAcceptance,
    responses: { 201: schema.AcceptedInvitation },
    errors: ['AUTHENTICATION_REQUIRED', 'INVALID_STATE'],
    handle: async ({ tx, requestId, at, body }) => {
      const { key, secret } = await acceptInvitation(tx, { pepper, holders }, { ...body, requestId, at });
      const data = { ...presentKey(key), secret };
      return { status: 201, message: 'Key created. Store it now: it is not returned again', data };
    },
  });
}
