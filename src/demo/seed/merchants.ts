import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

import { createKey, createOperatorKey, isValidKey } from '../../access/api-keys.ts';
import type { AuditContext } from '../../access/audit.ts';
import { runAudited } from '../../access/operator-route.ts';
import { createOperator } from '../../access/operators.ts';
import { hashPassword, isPassword } from '../../access/users/passwords.ts';
import { changeUser, createUser, findUserByEmail, setMembership } from '../../access/users/users.ts';
import type { Config } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../lib/dates.ts';
import type { Database, Trx } from '../../lib/db.ts';
import { newId } from '../../lib/ids.ts';
import { grantChannels, switchChannel } from '../../merchants/channels/operations.ts';
import {
  type KycCommand,
  type Step,
  decideKyc,
  saveApplication,
  submitApplication,
} from '../../merchants/kyc/application.ts';
import { addDocument, storeDocument } from '../../merchants/kyc/documents.ts';
import { kycAudit } from '../../merchants/kyc/operator-routes.ts';
import { lockApplication } from '../../merchants/kyc/queries.ts';
import type { DocumentStore } from '../../merchants/kyc/store.ts';
import { createMerchant, findMerchant } from '../../merchants/operations.ts';
import type { RunInTransaction, UnitOfWork } from '../../outbox/record.ts';
import { linkBankAccount } from '../../settlements/bank-account/account.ts';
import { createEgressGuard } from '../../webhooks/egress/egress.ts';
import {
  type SubscriptionDeps,
  changeSubscription,
  createSubscription,
  listSubscriptions,
  rotateSecret,
} from '../../webhooks/subscriptions/operations.ts';
import type { NewSubscription } from '../../webhooks/subscriptions/schema.ts';
import { ensureAuthenticators } from './authenticator.ts';
import { ABYSSINIA, DEMO_KEY_ID, DEMO_OPERATORS, DEMO_PEOPLE, type DemoMerchant, NEW_SHOP } from './demo.ts';

const DOCUMENTS = ['TRADE_LICENCE', 'TIN_CERTIFICATE', 'OWNER_ID'] as const;

/** Creates the merchants. Returns the end of their history, which a run after a kill derives from their creation. */
export async function ensureMerchants(
  { db, runInTransaction }: { db: Database; runInTransaction: RunInTransaction },
  store: DocumentStore,
): Promise<Date> {
  const existing = await findMerchant(db, ABYSSINIA.scope.merchantId);
  if (existing) return new Date(existing.createdAt.getTime() + ABYSSINIA.plan.days * DAY_MS);
  const until = systemClock();
  await runInTransaction(async (tx) => {
    await createDemoOperators(tx.trx);
    for (const merchant of [ABYSSINIA, NEW_SHOP]) {
      const { scope, name, plan, isApproved } = merchant;
      const createdAt = new Date(until.getTime() - plan.days * DAY_MS);
      await createMerchant(tx.trx, { id: scope.merchantId, name, createdAt });
      await grantChannels(tx.trx, scope);
      await applyForKyc({ tx, store }, merchant, createdAt);
      if (isApproved) {
        const account = { bankCode: 'CBE', accountNumber: '1000204719583', accountName: `${name} PLC` } as const;
        await linkBankAccount(tx, scope, { ...account, requestedBy: DEMO_KEY_ID, at: createdAt });
        continue;
      }
      for (const channel of ['CBE_BIRR', 'AWASH'] as const) {
        await switchChannel({ tx, findProvider: () => null }, { ...scope, channel, enabled: false });
      }
    }
  });
  return until;
}

