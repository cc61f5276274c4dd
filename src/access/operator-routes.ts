import { z } from 'zod';

import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { isoOrNull } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { listAudit, presentAudit, type AuditedChange } from './audit.ts';
import { operatorReadRoute, operatorRoute } from './operator-route.ts';
import * as schema from './operator-schema.ts';
import {
  changeOperator,
  createOperator,
  createOperatorKey,
  findOperator,
  listOperatorKeys,
  listOperators,
  revokeOperatorKey,
  rotateOperatorKey,
  type Operator,
  type OperatorKey,
} from './operators.ts';
import { secretHoldersOf } from './separation-of-duties.ts';

type Deps = { db: Database; clock: Clock; pepper: string };

/** The operators, their keys, and the audit log. */
export function accessOperatorRoutes(deps: Deps): Route[] {
  return [...operatorRoutes(deps), ...keyQueryRoutes(deps), ...keyRoutes(deps), auditRoute(deps)];
}

function auditRoute({ db, clock }: Deps): Route {
  return operatorReadRoute({
    path: '/api/ops/audit',
    operationId: 'opsListAudit',
    summary: 'List every change that operators made, newest first',
    description: 'The days default to the last 30, at most 93 apart.',
    rateLimit: 'list',
    query: schema.AuditQuery,
    responses: { 200: z.array(schema.AuditEntry) },
    paginated: true,
    handle: async ({ query }) => {
      const { rows, pagination } = await listAudit(
        db,
        { ...query, range: readDayRange(query, clock()) },
        readPage(query),
      );
      return { message: 'Audit log retrieved', data: rows.map(presentAudit), pagination };
    },
  });
}

function operatorRoutes({ db, clock }: Deps): Route[] {
  return [
    operatorReadRoute({
      path: '/api/ops/operators',
      operationId: 'opsListOperators',
      summary: 'List the operators, newest first',
      responses: { 200: z.array(schema.Operator) },
      handle: async () => ({ message: 'Operators retrieved', data: (await listOperators(db)).map(presentOperator) }),
    }),
    operatorRoute({
      method: 'POST',
      path: '/api/ops/operators',
      operationId: 'opsCreateOperator',
      summary: 'Create an operator; a key is created separately',
      action: 'operator.create',
      clock,
      body: schema.NewOperator,
      responses: { 201: schema.Operator },
      errors: ['DUPLICATE_REFERENCE'],
      run: async ({ tx }, { body }) => {
        const operator = await createOperator(tx.trx, body);
        const audit = { resourceType: 'operator', resourceId: operator.id, after: body } as const;
        return { status: 201, message: 'Operator created', data: presentOperator(operator), audit };
      },
    }),
    operatorRoute({
      method: 'PATCH',
      path: '/api/ops/operators/:operatorId',
      operationId: 'opsChangeOperator',
      summary: "Change an operator's role, or deactivate and reactivate an operator; applies to their keys within 5 s",
      action: 'operator.change',
      clock,
      params: schema.OperatorParams,
      body: schema.OperatorChanges,
      responses: { 200: schema.Operator },
      errors: ['INVALID_STATE'],
      run: async ({ tx }, { params, body }) => {
        const { before, after } = await changeOperator(tx.trx, params.operatorId, body);
        const changed = before.role !== after.role || before.active !== after.active;
        const audit: AuditedChange = {
          resourceType: 'operator',
          resourceId: after.id,
          before: { role: before.role, active: before.active },
          after: { role: after.role, active: after.active },
        };
        return { message: 'Operator changed', data: presentOperator(after), audit: changed ? audit : null };
      },
    }),
  ];
}

const CREATOR_KNOWS =
  'An approval with this key counts as your approval too (secretHolders). Where two people must approve, you count as one: let another admin create the key of the second person.';

function keyQueryRoutes({ db }: Deps): Route[] {
  return [
    operatorReadRoute({
      path: '/api/ops/operators/:operatorId/keys',
      operationId: 'opsListOperatorKeys',
      summary: "List an operator's keys, expired and revoked ones too, newest first",
      permission: 'operator-key.create',
      params: schema.OperatorParams,
      responses: { 200: z.array(schema.OperatorKey) },
      handle: async ({ params: { operatorId } }) => {
        await findOperator(db, operatorId);
        const keys = await listOperatorKeys(db, operatorId);
        return { message: 'Keys retrieved', data: keys.map(presentOperatorKey) };
      },
    }),
  ];
}

function keyRoutes({ clock, pepper }: Deps): Route[] {
  const path = '/api/ops/operators/:operatorId/keys';
  return [
    operatorRoute({
      method: 'POST',
      path,
      operationId: 'opsCreateOperatorKey',
      summary: 'Create a key for an operator; its secret is returned once',
      description: CREATOR_KNOWS,
      action: 'operator-key.create',
      clock,
      params: schema.OperatorParams,
      body: schema.NewOperatorKey,
      responses: { 201: schema.CreatedOperatorKey },
      errors: ['INVALID_STATE'],
      run: async (context, { params, body }) => {
        const { trx } = context.tx;
        const secretHolders = await secretHoldersOf(trx, context);
        const { key, secret } = await createOperatorKey({ trx, pepper, clock }, { ...params, ...body, secretHolders });
        const { operatorId, name, expiresAt } = key;
        const audit = auditKey(key.id, { operatorId, name, expiresAt });
        return { status: 201, message: 'Key created', data: { ...presentOperatorKey(key), secret }, audit };
      },
    }),
    operatorRoute({
      method: 'POST',
      path: `${path}/:keyId/rotate`,
      operationId: 'opsRotateOperatorKey',
      summary: "Create the successor of an operator's key, returned once; the old key stays valid for some hours",
      description: CREATOR_KNOWS,
      action: 'operator-key.rotate',
      clock,
      params: schema.OperatorKeyParams,
      body: schema.OperatorKeyRotation,
      responses: { 201: schema.CreatedOperatorKey },
      errors: ['INVALID_STATE'],
      run: async (context, { params, body }) => {
        const { trx } = context.tx;
        const secretHolders = await secretHoldersOf(trx, context);
        const input = { ...params, ...body, secretHolders };
        const { key, secret, old } = await rotateOperatorKey({ trx, pepper, clock }, input);
        const { operatorId, expiresAt } = old;
        const audit = auditKey(old.id, { operatorId, rotatedTo: key.id, expiresAt });
        return { status: 201, message: 'Key rotated', data: { ...presentOperatorKey(key), secret }, audit };
      },
    }),
    operatorRoute({
      method: 'POST',
      path: `${path}/:keyId/revoke`,
      operationId: 'opsRevokeOperatorKey',
      summary: "Revoke an operator's key; it is rejected within 5 s",
      action: 'operator-key.revoke',
      clock,
      params: schema.OperatorKeyParams,
      body: schema.Reason,
      responses: { 200: schema.OperatorKey },
      run: async ({ tx, at }, { params }) => {
        const { key, ended } = await revokeOperatorKey(tx.trx, { ...params, at });
        const { id, operatorId, revokedAt } = key;
        const audit = ended ? auditKey(id, { operatorId, revokedAt }) : null;
        return { message: 'Key revoked', data: presentOperatorKey(key), audit };
      },
    }),
  ];
}

function auditKey(resourceId: string, after: Record<string, unknown>): AuditedChange {
  return { resourceType: 'operatorKey', resourceId, after };
}

/** An operator as the operators' API presents one. */
export function presentOperator({ id, createdAt, ...row }: Operator) {
  return { operatorId: id, ...row, createdAt: createdAt.toISOString() };
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
