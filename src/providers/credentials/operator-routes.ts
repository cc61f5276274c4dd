import { z } from 'zod';

import type { AuditedChange } from '../../access/audit.ts';
import { withNames } from '../../access/names.ts';
import { auditContextOf, operatorReadRoute, operatorRoute, runAudited } from '../../access/operator-route.ts';
import { Reason } from '../../access/operator-schema.ts';
import { requirePermission } from '../../access/permissions.ts';
import { readRoute, type Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyRing } from '../../lib/crypto.ts';
import type { Database } from '../../lib/db.ts';
import { invalid, invalidState } from '../../lib/errors.ts';
import { createHttpClient } from '../../lib/http-client.ts';
import type { LiveChannel } from '../../merchants/channels/channel.ts';
import { readMerchant } from '../../merchants/operations.ts';
import type { RunInTransaction } from '../../outbox/record.ts';
import { checkOwnAccount } from '../account-check.ts';
import type { LiveProvider, LiveProviders } from '../settings.ts';
import { activateCredentials, addCredentials, APPLIES_AFTER_MS, recordCheck, revokeCredentials } from './operations.ts';
import {
  findForNewOrders,
  findSet,
  listCredentials,
  lockCredentials,
  presentCredentials,
  stateOf,
  type CredentialSet,
} from './queries.ts';
import * as schema from './schema.ts';
import { accountOf, openCredentials, readCredentials } from './values.ts';

type Deps = {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  keyRing: KeyRing;
  liveProviders?: LiveProviders;
};

const PATH = '/api/ops/merchants/:merchantId/channels/:channel/credentials';
const ONE = { params: schema.CredentialParams, responses: { 200: schema.ProviderCredentials } };
const SECONDS = APPLIES_AFTER_MS / 1_000;

/** The credentials of merchants' own accounts at providers. Their values are accepted, and never returned. */
export function credentialOperatorRoutes(deps: Deps): Route[] {
  return [listRoute(deps), addRoute(deps), checkRoute(deps), activateRoute(), revokeRoute(deps)];
}

function listRoute({ db }: Deps): Route {
  return operatorReadRoute(`GET ${PATH}`, {
    operationId: 'opsListCredentials',
    cli: {
      name: 'channels list-credentials',
      columns:
        'createdAt credentialId state account checkOutcome createdBy confirmedBy activeFrom retiresAt expiresAt identifiers',
    },
    summary: "List the credentials of a merchant's own account at a channel's provider, without their values",
    permission: 'channel.add-credentials',
    params: schema.CredentialScope,
    responses: { 200: z.array(schema.ListedCredentials) },
    handle: async ({ params, at }) => {
      await readMerchant(db, params.merchantId);
      const sets = (await listCredentials(db, params)).map((set) => presentCredentials(set, at));
      return { message: 'Credentials retrieved', data: await withNames(db, sets, schema.CREDENTIAL_NAMES) };
    },
  });
}

function addRoute({ keyRing }: Deps): Route {
  return operatorRoute(`POST ${PATH}`, {
    operationId: 'opsAddCredentials',
    cli: { name: 'channels add-credentials', options: ['reason'], bodyFile: true },
    summary: "Enter credentials of a merchant's own account at a channel's provider, for live",
    description:
      'They are stored encrypted and never returned. They are checked with the provider, and another operator has to activate them.',
    action: 'channel.add-credentials',
    params: schema.CredentialScope,
    body: schema.NewCredentials,
    responses: { 201: schema.ProviderCredentials },
    errors: ['INVALID_STATE'],
    run: async (context, { params, body: { expiresAt = null, ...given } }) => {
      await readMerchant(context.tx.trx, params.merchantId);
      if (expiresAt !== null && expiresAt <= context.at) {
        throw invalid('expiresAt', { issue: 'must be in the future', code: 'in_the_past' });
      }
      const values = readCredentials(params.channel, given);
      const changed = await addCredentials(context, keyRing, { ...params, values, expiresAt });
      const message = 'Credentials stored: check them; another operator has to activate them';
      return { status: 201, ...responseOf(message, changed, context.at) };
    },
  });
}

