import type { Config } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { addisDay, DAY_MS, startOfAddisDay } from '../../lib/dates.ts';
import { type Database, openDatabase } from '../../lib/db.ts';
import { grantChannels, switchChannel } from '../../merchants/channels/operations.ts';
import { createDocumentStore, type DocumentStore } from '../../merchants/kyc/store.ts';
import { createMerchant, findMerchant } from '../../merchants/operations.ts';
import { createTransactionRunner, type UnitOfWork, type RunInTransaction } from '../../outbox/record.ts';
import { createReportFiles } from '../../reports/files.ts';
import { findRecoverableSettlements } from '../../settlements/workflow.ts';
import { findRecoverableDeliveries } from '../../webhooks/delivery/workflow.ts';
import { findRecoverableWithdrawals } from '../../withdrawals/workflow.ts';
import { hasDemoData, createSandboxKey, recallCredentials, type DemoCredentials } from './credentials.ts';
import { ABYSSINIA, NEW_SHOP, type DemoMerchant } from './demo.ts';
import { completedAt, seedHistory, seedItems, type PlannedItem } from './history.ts';
import { applyAsDemo } from './kyc.ts';
import { DEMO_OPERATOR, ensureDemoOperator, recallOperatorKey, SECOND_DEMO_OPERATOR } from './operator.ts';
import { planPayouts } from './payout-plan.ts';
import { linkDemoAccount } from './payouts.ts';
import { planPayments } from './plan.ts';
import { seedReports } from './reports.ts';
import { subscribe, subscriptionDeps } from './subscriptions.ts';
import { seedDeliveries } from './webhook-history.ts';

/** Rounded to a day. Payments since then have deliveries; earlier ones have only events. */
const SUBSCRIBED_FOR_MS = 2 * DAY_MS;
const OPEN_MAX = 100;

/** The merchant's credentials and the keys of two operators. */
export type DemoSecrets = DemoCredentials & { operatorKey: string; secondOperatorKey: string };

export type SeedInput = {
  config: Config;
  /** The stored result of an earlier run. */
  previous: Partial<DemoSecrets>;
  /** The number of payments of "Abyssinia Coffee". */
  payments: number;
  /** Where the demo shop receives webhooks. */
  webhookUrl: string;
  /** Called with the number of payments so far. */
  onProgress: (count: number, total: number) => void;
};

/**
 * Creates the demo data: two merchants, and 90 days of payments by the operations themselves. Idempotent, and continues
 * after a kill. Returns the credentials.
 */
export async function seedDemo(input: SeedInput): Promise<DemoSecrets> {
  const { config, previous } = input;
  const db = openDatabase({ url: config.DATABASE_URL, poolMax: 2, applicationName: 'meskot-seed' });
  // The past needs no dispatch: its deliveries are recorded here, and its payments need no workflow.
  const deps = { db, runInTransaction: createTransactionRunner(db, () => {}) };
  try {
    const credentials = (await hasDemoData(db))
      ? await recallCredentials(deps, input)
      : await createDemoData(deps, input);
    const { peppers } = config;
    const { operatorKey, secondOperatorKey } = previous;
    return {
      ...credentials,
      operatorKey: await recallOperatorKey(db, DEMO_OPERATOR, { stored: operatorKey, peppers }),
      secondOperatorKey: await recallOperatorKey(db, SECOND_DEMO_OPERATOR, { stored: secondOperatorKey, peppers }),
    };
  } finally {
    await db.destroy();
  }
}

type Deps = { db: Database; runInTransaction: RunInTransaction };

