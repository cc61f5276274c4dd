import { z } from 'zod';

import { listKeys } from '../access/api-keys.ts';
import { auditContextOf } from '../access/audit.ts';
import { ANY_OPERATOR, requirePermission } from '../access/permissions.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import { readBalance } from '../ledger/balance.ts';
import type { Clock } from '../lib/clock.ts';
import { DAY_MS } from '../lib/dates.ts';
import type { Knex } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { readPage } from '../lib/pagination.ts';
import type { MerchantScope } from '../lib/scope.ts';
import { listChannels } from '../merchants/channels/queries.ts';
import { searchMerchants } from '../merchants/operations.ts';
import type { FindProvider } from '../providers/provider.ts';
import {
  addMerchant,
  decideChannel,
  changeMerchantStatus,
  createMerchantKey,
  readMerchant,
  revokeKeyOf,
} from './merchants.ts';
import { presentChannel, presentKey, presentMerchant, presentEnvironmentSummary } from './present.ts';
import * as schema from './schema.ts';

export type MerchantRouteDeps = { db: Knex; clock: Clock; pepper: string; findProvider: FindProvider };

/** Merchants, their keys and their channels. */
export function merchantRoutes(deps: MerchantRouteDeps): Route[] {
  return [...queryRoutes(deps), ...decisionRoutes(deps), ...keyRoutes(deps), ...channelRoutes(deps)];
}