function checkRoute({ db, runInTransaction, clock, keyRing, liveProviders }: Deps): Route {
  return readRoute(`POST ${PATH}/:credentialId/check`, {
    ...ONE,
    operationId: 'opsCheckCredentials',
    cli: 'channels check-credentials',
    tag: 'Operators',
    summary: 'Check with the provider whether it accepts credentials, and store the outcome',
    description:
      'By a signed query of an order that does not exist, of payouts too where they are made; nothing is ordered. The message has the outcome and what to do next.',
    auth: requirePermission('channel.check-credentials'),
    errors: ['INVALID_STATE'],
    handle: async (input) => {
      const { credentialId: id, ...scope } = input.params;
      const set = findSet(await listCredentials(db, scope), id);
      const state = stateOf(set, input.at);
      if (state === 'RETIRED' || state === 'REVOKED') {
        throw invalidState(`These credentials are ${state}: no order is sent with them again.`);
      }
      const settings = liveProviders?.[scope.channel];
      if (!settings?.endpoint) {
        const names = settings?.missingService.join(', ') ?? 'its settings';
        throw invalidState(`${scope.channel} is not configured: set ${names}, and check again.`);
      }
      const http = createHttpClient();
      const values = openCredentials(keyRing, set);
      const check = await checkOwnAccount({ http, clock }, { channel: scope.channel, settings, values }).finally(
        http.close,
      );
      const { outcome } = check;
      return runInTransaction(async (tx) => {
        const context = auditContextOf({ ...input, tx });
        const record = async () => recordCheck(context, { id, ...scope, outcome });
        const changed = await runAudited(context, { action: 'channel.check-credentials' }, record);
        return { message: `${check.found} ${check.next}`.trim(), data: presentCredentials(changed.set, input.at) };
      });
    },
  });
}

function activateRoute(): Route {
  return operatorRoute(`POST ${PATH}/:credentialId/activate`, {
    ...ONE,
    operationId: 'opsActivateCredentials',
    cli: { name: 'channels activate-credentials', confirm: true },
    summary: 'Activate credentials that another operator has entered, in place of those before',
    description: `Their last check must be OK. New orders use them after ${SECONDS} s. Those before stay usable for orders that were sent with them.`,
    action: 'channel.activate-credentials',
    body: schema.CredentialActivation,
    errors: ['INVALID_STATE'],
    run: async (context, { params: { credentialId: id, ...scope }, body: { overlapHours } }) => {
      const changed = await activateCredentials(context, { id, ...scope, overlapHours });
      return responseOf(`Credentials activated; new orders use them in ${SECONDS} s`, changed, context.at);
    },
  });
}

function revokeRoute({ liveProviders }: Deps): Route {
  return operatorRoute(`POST ${PATH}/:credentialId/revoke`, {
    ...ONE,
    operationId: 'opsRevokeCredentials',
    cli: { name: 'channels revoke-credentials', confirm: true },
    summary: 'Revoke credentials, or discard those that were not activated',
    description: `They are not used after ${SECONDS} s. Orders sent with them are queried by other credentials of the same account; without any, their outcome stays unknown. Those that new orders use are revoked by two operators, because new orders then go to another account, which the message names.`,
    action: 'channel.revoke-credentials',
    body: Reason,
    secondPerson: async ({ tx: { trx }, at }, { params: { credentialId: id, ...scope } }) => {
      const sets = await lockCredentials(trx, scope);
      return findForNewOrders(sets, at)?.id === findSet(sets, id).id;
    },
    run: async (context, { params: { credentialId: id, ...scope } }) => {
      const sets = await lockCredentials(context.tx.trx, scope);
      const changed = await revokeCredentials(context, { id, ...scope });
      const isReplaced = findForNewOrders(sets, context.at)?.id === id;
      const left = sets.filter((set) => set.id !== id);
      const { channel } = scope;
      const next = accountText(channel, findForNewOrders(left, context.at), liveProviders?.[channel]);
      const message = isReplaced ? `Credentials revoked; in ${SECONDS} s ${next}` : 'Credentials revoked';
      return responseOf(message, changed, context.at);
    },
  });
}

/** Where new orders go, by the merchant's set for them or the platform's account. */
function accountText(channel: LiveChannel, set: CredentialSet | undefined, settings: LiveProvider | undefined): string {
  if (set) return `new orders go to the account ${set.account} (${set.id})`;
  const { endpoint, payIn } = settings ?? {};
  if (endpoint && payIn) return `new orders go to the platform's account ${accountOf(channel, payIn)}`;
  return 'the channel is NOT_CONFIGURED for the merchant: the platform has no account there';
}

function responseOf(message: string, { set, audit }: { set: CredentialSet; audit: AuditedChange | null }, at: Date) {
  return { message, data: presentCredentials(set, at), audit };
}