async function createDemoData(deps: Deps, input: SeedInput): Promise<DemoCredentials> {
  const { PUBLIC_BASE_URL: baseUrl, API_KEY_PEPPER: pepper, KYC_DOCUMENTS_DIR, REPORTS_DIR, keyRing } = input.config;
  const until = await ensureMerchants(deps, createDocumentStore(KYC_DOCUMENTS_DIR, keyRing));
  const payments = planPayments({ ...ABYSSINIA.plan, count: input.payments, until });
  const others = planPayments({ ...NEW_SHOP.plan, until });
  const payouts = planPayouts({ ...ABYSSINIA.plan, payments: input.payments, until });
  const items = inOrderOfCompletion([...payments, ...payouts]);
  // At midnight, when no payment is in progress.
  const subscribedAt = startOfAddisDay(addisDay(new Date(until.getTime() - SUBSCRIBED_FOR_MS)));
  const older = items.filter((item) => completedAt(item) < subscribedAt);

  let seeded = 0;
  const onSeeded = (count: number): void => {
    seeded += count;
    input.onProgress(seeded, payments.length + others.length);
  };
  const history = { db: deps.db, baseUrl, pepper, onSeeded };
  await seedHistory(history, NEW_SHOP.scope, inOrderOfCompletion(others));
  await seedHistory(history, ABYSSINIA.scope, older);
  // Before there are subscriptions: their events would not be delivered.
  await seedReports({ ...deps, files: createReportFiles(REPORTS_DIR), baseUrl }, subscribedAt);
  const recent = { items: items.slice(older.length), until, subscribedAt };
  return deps.runInTransaction(async (tx) => seedRecent(tx, input, recent));
}

function inOrderOfCompletion(items: readonly PlannedItem[]): PlannedItem[] {
  return items.toSorted((a, b) => completedAt(a).getTime() - completedAt(b).getTime());
}

/** The end of the history. A run after a kill derives it from the merchant's creation. */
async function ensureMerchants({ db, runInTransaction }: Deps, store: DocumentStore): Promise<Date> {
  const existing = await findMerchant(db, ABYSSINIA.scope.merchantId);
  if (existing) return new Date(existing.createdAt.getTime() + ABYSSINIA.plan.days * DAY_MS);
  const until = systemClock();
  await runInTransaction(async (tx) => {
    await ensureDemoOperator(tx.trx);
    for (const merchant of [ABYSSINIA, NEW_SHOP]) await addMerchant({ tx, store, until }, merchant);
  });
  return until;
}

async function addMerchant(
  { tx, store, until }: { tx: UnitOfWork; store: DocumentStore; until: Date },
  merchant: DemoMerchant,
): Promise<void> {
  const { scope, name, plan } = merchant;
  const createdAt = new Date(until.getTime() - plan.days * DAY_MS);
  await createMerchant(tx.trx, { id: scope.merchantId, name, createdAt });
  await grantChannels(tx.trx, scope);
  await applyAsDemo({ tx, store }, merchant, createdAt);
  if (merchant.hasBankAccount) await linkDemoAccount(tx, scope, createdAt);
  for (const channel of merchant.channelsOff) {
    await switchChannel({ tx, findProvider: () => null }, { ...scope, channel, enabled: false });
  }
}

type Recent = { items: PlannedItem[]; until: Date; subscribedAt: Date };

/** The last step. One transaction completes the data. */
async function seedRecent(tx: UnitOfWork, { config, webhookUrl }: SeedInput, recent: Recent): Promise<DemoCredentials> {
  const { scope } = ABYSSINIA;
  const deps = subscriptionDeps(config, recent.subscribedAt);
  const { shop, flaky } = await subscribe(deps, tx, { scope, webhookUrl });
  const { trx } = tx;
  const { PUBLIC_BASE_URL: baseUrl, API_KEY_PEPPER: pepper, keyRing } = config;
  await seedItems({ trx, scope, baseUrl, pepper }, recent.items);
  await seedDeliveries({ trx, keyRing }, { shopId: shop.row.id, flakyId: flaky.row.id, until: recent.until });
  // Last retries that are due and payouts in progress need their workflows.
  for (const findRecoverable of [findRecoverableDeliveries, findRecoverableWithdrawals, findRecoverableSettlements]) {
    const open = await findRecoverable(trx, { after: '', limit: OPEN_MAX, onlyPastDue: false });
    await tx.enqueue(open.map(({ message }) => message));
  }
  const sandboxKey = await createSandboxKey(trx, pepper);
  return { merchantId: scope.merchantId, sandboxKey, webhookSecret: shop.secret };
}
