import { isDeepStrictEqual } from 'node:util';

import type { z } from 'zod';

import type { AuditEntry } from '../access/audit.ts';
import { operatorReadRoute, operatorRoute } from '../access/operator-route.ts';
import { MerchantParams } from '../access/operator-schema.ts';
import type { Action } from '../access/permissions.ts';
import type { Route } from '../http/route.ts';
import type { Database, Queryable, Trx } from '../lib/db.ts';
import { readMerchant } from './operations.ts';

type SettingScope = { merchantId: string; at: Date };
type Change = Required<Pick<AuditEntry, 'before' | 'after'>>;

type Setting<Body extends z.ZodType, Value extends Readonly<Record<string, unknown>>> = {
  path: string;
  /** In the message of the response. */
  name: string;
  get: { operationId: string; summary: string };
  put: { operationId: string; summary: string };
  action: Action;
  body: Body;
  response: z.ZodType;
  read: (db: Queryable, scope: SettingScope) => Promise<Value>;
  write: (trx: Trx, scope: SettingScope, body: z.output<Body>) => Promise<void>;
  /** What the audit log contains of a change; null: nothing has changed. The whole value unless given. */
  compare?: (before: Value, after: Value) => Change | null;
};

/** The routes by which operators read and change a setting of a merchant. Another operator confirms each change. */
export function settingRoutes<Body extends z.ZodType, Value extends Readonly<Record<string, unknown>>>(
  { db }: { db: Database },
  { path, name, get, put, action, body, response, read, write, compare = compareWhole }: Setting<Body, Value>,
): Route[] {
  const endpoint = `/api/ops/merchants/:merchantId/${path}` as const;
  const declared = { params: MerchantParams, responses: { 200: response } };
  return [
    operatorReadRoute(`GET ${endpoint}`, {
      ...declared,
      ...get,
      handle: async ({ params: { merchantId }, at }) => {
        await readMerchant(db, merchantId);
        return { message: `${name} retrieved`, data: await read(db, { merchantId, at }) };
      },
    }),
    operatorRoute(`PUT ${endpoint}`, {
      ...declared,
      ...put,
      action,
      secondPerson: 'always',
      body,
      run: async ({ tx: { trx }, at }, { params: { merchantId }, body: wanted }) => {
        await readMerchant(trx, merchantId);
        const scope = { merchantId, at };
        const before = await read(trx, scope);
        await write(trx, scope, wanted);
        const data = await read(trx, scope);
        const change = compare(before, data);
        const audit = change && { resourceType: 'merchant' as const, resourceId: merchantId, merchantId, ...change };
        return { message: `${name} changed`, data, audit };
      },
    }),
  ];
}

function compareWhole<Value extends Readonly<Record<string, unknown>>>(before: Value, after: Value): Change | null {
  return isDeepStrictEqual(before, after) ? null : { before, after };
}
