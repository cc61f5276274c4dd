import { createKey } from '../../access/api-keys.ts';
import type { AuditContext } from '../../access/audit.ts';
import { createKeyAuthenticator } from '../../access/authenticate.ts';
import { createOperator, createOperatorKey, findOperator } from '../../access/operators.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Database, Trx } from '../../lib/db.ts';
import { AppError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { createLogger } from '../../lib/log.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { createEgressGuard } from '../../webhooks/egress/egress.ts';
import {
  changeSubscription,
  createSubscription,
  listSubscriptions,
  rotateSecret,
  type SubscriptionDeps,
  type WithSecret,
} from '../../webhooks/subscriptions/operations.ts';
import { ABYSSINIA } from './demo.ts';

/** The credentials of "Abyssinia Coffee" and the keys of two operators, which the API presents only once. */
export type DemoSecrets = {
  merchantId: string;
  sandboxKey: string;
  webhookSecret: string;
  operatorKey: string;
  secondOperatorKey: string;
};

export type RecallInput = {
  config: Config;
  /** The stored credentials of an earlier start. */
  previous: Partial<DemoSecrets>;
  /** Where the demo shop receives webhooks. */
  webhookUrl: string;
};

const { scope } = ABYSSINIA;
const KEY_NAME = 'Local development';

/** The operators of the demo data, with constant ids: one confirms what the other proposes. */
export const DEMO_OPERATORS = [
  {
    id: 'opr_01DEM0PERAT0R0000000000000',
    name: 'Demo operator',
    email: 'operator@demo.invalid',
    role: 'admin',
  },
  {
    id: 'opr_02DEM0PERAT0R0000000000000',
    name: 'Second demo operator',
    email: 'second.operator@demo.invalid',
    role: 'admin',
  },
] as const;

type DemoOperator = (typeof DEMO_OPERATORS)[number];

/** Creates a demo operator. Idempotent. */
export async function ensureDemoOperator(trx: Trx, operator: DemoOperator): Promise<void> {
  await findOperator(trx, operator.id).catch(async (error: unknown) => {
    if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error;
    await createOperator(trx, operator);
  });
}

/** The audit context of the first demo operator's past actions. */
export function demoContext(tx: UnitOfWork, at: Date): AuditContext {
  return { tx, operatorId: DEMO_OPERATORS[0].id, requestId: newId('req', at.getTime()), at };
}

/** Creates the demo merchant's key, the last step of the demo data. */
export async function createSandboxKey(trx: Trx, pepper: string): Promise<string> {
  return (await createKey({ trx, pepper, clock: systemClock }, { ...scope, kind: 'secret', name: KEY_NAME })).secret;
}

/** The stored credentials that are still valid, and new ones in place of the others. The subscriptions follow the URL. */
export async function recallCredentials(
  { db, runInTransaction }: { db: Database; runInTransaction: RunInTransaction },
  { config, previous, webhookUrl }: RecallInput,
): Promise<DemoSecrets> {
  const { peppers, API_KEY_PEPPER: pepper } = config;
  const keys = createKeyAuthenticator({ db, peppers, clock: systemClock, log: createLogger('silent', 'seed') });
  const recallKey = async (stored: string | undefined, create: (trx: Trx) => Promise<string>): Promise<string> => {
    const isValid = keys.authenticateKey(stored ?? '', '127.0.0.1').then(
      () => true,
      () => false,
    );
    return stored !== undefined && (await isValid) ? stored : db.transaction(create);
  };
  const recallOperatorKey = async (stored: string | undefined, operator: (typeof DEMO_OPERATORS)[number]) =>
    recallKey(stored, async (trx) => {
      await ensureDemoOperator(trx, operator);
      const key = { operatorId: operator.id, name: KEY_NAME };
      return (await createOperatorKey({ trx, pepper, clock: systemClock }, key)).secret;
    });
  const secrets = {
    merchantId: scope.merchantId,
    sandboxKey: await recallKey(previous.sandboxKey, (trx) => createSandboxKey(trx, pepper)),
    webhookSecret: await runInTransaction((tx) => recallWebhookSecret(tx, { config, previous, webhookUrl })),
    operatorKey: await recallOperatorKey(previous.operatorKey, DEMO_OPERATORS[0]),
    secondOperatorKey: await recallOperatorKey(previous.secondOperatorKey, DEMO_OPERATORS[1]),
  };
  await keys.flush();
  return secrets;
}

/** A healthy, a flaky and an inactive subscription. */
const demoSubscriptions = (webhookUrl: string) => ({
  shop: { description: 'Demo shop', url: webhookUrl, eventTypes: ['*' as const], active: true },
  flaky: {
    description: 'Accounting, overloaded now and then',
    url: new URL('/flaky', webhookUrl).href,
    eventTypes: ['checkout.completed' as const, 'checkout.failed' as const, 'checkout.canceled' as const],
    active: true,
  },
  old: {
    description: 'Old shop, switched off',
    url: 'https://old-shop.example.com/webhooks',
    eventTypes: ['payment.succeeded' as const],
    active: false,
  },
});

/** The dependencies of the subscription operations, from the settings. */
export function subscriptionDeps({ keyRing, egress }: Pick<Config, 'keyRing' | 'egress'>, at: Date): SubscriptionDeps {
  return { clock: () => at, keyRing, checkUrl: createEgressGuard(egress).checkUrl };
}

/** Creates the three subscriptions; the secret is the shop's. */
export async function subscribe(deps: SubscriptionDeps, tx: UnitOfWork, webhookUrl: string) {
  const add = async (wanted: (typeof list)[keyof typeof list]): Promise<WithSecret> =>
    createSubscription(deps, tx, { ...scope, ...wanted, signatureEncoding: 'base64', headers: {} });
  const list = demoSubscriptions(webhookUrl);
  const [shop, flaky] = [await add(list.shop), await add(list.flaky)];
  await add(list.old);
  return { shopId: shop.row.id, flakyId: flaky.row.id, webhookSecret: shop.secret };
}

/**
 * The shop's secret. Subscriptions whose URL differs in its port only get the shop's new one; other differences are the
 * developer's.
 */
async function recallWebhookSecret(tx: UnitOfWork, { config, previous, webhookUrl }: RecallInput): Promise<string> {
  const deps = subscriptionDeps(config, systemClock());
  const wanted = demoSubscriptions(webhookUrl);
  let secret = '';
  for (const { id: subscriptionId, url, description, secretHint } of await listSubscriptions(tx.trx, scope)) {
    const target = Object.values(wanted).find((one) => one.description === description)?.url;
    if (target !== undefined && url !== target && withPortOf(url, target) === target) {
      await changeSubscription(deps, tx, { ...scope, subscriptionId, changes: { url: target } });
    }
    if (description !== wanted.shop.description) continue;
    const { webhookSecret = '' } = previous;
    const rotated = { ...scope, subscriptionId, overlapSeconds: 0, force: true };
    secret = webhookSecret.endsWith(secretHint) ? webhookSecret : (await rotateSecret(deps, tx, rotated)).secret;
  }
  return secret;
}

function withPortOf(url: string, other: string): string {
  return Object.assign(new URL(url), { port: new URL(other).port }).href;
}