/** Submits a merchant's live application on this day; it is approved a few hours later if the merchant is. */
async function applyForKyc(
  { tx, store }: { tx: UnitOfWork; store: DocumentStore },
  { scope, name, isApproved, plan }: DemoMerchant,
  day: Date,
): Promise<void> {
  const at = (hours: number): Date => new Date(day.getTime() + hours * HOUR_MS);
  const live = { merchantId: scope.merchantId, environment: 'live' } as const;
  const step = (hours: number): Step => ({ ...live, actor: DEMO_KEY_ID, at: at(hours) });
  const tin = String(plan.seed).padStart(10, '0');
  await saveApplication(tx, step(1), {
    legalName: `${name} PLC`,
    tradeName: name,
    businessType: 'PRIVATE_LIMITED_COMPANY',
    tin,
    tradeLicenceNumber: `AA/AA/1/${tin.slice(3)}/2015`,
    address: 'Bole, woreda 3, house 112',
    region: 'ADDIS_ABABA',
    contactPerson: 'Selam Tesfaye',
    phone: '251911000001',
    supportPhone: '251911000001',
    email: 'owner@shop.example.et',
    expectedMonthlyVolume: 250_000,
  });
  for (const kind of DOCUMENTS) {
    const fileName = `${kind.toLowerCase().replaceAll('_', '-')}.pdf`;
    const bytes = await pdfOf(`${name}, demo data: ${kind.toLowerCase().replaceAll('_', ' ')}`);
    const file = { contentType: 'application/pdf', bytes };
    await addDocument(tx, step(1), { ...file, kind, fileName, stored: await storeDocument(store, file) });
  }
  const { submissions: submission } = await submitApplication(tx, step(2));
  if (!isApproved) return;
  const commands: KycCommand[] = [{ type: 'review' }, { type: 'approve', submission }];
  for (const [index, command] of commands.entries()) {
    await runAudited(demoContext(tx, at(4 + index)), { action: `kyc.${command.type}` }, async (context) => {
      const before = await lockApplication(tx.trx, live);
      return { audit: kycAudit(before, await decideKyc(tx, { ...live, ...context }, command)) };
    });
  }
}

/** A page for the operator who reviews it. */
async function pdfOf(line: string): Promise<Buffer> {
  const { default: PDFDocument } = await import('pdfkit');
  const document = new PDFDocument({ size: 'A5' });
  document.text(line).end();
  return buffer(document);
}