function queryRoutes({ db, findProvider }: MerchantRouteDeps): Route[] {
  const readPlace = async (scope: MerchantScope) => {
    const [balance, channels] = await Promise.all([readBalance(db, scope), listChannels(db, scope, findProvider)]);
    return presentEnvironmentSummary(balance, channels);
  };
  return [
    readRoute({
      method: 'GET',
      path: '/api/ops/merchants',
      operationId: 'opsListMerchants',
      tag: 'Operators',
      summary: 'Merchants, the newest first',
      auth: ANY_OPERATOR,
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
    readRoute({
      method: 'GET',
      path: '/api/ops/merchants/:merchantId',
      operationId: 'opsGetMerchant',
      tag: 'Operators',
      summary: 'One merchant with its balance and channels in both environments',
      auth: ANY_OPERATOR,
      params: schema.MerchantParams,
      responses: { 200: schema.MerchantDetail },
      handle: async ({ params: { merchantId } }) => {
        const merchant = await readMerchant(db, merchantId);
        const [sandbox, live] = await Promise.all([
          readPlace({ merchantId, environment: 'sandbox' }),
          readPlace({ merchantId, environment: 'live' }),
        ]);
        const data = { ...presentMerchant(merchant), currency: 'ETB', sandbox, live };
        return { message: 'Merchant retrieved', data };
      },
    }),
  ];
}

function decisionRoutes(deps: MerchantRouteDeps): Route[] {
  return [
    writeRoute({
      method: 'POST',
      path: '/api/ops/merchants',
      operationId: 'opsCreateMerchant',
      tag: 'Operators',
      summary: 'Add a merchant, with every available channel in the sandbox',
      auth: requirePermission('merchant.create'),
      body: schema.NewMerchant,
      responses: { 201: schema.Merchant },
      handle: async (input) => {
        const merchant = await addMerchant(auditContextOf(input, deps), input.body);
        return { status: 201, message: 'Merchant created', data: presentMerchant(merchant) };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/merchants/:merchantId/suspend',
      operationId: 'opsSuspendMerchant',
      tag: 'Operators',
      summary: 'Suspend a merchant: its keys stop working within 5 s, its pages take no payments',
      auth: requirePermission('merchant.suspend'),
      params: schema.MerchantParams,
      body: schema.Reason,
      responses: { 200: schema.Merchant },
      handle: async (input) => {
        const wanted = { ...input.params, status: 'SUSPENDED', reason: input.body.reason } as const;
        const merchant = await changeMerchantStatus(auditContextOf(input, deps), wanted);
        return { message: 'Merchant suspended', data: presentMerchant(merchant) };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/merchants/:merchantId/resume',
      operationId: 'opsResumeMerchant',
      tag: 'Operators',
      summary: 'Let a suspended merchant go on',
      auth: requirePermission('merchant.resume'),
      params: schema.MerchantParams,
      body: schema.Reason,
      responses: { 200: schema.Merchant },
      handle: async (input) => {
        const wanted = { ...input.params, status: 'ACTIVE', reason: input.body.reason } as const;
        const merchant = await changeMerchantStatus(auditContextOf(input, deps), wanted);
        return { message: 'Merchant resumed', data: presentMerchant(merchant) };
      },
    }),
  ];
}

function keyRoutes(deps: MerchantRouteDeps): Route[] {
  const { db, clock, pepper } = deps;
  return [
    readRoute({
      method: 'GET',
      path: '/api/ops/merchants/:merchantId/keys',
      operationId: 'opsListMerchantKeys',
      tag: 'Operators',
      summary: "A merchant's keys, ended ones too, the newest first",
      auth: ANY_OPERATOR,
      params: schema.MerchantParams,
      query: schema.KeyListQuery,
      responses: { 200: z.array(schema.MerchantKey) },
      handle: async ({ params: { merchantId }, query: { environment } }) => {
        await readMerchant(db, merchantId);
        const keys = await listKeys(db, { merchantId, ...(environment && { environment }) });
        return { message: 'Keys retrieved', data: keys.map(presentKey) };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/merchants/:merchantId/keys',
      operationId: 'opsCreateMerchantKey',
      tag: 'Operators',
      summary: 'Make a key for a merchant; it is shown once',
      auth: requirePermission('key.create'),
      params: schema.MerchantParams,
      body: schema.NewMerchantKey,
      responses: { 201: schema.CreatedMerchantKey },
      handle: async (input) => {
        const { days, scopes, ...rest } = input.body;
        const wanted = {
          ...input.params,
          environment: rest.environment,
          name: rest.name ?? '',
          ipRanges: rest.ipRanges ?? [],
          kind: scopes ? 'restricted' : 'secret',
          scopes: scopes ?? [],
          expiresAt: days === undefined ? null : new Date(clock().getTime() + days * DAY_MS),
        } as const;
        const { key, secret } = await createMerchantKey(auditContextOf(input, deps), wanted, { pepper, clock });
        return { status: 201, message: 'Key created', data: { ...presentKey(key), secret } };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/merchants/:merchantId/keys/:keyId/revoke',
      operationId: 'opsRevokeMerchantKey',
      tag: 'Operators',
      summary: "End a merchant's key: within 5 s nothing takes it any more",
      auth: requirePermission('key.revoke'),
      params: schema.KeyParams,
      body: schema.Reason,
      responses: { 200: schema.MerchantKey },
      handle: async (input) => {
        const key = await revokeKeyOf(auditContextOf(input, deps), { ...input.params, ...input.body }, clock);
        return { message: 'Key revoked', data: presentKey(key) };
      },
    }),
  ];
}

function channelRoutes(deps: MerchantRouteDeps): Route[] {
  const decide = (approval: 'APPROVED' | 'SUSPENDED', path: 'approve' | 'suspend') =>
    writeRoute({
      method: 'POST',
      path: `/api/ops/merchants/:merchantId/channels/:channel/${path}`,
      operationId: path === 'approve' ? 'opsApproveChannel' : 'opsSuspendChannel',
      tag: 'Operators',
      summary:
        path === 'approve'
          ? 'Let a merchant use a channel; the merchant switches it on'
          : 'Take a channel from a merchant: no new payments, what is in flight goes on',
      auth: requirePermission(`channel.${path}`),
      params: schema.ChannelParams,
      body: path === 'approve' ? schema.ChannelApproval : schema.ChannelSuspension,
      responses: { 200: schema.MerchantChannel },
      handle: async (input) => {
        const { environment, reason } = input.body;
        const { merchantId, channel } = input.params;
        await decideChannel(auditContextOf(input, deps), { merchantId, environment, channel, approval, reason });
        const channels = await listChannels(input.tx.trx, { merchantId, environment }, deps.findProvider);
        const found = channels.find((one) => one.channel === channel);
        if (!found) throw notFound('channel');
        return { message: `Channel ${channel} is ${approval}`, data: presentChannel(found) };
      },
    });
  return [decide('APPROVED', 'approve'), decide('SUSPENDED', 'suspend')];
}
