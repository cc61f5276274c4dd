import { z } from 'zod';

import { listAllKeys, listKeys, presentKey, revokeKey } from '../access/api-keys.ts';
import type { AuditedChange } from '../access/audit.ts';
import { aboutKey, inviteMerchant, type Invitation as Invited } from '../access/invitations.ts';
import { operatorReadRoute, operatorRoute, type OperatorResult } from '../access/operator-route.ts';
import { Invitation, MerchantKey, MerchantParams, Reason } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import { readPage } from '../lib/pagination.ts';
import { onboardMerchant, presentMerchant, readMerchant, searchMerchants } from './operations.ts';
import { readReviewPolicy, setReviewPolicy, type ReviewPolicy } from './review-policy.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock; pepper: string };

/** The merchants, their keys, and when their withdrawals are reviewed. */
export function merchantOperatorRoutes(deps: Deps): Route[] {
  return [
    ...merchantRoutes(deps),
    ...keyQueryRoutes(deps),
    revokeKeyRoute(deps),
    ...invitationRoutes(deps),
    ...policyRoutes(deps),
  ];
}

function merchantRoutes({ db, clock }: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/merchants', {
      operationId: 'opsListMerchants',
      cli: { name: 'merchants list', columns: 'createdAt merchantId status kycStatus name' },
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
    operatorRoute('POST /api/ops/merchants', {
      operationId: 'opsCreateMerchant',
      cli: 'merchants create',
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
    operatorReadRoute('GET /api/ops/merchant-keys', {
      operationId: 'opsListMerchantsKeys',
      cli: {
        name: 'keys list',
        columns: 'createdAt keyId merchantId environment key expiresAt revokedAt lastUsedAt name',
        bothEnvironments: true,
      },
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
  ];
}

function revokeKeyRoute({ clock }: Deps): Route {
  return operatorRoute(`POST ${KEYS_PATH}/:keyId/revoke`, {
    operationId: 'opsRevokeMerchantKey',
    cli: { name: 'keys revoke', confirm: '/api/ops/merchants/{merchantId}/keys' },
    summary: "Revoke a merchant's key; it is rejected within 5 s",
    action: 'key.revoke',
    clock,
    params: schema.KeyParams,
    body: Reason,
    responses: { 200: MerchantKey },
    run: async (context, { params }) => {
      const { trx } = context.tx;
      const { merchantId, keyId: id } = params;
      if ((await listKeys(trx, { id, merchantId })).length === 0) throw notFound('key');
      const { key, ended } = await revokeKey({ trx, clock }, id);
      const audit = ended ? { ...aboutKey(key), after: { revokedAt: key.revokedAt } } : null;
      return { message: 'Key revoked', data: presentKey(key), audit };
    },
  });
}

function invitationRoutes({ clock, pepper }: Deps): Route[] {
  return [
    operatorRoute('POST /api/ops/merchants/:merchantId/key-invitations', {
      operationId: 'opsInviteMerchant',
      cli: 'keys invite',
      summary: 'Invite a merchant to create a key; the token of the invitation is returned once',
      description: INVITED,
      action: 'key.invite',
      clock,
      params: MerchantParams,
      body: schema.InvitedMerchantKey,
      responses: { 201: Invitation },
      run: async (context, { params: { merchantId }, body: { scopes = [], name = '', ipRanges = [], ...body } }) => {
        await readMerchant(context.tx.trx, merchantId);
        const kind = scopes.length > 0 ? 'restricted' : 'secret';
        const key = { ...body, kind, name, scopes, ipRanges } as const;
        const invitation = await inviteMerchant(context, pepper, { merchantId, key });
        const { environment } = body;
        return invited(invitation, { merchantId, environment, after: key });
      },
    }),
    operatorRoute(`POST ${KEYS_PATH}/:keyId/rotate`, {
      operationId: 'opsInviteMerchantRotation',
      cli: { name: 'keys rotate', confirm: '/api/ops/merchants/{merchantId}/keys' },
      summary: 'Invite a merchant to rotate a key; the token of the invitation is returned once',
      description: `${INVITED} The old key stays valid for some hours from then on.`,
      action: 'key.invite',
      clock,
      params: schema.KeyParams,
      body: schema.KeyRotation,
      responses: { 201: Invitation },
      errors: ['INVALID_STATE'],
      run: async (context, { params: { merchantId, keyId }, body }) => {
        const key = { rotates: keyId, ...body };
        const invitation = await inviteMerchant(context, pepper, { merchantId, key });
        return invited(invitation, { merchantId, after: key });
      },
    }),
  ];
}

const INVITED =
  'The token is for the merchant alone, who sends it to POST /api/invitations/accept within 3 days and gets the key.';

function invited(data: Invited, about: Pick<AuditedChange, 'merchantId' | 'environment' | 'after'>): OperatorResult {
  const { invitationId, expiresAt } = data;
  const after = { ...about.after, expiresAt };
  const audit = { ...about, resourceType: 'invitation', resourceId: invitationId, after } as const;
  return { status: 201, message: 'Merchant invited', data, audit };
}

function policyRoutes({ db, clock }: Deps): Route[] {
  const path = '/api/ops/merchants/:merchantId/review-policy';
  return [
    operatorReadRoute(`GET ${path}`, {
      params: MerchantParams,
      operationId: 'opsGetReviewPolicy',
      summary: "Get which of a merchant's withdrawals are reviewed",
      responses: { 200: schema.ReviewPolicy },
      handle: async ({ params: { merchantId } }) => {
        await readMerchant(db, merchantId);
        return { message: 'Review policy retrieved', data: presentPolicy(await readReviewPolicy(db, merchantId)) };
      },
    }),
    operatorRoute(`PUT ${path}`, {
      params: MerchantParams,
      operationId: 'opsChangeReviewPolicy',
      summary: "Change which of a merchant's future withdrawals are reviewed",
      action: 'merchant.change-review',
      secondPerson: 'always',
      clock,
      body: schema.ReviewPolicyChange,
      responses: { 200: schema.ReviewPolicy },
      run: async ({ tx: { trx } }, { params: { merchantId }, body }) => {
        await readMerchant(trx, merchantId);
        const before = presentPolicy(await readReviewPolicy(trx, merchantId));
        await setReviewPolicy(trx, {
          merchantId,
          largeAmountSantim: toSantim(body.largeAmount),
          twoPersonSantim: toSantim(body.twoPersonAmount),
          perHourMax: body.perHourMax,
        });
        const after = presentPolicy(await readReviewPolicy(trx, merchantId));
        const audit = { resourceType: 'merchant', resourceId: merchantId, merchantId, before, after } as const;
        const isSame = JSON.stringify(before) === JSON.stringify(after);
        return { message: 'Review policy changed', data: after, audit: isSame ? null : audit };
      },
    }),
  ];
}

function presentPolicy(policy: ReviewPolicy & { own: boolean }) {
  const { own, largeAmountSantim, twoPersonSantim, perHourMax } = policy;
  return { own, largeAmount: toBirr(largeAmountSantim), twoPersonAmount: toBirr(twoPersonSantim), perHourMax };
}