/** The credentials of "Abyssinia Coffee" and the keys of two operators, which the API presents only once. */
export type DemoSecrets = {
  merchantId: string;
  sandboxKey: string;
  webhookSecret: string;
  operatorKey: string;
  secondOperatorKey: string;
  portalPassword: string;
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

const [FIRST_OPERATOR, SECOND_OPERATOR] = DEMO_OPERATORS;

export async function createDemoOperators(trx: Trx): Promise<void> {
  for (const operator of DEMO_OPERATORS) await createOperator(trx, operator);
}

export function demoContext(tx: UnitOfWork, at: Date): AuditContext {
  return { tx, operatorId: FIRST_OPERATOR.id, requestId: newId('req', at.getTime()), at };
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
  const recallKey = async (stored: string | undefined, create: (trx: Trx) => Promise<string>): Promise<string> =>
    stored !== undefined && (await isValidKey(db, stored, peppers)) ? stored : db.transaction(create);
  const recallOperatorKey = async (stored: string | undefined, operatorId: string): Promise<string> =>
    recallKey(stored, async (trx) => {
      const created = await createOperatorKey({ trx, pepper, clock: systemClock }, { operatorId, name: KEY_NAME });
      return created.secret;
    });
  const portalPassword = await recallPeople(db, previous.portalPassword);
  await ensureAuthenticators(db, config.keyRing);
  return {
    merchantId: scope.merchantId,
    sandboxKey: await recallKey(previous.sandboxKey, (trx) => createSandboxKey(trx, pepper)),
    webhookSecret: await runInTransaction((tx) => recallWebhookSecret(tx, { config, previous, webhookUrl })),
    operatorKey: await recallOperatorKey(previous.operatorKey, FIRST_OPERATOR.id),
    secondOperatorKey: await recallOperatorKey(previous.secondOperatorKey, SECOND_OPERATOR.id),
    portalPassword,
  };
}

const PASSWORD_BYTES = 12;

/**
 * The accounts of the demo merchants' people and of the demo operators, who share one password. Returns the stored one
 * where it is still theirs; else all get a new one.
 */
async function recallPeople(db: Database, stored = ''): Promise<string> {
  const people = [...DEMO_PEOPLE, ...DEMO_OPERATORS];
  const users = await Promise.all(people.map(async ({ email }) => findUserByEmail(db, email)));
  const [first] = users;
  if (first && !users.includes(undefined) && (await isPassword(first.passwordHash, stored))) return stored;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await db.transaction(async (trx) => {
    for (const [index, { email, name, ...more }] of people.entries()) {
      const existing = users[index];
      if (existing) await changeUser(trx, existing.id, { passwordHash: await hashPassword(password) });
      const { id: userId } = existing ?? (await createUser(trx, { email, name, password }));
      if ('merchantId' in more) await setMembership(trx, { userId, ...more });
    }
  });
  return password;
}

type Wanted = Pick<NewSubscription, 'description' | 'url' | 'eventTypes' | 'active'>;

const demoSubscriptions = (webhookUrl: string): Record<'shop' | 'flaky' | 'old', Wanted> => ({
  shop: { description: 'Demo shop', url: webhookUrl, eventTypes: ['*'], active: true },
  flaky: {
    description: 'Accounting, overloaded now and then',
    url: new URL('/flaky', webhookUrl).href,
    eventTypes: ['checkout.completed', 'checkout.failed', 'checkout.canceled'],
    active: true,
  },
  old: {
    description: 'Old shop, switched off',
    url: 'https://old-shop.example.com/webhooks',
    eventTypes: ['payment.succeeded'],
    active: false,
  },
});

/** The dependencies of the subscription operations, from the settings. */
export function subscriptionDeps(
  { keyRing, egress, PUBLIC_BASE_URL: baseUrl }: Pick<Config, 'keyRing' | 'egress' | 'PUBLIC_BASE_URL'>,
  at: Date,
): SubscriptionDeps {
  return { clock: () => at, keyRing, checkUrl: createEgressGuard(egress).checkUrl, baseUrl };
}

/** Creates the three subscriptions; the secret is the shop's. */
export async function subscribe(deps: SubscriptionDeps, tx: UnitOfWork, webhookUrl: string) {
  const add = async (wanted: Wanted) =>
    createSubscription(deps, tx, { ...scope, ...wanted, signatureEncoding: 'base64', headers: {} });
  const wanted = demoSubscriptions(webhookUrl);
  const [shop, flaky] = [await add(wanted.shop), await add(wanted.flaky)];
  await add(wanted.old);
  return { shopId: shop.row.id, flakyId: flaky.row.id, webhookSecret: shop.secret };
}

/**
 * The shop's secret. Subscriptions whose URL differs in its port only get the shop's new one; other differences are the
 * developer's.
 */
async function recallWebhookSecret(tx: UnitOfWork, { config, previous, webhookUrl }: RecallInput): Promise<string> {
  const deps = subscriptionDeps(config, systemClock());
  const wanted = demoSubscriptions(webhookUrl);
  const found = await listSubscriptions(tx.trx, scope);
  for (const { id: subscriptionId, url, description } of found) {
    const target = Object.values(wanted).find((one) => one.description === description)?.url ?? url;
    const moved = Object.assign(new URL(url), { port: new URL(target).port }).href;
    if (url === target || moved !== target) continue;
    await changeSubscription(deps, tx, { ...scope, subscriptionId, changes: { url: target } });
  }
  const { webhookSecret = '' } = previous;
  const shop = found.find(({ description }) => description === wanted.shop.description);
  if (!shop || webhookSecret.endsWith(shop.secretHint)) return webhookSecret;
  const rotation = { ...scope, subscriptionId: shop.id, overlapSeconds: 0, force: true };
  return (await rotateSecret(deps, tx, rotation)).secret;
}
