import { z } from 'zod';

import { listAllKeys, listKeys, presentKey } from '../access/api-keys.ts';
import { issueKey, revokeIssuedKey, rotateIssuedKey } from '../access/issued-keys.ts';
import { operatorReadRoute, operatorRoute } from '../access/operator-route.ts';
import { MerchantKey, MerchantParams, Reason } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { DAY_MS } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { readPage } from '../lib/pagination.ts';
import { onboardMerchant, presentMerchant, readMerchant, searchMerchants } from './operations.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock; pepper: string };

/** The merchants and their keys. */
export function merchantOperatorRoutes(deps: Deps): Route[] {
  return [...merchantRoutes(deps), ...keyQueryRoutes(deps), ...keyRoutes(deps)];
}

function merchantRoutes({ db, clock }: Deps): Route[] {
  return [
    operatorReadRoute({
      path: '/api/ops/merchants',
      operationId: 'opsListMerchants',
      summary: 'List merchants, newest first',
      rateLimit: 'list',
      query: schema.MerchantListQuery,
      responses: { 200: z.array(schema.Merchant) },
      paginated: true,
      handle: async ({ query }) => {
        const filter = { statuses: query.status, kycStatuses: query.kycStatus, search: query.search };
        const { rows, pagination } = await searchMerchants(db, filter, readPage(query));
        return { message: 'Merchants retrieved', data: rows.map(presentMerchant), pagination };
      },
    }),
    operatorRoute({
      method: 'POST',
      path: '/api/ops/merchants',
      operationId: 'opsCreateMerchant',
      summary: 'Create a merchant with every available channel in the sandbox',
      action: 'merchant.create',
      clock,
      body: schema.NewMerchant,
      responses: { 201: schema.Merchant },
      run: async ({ tx }, { body }) => {
        const merchant = await onboardMerchant(tx.trx, body);
        const { id } = merchant;
        const audit = { resourceType: 'merchant', resourceId: id, merchantId: id, after: body } as const;
        return { status: 201, message: 'Merchant created', data: presentMerchant(merchant), audit };
      },
    }),
  ];
}

const KEYS_PATH = '/api/ops/merchants/:merchantId/keys';

function keyQueryRoutes({ db }: Deps): Route[] {
  return [
    operatorReadRoute({
      path: '/api/ops/keys',
      operationId: 'opsListKeys',
      summary: "List all merchants' keys, expired and revoked ones too, newest first",
      rateLimit: 'list',
      query: schema.AllKeysQuery,
      responses: { 200: z.array(schema.ListedKey) },
      paginated: true,
      handle: async ({ query }) => {
        const { rows, pagination } = await listAllKeys(db, query, readPage(query));
        const data = rows.map((key) => ({ merchantId: key.merchantId, ...presentKey(key) }));
        return { message: 'Keys retrieved', data, pagination };
      },
    }),
    operatorReadRoute({
      path: KEYS_PATH,
      operationId: 'opsListMerchantKeys',
      summary: "List a merchant's keys, expired and revoked ones too, newest first",
      params: MerchantParams,
      query: schema.KeyListQuery,
      responses: { 200: z.array(MerchantKey) },
      handle: async ({ params: { merchantId }, query: { environment } }) => {
        await readMerchant(db, merchantId);
        const keys = await listKeys(db, { merchantId, ...(environment && { environment }) });
        return { message: 'Keys retrieved', data: keys.map(presentKey) };
      },
    }),
  ];
}

function keyRoutes({ clock, pepper }: Deps): Route[] {
  return [
    operatorRoute({
      method: 'POST',
      path: KEYS_PATH,
      operationId: 'opsCreateMerchantKey',
      summary: 'Create a key for a merchant; its secret is returned once',
      action: 'key.create',
      clock,
      params: MerchantParams,
      body: schema.NewMerchantKey,
      responses: { 201: schema.CreatedMerchantKey },
      run: async (context, { params, body }) => {
        await readMerchant(context.tx.trx, params.merchantId);
        const { days, scopes, environment, name = '', ipRanges = [] } = body;
        const { key, secret, audit } = await issueKey(
          context,
          { pepper, clock },
          {
            ...params,
            environment,
            name,
            ipRanges,
            kind: scopes ? 'restricted' : 'secret',
            scopes: scopes ?? [],
            expiresAt: days === undefined ? null : new Date(context.at.getTime() + days * DAY_MS),
          },
        );
        return { status: 201, message: 'Key created', data: { ...presentKey(key), secret }, audit };
      },
    }),
    operatorRoute({
      method: 'POST',
      path: `${KEYS_PATH}/:keyId/rotate`,
      operationId: 'opsRotateMerchantKey',
      summary: "Create the successor of a merchant's key, returned once; the old key stays valid for some hours",
      action: 'key.rotate',
      clock,
      params: schema.KeyParams,
      body: schema.KeyRotation,
      responses: { 201: schema.CreatedMerchantKey },
      errors: ['INVALID_STATE'],
      run: async (context, { params, body: { overlapHours } }) => {
        const rotation = { ...params, ...(overlapHours !== undefined && { overlapHours }) };
        const { key, secret, audit } = await rotateIssuedKey(context, { pepper, clock }, rotation);
        return { status: 201, message: 'Key rotated', data: { ...presentKey(key), secret }, audit };
      },
    }),
    operatorRoute({
      method: 'POST',
      path: `${KEYS_PATH}/:keyId/revoke`,
      operationId: 'opsRevokeMerchantKey',
      summary: "Revoke a merchant's key; it is rejected within 5 s",
      action: 'key.revoke',
      clock,
      params: schema.KeyParams,
      body: Reason,
      responses: { 200: MerchantKey },
      run: async (context, { params }) => {
        const { key, audit } = await revokeIssuedKey(context, params);
        return { message: 'Key revoked', data: presentKey(key), audit };
      },
    }),
  ];
}
