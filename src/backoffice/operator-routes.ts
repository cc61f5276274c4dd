import { z } from 'zod';

import { auditContextOf, listAudit } from '../access/audit.ts';
import {
  addOperator,
  revokeKeyOf,
  createOperatorKeyFor,
  changeOperatorRole,
  rotateKeyOf,
} from '../access/manage-operators.ts';
import { findOperator, listOperatorKeys, listOperators, type OperatorKey } from '../access/operators.ts';
import { ANY_OPERATOR, requirePermission } from '../access/permissions.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { presentAudit, presentOperator, presentOperatorKey } from './present.ts';
import * as schema from './schema.ts';

export type OperatorRouteDeps = { db: Knex; clock: Clock; pepper: string };

/** The operators themselves, their keys, and what they did. */
export function operatorRoutes(deps: OperatorRouteDeps): Route[] {
  return [...staffRoutes(deps), ...keyRoutes(deps), auditRoute(deps)];
}

function auditRoute({ db, clock }: OperatorRouteDeps): Route {
  return readRoute({
    method: 'GET',
    path: '/api/ops/audit',
    operationId: 'opsListAudit',
    tag: 'Operators',
    summary: 'Every change an operator made, with its reason, the newest first',
    description: 'The days default to the last 30, at most 93 apart.',
    auth: ANY_OPERATOR,
    rateLimit: 'list',
    query: schema.AuditQuery,
    responses: { 200: z.array(schema.AuditEntry) },
    paginated: true,
    handle: async ({ query }) => {
      const { operatorId, action, resourceId, merchantId, environment } = query;
      const range = readDayRange(query, clock());
      const filter = { range, operatorId, action, resourceId, merchantId, environment };
      const { rows, pagination } = await listAudit(db, filter, readPage(query));
      return { message: 'Audit log retrieved', data: rows.map(presentAudit), pagination };
    },
  });
}

function staffRoutes(deps: OperatorRouteDeps): Route[] {
  const { db } = deps;
  return [
    readRoute({
      method: 'GET',
      path: '/api/ops/operators',
      operationId: 'opsListOperators',
      tag: 'Operators',
      summary: 'Every operator, the newest first',
      auth: ANY_OPERATOR,
      responses: { 200: z.array(schema.Operator) },
      handle: async () => ({ message: 'Operators retrieved', data: (await listOperators(db)).map(presentOperator) }),
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/operators',
      operationId: 'opsCreateOperator',
      tag: 'Operators',
      summary: 'Add an operator; a key is made apart',
      auth: requirePermission('operator.create'),
      body: schema.NewOperator,
      responses: { 201: schema.Operator },
      errors: ['DUPLICATE_REFERENCE'],
      handle: async (input) => {
        const operator = await addOperator(auditContextOf(input, deps), input.body);
        return { status: 201, message: 'Operator created', data: presentOperator(operator) };
      },
    }),
    writeRoute({
      method: 'PATCH',
      path: '/api/ops/operators/:operatorId',
      operationId: 'opsChangeOperator',
      tag: 'Operators',
      summary: 'Give an operator another role, or switch one off and on; within 5 s their keys know it',
      auth: requirePermission('operator.change'),
      params: schema.OperatorParams,
      body: schema.OperatorChanges,
      responses: { 200: schema.Operator },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const operator = await changeOperatorRole(auditContextOf(input, deps), { ...input.params, ...input.body });
        return { message: 'Operator changed', data: presentOperator(operator) };
      },
    }),
  ];
}

const MAKER_KNOWS =
  'What is said with it counts as your word too (secretHolders). Where two people must say the same, you are one: let another admin make the key of whoever is to count beside you.';

function presentCreatedKey(key: OperatorKey) {
  return { ...presentOperatorKey(key), secretHolders: key.secretHolders };
}

function keyRoutes(deps: OperatorRouteDeps): Route[] {
  const { db } = deps;
  return [
    readRoute({
      method: 'GET',
      path: '/api/ops/operators/:operatorId/keys',
      operationId: 'opsListOperatorKeys',
      tag: 'Operators',
      summary: "An operator's keys, ended ones too, the newest first",
      auth: requirePermission('operator-key.create'),
      params: schema.OperatorParams,
      responses: { 200: z.array(schema.OperatorKey) },
      handle: async ({ params: { operatorId } }) => {
        await findOperator(db, operatorId);
        const keys = await listOperatorKeys(db, operatorId);
        return { message: 'Keys retrieved', data: keys.map(presentCreatedKey) };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/operators/:operatorId/keys',
      operationId: 'opsCreateOperatorKey',
      tag: 'Operators',
      summary: 'Make a key for an operator; it is shown once',
      description: MAKER_KNOWS,
      auth: requirePermission('operator-key.create'),
      params: schema.OperatorParams,
      body: schema.NewOperatorKey,
      responses: { 201: schema.MadeOperatorKey },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const made = await createOperatorKeyFor(auditContextOf(input, deps), { ...input.params, ...input.body }, deps);
        return { status: 201, message: 'Key created', data: { ...presentCreatedKey(made.key), secret: made.secret } };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/operators/:operatorId/keys/:keyId/rotate',
      operationId: 'opsRotateOperatorKey',
      tag: 'Operators',
      summary: "Make an operator's next key, shown once; the one before works on for a while",
      description: MAKER_KNOWS,
      auth: requirePermission('operator-key.rotate'),
      params: schema.OperatorKeyParams,
      body: schema.OperatorKeyRotation,
      responses: { 201: schema.MadeOperatorKey },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const made = await rotateKeyOf(auditContextOf(input, deps), { ...input.params, ...input.body }, deps);
        return { status: 201, message: 'Key rotated', data: { ...presentCreatedKey(made.key), secret: made.secret } };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/operators/:operatorId/keys/:keyId/revoke',
      operationId: 'opsRevokeOperatorKey',
      tag: 'Operators',
      summary: "End an operator's key: within 5 s nothing takes it any more",
      auth: requirePermission('operator-key.revoke'),
      params: schema.OperatorKeyParams,
      body: schema.Reason,
      responses: { 200: schema.OperatorKey },
      handle: async (input) => {
        const key = await revokeKeyOf(auditContextOf(input, deps), { ...input.params, ...input.body });
        return { message: 'Key revoked', data: presentCreatedKey(key) };
      },
    }),
  ];
}
