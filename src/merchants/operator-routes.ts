import { z } from 'zod';

import { listKeys, listMerchantsKeys, presentKey, type InvitedKey } from '../access/api-keys.ts';
import type { AuditContext } from '../access/audit.ts';
import { inviteMerchant } from '../access/invitations.ts';
import { revokeKeyOf } from '../access/key-routes.ts';
import { operatorListRoute, operatorReadRoute, operatorRoute, type OperatorResult } from '../access/operator-route.ts';
import { Invitation, MerchantKey, MerchantParams, Reason } from '../access/operator-schema.ts';
import { listMembers } from '../access/users/team.ts';
import type { Route } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import { onboardMerchant, presentMerchant, readMerchant, searchMerchants } from './operations.ts';
import { readReviewPolicy, setReviewPolicy } from './review-policy.ts';
import * as schema from './schema.ts';
import { settingRoutes } from './setting-routes.ts';

type Deps = { db: Database };

/** The merchants, their keys, and when their withdrawals are reviewed. */
export function merchantOperatorRoutes(deps: Deps): Route[] {
  return [...merchantRoutes(deps), ...keyRoutes(deps), ...invitationRoutes(), ...policyRoutes(deps)];
}

function merchantRoutes({ db }: Deps): Route[] {
  return [
    operatorListRoute('GET /api/ops/merchants', {
      operationId: 'opsListMerchants',
      cli: { name: 'merchants list', columns: 'createdAt merchantId status kycStatus name' },
      summary: 'List merchants, newest first',
      query: schema.MerchantListQuery,
      item: schema.Merchant,
      name: 'Merchants',
      list: (query, page) => searchMerchants(db, query, page),
      present: presentMerchant,
    }),
    operatorRoute('POST /api/ops/merchants', {
      operationId: 'opsCreateMerchant',
      cli: 'merchants create',
      summary: 'Create a merchant with every available channel in the sandbox',
      action: 'merchant.create',
      body: schema.NewMerchant,
      responses: { 201: schema.Merchant },
      run: async ({ tx }, { body }) => {
        const merchant = await onboardMerchant(tx.trx, body);
        const { id } = merchant;
        const audit = { resourceType: 'merchant', resourceId: id, merchantId: id, after: body } as const;
        return { status: 201, message: 'Merchant created', data: presentMerchant(merchant), audit };
      },
    }),
    operatorReadRoute('GET /api/ops/merchants/:merchantId/users', {
      operationId: 'opsListMerchantUsers',
      summary: "List a merchant's users, by name",
      permission: 'kyc.review',
      params: MerchantParams,
      responses: { 200: z.array(schema.Member) },
      handle: async ({ params: { merchantId } }) => {
        await readMerchant(db, merchantId);
        return { message: 'Users retrieved', data: await listMembers(db, merchantId) };
      },
    }),
  ];
}

const KEYS_PATH = '/api/ops/merchants/:merchantId/keys';

function keyRoutes({ db }: Deps): Route[] {
  return [
    operatorListRoute('GET /api/ops/merchant-keys', {
      operationId: 'opsListMerchantsKeys',
      cli: {
        name: 'keys list',
        columns: 'createdAt keyId merchantId environment key expiresAt revokedAt lastUsedAt name',
        bothEnvironments: true,
      },
      summary: "List all merchants' keys, expired and revoked ones too, newest first",
      query: schema.AllKeysQuery,
      item: schema.ListedKey,
      name: 'Keys',
      list: (query, page) => listMerchantsKeys(db, query, page),
      present: presentKey,
    }),
    operatorReadRoute(`GET ${KEYS_PATH}`, {
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
    operatorRoute(`POST ${KEYS_PATH}/:keyId/revoke`, {
      operationId: 'opsRevokeMerchantKey',
      cli: { name: 'keys revoke', confirm: '/api/ops/merchants/{merchantId}/keys' },
      summary: "Revoke a merchant's key; it is rejected within 5 s",
      action: 'key.revoke',
      params: schema.KeyParams,
      body: Reason,
      responses: { 200: MerchantKey },
      run: (context, { params: { keyId, merchantId } }) => revokeKeyOf(context, keyId, { merchantId }),
    }),
  ];
}

function invitationRoutes(): Route[] {
  type Invited = { merchantId: string; key: InvitedKey; environment?: Environment };
  const invite = async (context: AuditContext, { key, ...about }: Invited): Promise<OperatorResult> => {
    const data = await inviteMerchant(context, { merchantId: about.merchantId, key });
    const { invitationId: resourceId, expiresAt } = data;
    const audit = { resourceType: 'invitation' as const, resourceId, ...about, after: { ...key, expiresAt } };
    return { status: 201, message: 'Merchant invited', data, audit };
  };
  return [
    operatorRoute('POST /api/ops/merchants/:merchantId/key-invitations', {
      operationId: 'opsInviteMerchant',
      cli: 'keys invite',
      summary: 'Invite a merchant to create a key; the token of the invitation is returned once',
      description: INVITED,
      action: 'key.invite',
      params: MerchantParams,
      body: schema.InvitedMerchantKey,
      responses: { 201: Invitation },
      run: async (context, { params: { merchantId }, body: { scopes = [], name = '', ipRanges = [], ...body } }) => {
        await readMerchant(context.tx.trx, merchantId);
        const kind = scopes.length > 0 ? 'restricted' : 'secret';
        const key = { ...body, kind, name, scopes, ipRanges } as const;
        return invite(context, { merchantId, key, environment: body.environment });
      },
    }),
    operatorRoute(`POST ${KEYS_PATH}/:keyId/rotate`, {
      operationId: 'opsInviteMerchantRotation',
      cli: { name: 'keys rotate', confirm: '/api/ops/merchants/{merchantId}/keys' },
      summary: 'Invite a merchant to rotate a key; the token of the invitation is returned once',
      description: `${INVITED} The old key stays valid for some hours from then on.`,
      action: 'key.invite',
      params: schema.KeyParams,
      body: schema.KeyRotation,
      responses: { 201: Invitation },
      errors: ['INVALID_STATE'],
      run: (context, { params: { merchantId, keyId }, body }) =>
        invite(context, { merchantId, key: { rotates: keyId, ...body } }),
    }),
  ];
}

const INVITED =
  'The token is for the merchant alone, who sends it to POST /api/invitations/accept of the public address within 3 days and gets the key.';

function policyRoutes(deps: Deps): Route[] {
  return settingRoutes(deps, {
    path: 'review-policy',
    name: 'Review policy',
    get: { operationId: 'opsGetReviewPolicy', summary: "Get which of a merchant's withdrawals are reviewed" },
    put: {
      operationId: 'opsChangeReviewPolicy',
      summary: "Change which of a merchant's future withdrawals are reviewed",
    },
    action: 'merchant.change-review',
    body: schema.ReviewPolicyChange,
    response: schema.ReviewPolicy,
    read: async (db, { merchantId }) => {
      const { own, largeAmountSantim, twoPersonSantim, perHourMax } = await readReviewPolicy(db, merchantId);
      return { own, largeAmount: toBirr(largeAmountSantim), twoPersonAmount: toBirr(twoPersonSantim), perHourMax };
    },
    write: (trx, { merchantId }, { largeAmount, twoPersonAmount, perHourMax }) => {
      const amounts = { largeAmountSantim: toSantim(largeAmount), twoPersonSantim: toSantim(twoPersonAmount) };
      return setReviewPolicy(trx, { merchantId, ...amounts, perHourMax });
    },
  });
}
