import { z } from 'zod';

import type { AuditedChange } from '../../access/audit.ts';
import { operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import { Reason } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { KeyRing } from '../../lib/crypto.ts';
import type { Database } from '../../lib/db.ts';
import { invalid } from '../../lib/errors.ts';
import { readMerchant } from '../../merchants/operations.ts';
import { activateCredentials, addCredentials, APPLIES_AFTER_MS, revokeCredentials } from './operations.ts';
import { listCredentials, presentCredentials, type CredentialSet } from './queries.ts';
import * as schema from './schema.ts';
import { readCredentials } from './values.ts';

type Deps = { db: Database; keyRing: KeyRing };

const PATH = '/api/ops/merchants/:merchantId/channels/:channel/credentials';
const ONE = { params: schema.CredentialParams, responses: { 200: schema.ProviderCredentials } };
const SECONDS = APPLIES_AFTER_MS / 1_000;

/** The credentials of merchants' own accounts at providers. Their values are accepted, and never returned. */
export function credentialOperatorRoutes(deps: Deps): Route[] {
  return [listRoute(deps), addRoute(deps), ...decisionRoutes()];
}

function listRoute({ db }: Deps): Route {
  return operatorReadRoute(`GET ${PATH}`, {
    operationId: 'opsListCredentials',
    cli: {
      name: 'channels list-credentials',
      columns: 'createdAt credentialId state account fingerprint createdBy confirmedBy activeFrom retiresAt expiresAt',
    },
    summary: "List the credentials of a merchant's own account at a channel's provider, without their values",
    permission: 'channel.add-credentials',
    params: schema.CredentialPlace,
    responses: { 200: z.array(schema.ProviderCredentials) },
    handle: async ({ params, at }) => {
      await readMerchant(db, params.merchantId);
      const sets = await listCredentials(db, params);
      return { message: 'Credentials retrieved', data: sets.map((set) => presentCredentials(set, at)) };
    },
  });
}

function addRoute({ keyRing }: Deps): Route {
  return operatorRoute(`POST ${PATH}`, {
    operationId: 'opsAddCredentials',
    cli: { name: 'channels add-credentials', options: ['reason'], bodyFile: true },
    summary: "Enter credentials of a merchant's own account at a channel's provider, for live",
    description: 'They are stored encrypted and never returned. Another operator has to activate them.',
    action: 'channel.add-credentials',
    params: schema.CredentialPlace,
    body: schema.NewCredentials,
    responses: { 201: schema.ProviderCredentials },
    errors: ['INVALID_STATE'],
    run: async (context, { params, body: { expiresAt = null, ...given } }) => {
      await readMerchant(context.tx.trx, params.merchantId);
      if (expiresAt !== null && expiresAt <= context.at) throw invalid('expiresAt', 'must be in the future');
      const values = readCredentials(params.channel, given);
      const changed = await addCredentials(context, keyRing, { ...params, values, expiresAt });
      const message = 'Credentials stored; another operator has to activate them';
      return { status: 201, ...responseOf(message, changed, context.at) };
    },
  });
}

function decisionRoutes(): Route[] {
  return [
    operatorRoute(`POST ${PATH}/:credentialId/activate`, {
      ...ONE,
      operationId: 'opsActivateCredentials',
      cli: { name: 'channels activate-credentials', confirm: true },
      summary: 'Activate credentials that another operator has entered, in place of those before',
      description: `New orders use them after ${SECONDS} s. Those before stay usable for orders that were sent with them.`,
      action: 'channel.activate-credentials',
      body: schema.CredentialActivation,
      errors: ['INVALID_STATE'],
      run: async (context, { params: { credentialId: id, ...place }, body: { overlapHours } }) => {
        const changed = await activateCredentials(context, { id, ...place, overlapHours });
        return responseOf(`Credentials activated; new orders use them in ${SECONDS} s`, changed, context.at);
      },
    }),
    operatorRoute(`POST ${PATH}/:credentialId/revoke`, {
      ...ONE,
      operationId: 'opsRevokeCredentials',
      cli: { name: 'channels revoke-credentials', confirm: true },
      summary: 'Revoke credentials, or discard those that were not activated',
      description: `They are not used after ${SECONDS} s. Orders sent with them are queried by other credentials of the same account; without any, their outcome stays unknown.`,
      action: 'channel.revoke-credentials',
      body: Reason,
      run: async (context, { params: { credentialId: id, ...place } }) =>
        responseOf('Credentials revoked', await revokeCredentials(context, { id, ...place }), context.at),
    }),
  ];
}

function responseOf(message: string, { set, audit }: { set: CredentialSet; audit: AuditedChange | null }, at: Date) {
  return { message, data: presentCredentials(set, at), audit };
}
