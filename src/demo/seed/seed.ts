import type { Config } from '../../config.ts';
import { systemClock } from '../../lib/clock.ts';
import { addisDay, DAY_MS, startOfAddisDay } from '../../lib/dates.ts';
import { openDatabase, type Knex } from '../../lib/db.ts';
import { grantChannels, switchChannel } from '../../merchants/channels/operations.ts';
import { createDocumentStore, type DocumentStore } from '../../merchants/kyc/store.ts';
import { createMerchant, findMerchant } from '../../merchants/operations.ts';
import { createTransactionRunner, type UnitOfWork, type RunInTransaction } from '../../outbox/record.ts';
import { createReportFiles } from '../../reports/files.ts';
import { findRecoverableSettlements } from '../../settlements/recoverable.ts';
import { findRecoverableDeliveries } from '../../webhooks/delivery/recoverable.ts';
import { findRecoverableWithdrawals } from '../../withdrawals/workflow.ts';
import { hasDemoData, createSandboxKey, recallCredentials, type DemoCredentials } from './credentials.ts';
import { ABYSSINIA, NEW_SHOP, type DemoMerchant } from './demo.ts';
import { seedHistory } from './history.ts';
import { completedAt, type PlannedItem } from './items.ts';
import { applyAsDemo } from './kyc.ts';
import { seedRecentItems } from './last-days.ts';
import { linkDemoAccount } from './money.ts';
import { ensureDemoOperator, recallOperatorKey } from './operator.ts';
import { planMoves } from './payout-plan.ts';
import { planPayments } from './plan.ts';
import { seedReports } from './reports.ts';
import { subscribe, subscriptionDeps } from './subscriptions.ts';

/** The subscriptions are older by less than a day: payments since then have deliveries, those before have only events. */
const SUBSCRIBED_FOR_MS = 2 * DAY_MS;
const OPEN_MAX = 100;

/** What is shown only once: the merchant's, and the operator's key. */
export type DemoSecrets = DemoCredentials & { operatorKey: string };

export type SeedInput = {
  config: Pick<
    Config,
    | 'DATABASE_URL'
    | 'PUBLIC_BASE_URL'
    | 'API_KEY_PEPPER'
    | 'peppers'
    | 'keyRing'
    | 'egress'
    | 'KYC_DOCUMENTS_DIR'
    | 'REPORTS_DIR'
  >;
  /** What an earlier run has returned, as far as it was kept. */
  previous: Partial<DemoSecrets>;
  /** How many payments "Abyssinia Coffee" gets. */
  payments: number;
  /** Where the demo shop takes webhooks. */
  webhookUrl: string;
  /** Called with the payments made so far, while there are more to come. */
  onProgress: (made: number, total: number) => void;
};

/**
 * Makes the demo data, unless it is there already: two merchants, and 90 days of payments by the operations themselves.
 * A run that was killed is taken up by the next one; nothing is made twice. Returns what is shown only once.
 */
export async function seedDemo(input: SeedInput): Promise<DemoSecrets> {
  const url = input.config.DATABASE_URL;
  const db = openDatabase({ url, poolMax: 2, applicationName: 'meskot-seed' });
  // Nothing of the past is dispatched: its deliveries are made here, its payments need no workflow any more.
  const runInTransaction = createTransactionRunner(db, () => {});
  try {
    const made = (await hasDemoData(db))
      ? await recallCredentials({ db, runInTransaction }, input)
      : await createDemoData({ db, runInTransaction }, input);
    const stored = { stored: input.previous.operatorKey, peppers: input.config.peppers };
    return { ...made, operatorKey: await recallOperatorKey(db, stored) };
  } finally {
    await db.destroy();
  }
}

async function createDemoData(
  deps: { db: Knex; runInTransaction: RunInTransaction },
  input: SeedInput,
): Promise<DemoCredentials> {
  const until = await runUntil(deps, createDocumentStore(input.config.KYC_DOCUMENTS_DIR, input.config.keyRing));
  const payments = planPayments({ ...ABYSSINIA.plan, count: input.payments, until });
  const others = planPayments({ ...NEW_SHOP.plan, until });
  // At midnight, when nobody is in the middle of a payment.
  const subscribedAt = startOfAddisDay(addisDay(new Date(until.getTime() - SUBSCRIBED_FOR_MS)));
  const payouts = planMoves({ ...ABYSSINIA.plan, payments: input.payments, until });
  const items = inOrderOfCompletion([...payments, ...payouts]);
  const older = items.filter((item) => completedAt(item) < subscribedAt);

  let made = 0;
  const onMade = (count: number): void => {
    made += count;
    input.onProgress(made, payments.length + others.length);
  };
  const { PUBLIC_BASE_URL: baseUrl, API_KEY_PEPPER: pepper } = input.config;
  const history = { db: deps.db, baseUrl, pepper, onMade };
  await seedHistory(history, NEW_SHOP.scope, inOrderOfCompletion(others));
  await seedHistory(history, ABYSSINIA.scope, older);
  // Before there are subscriptions: nobody would deliver what tells of them.
  const files = createReportFiles(input.config.REPORTS_DIR);
  await seedReports({ ...deps, files, baseUrl }, subscribedAt);
  const recent = items.slice(older.length);
  return deps.runInTransaction(async (tx) => seedRecent(tx, input, { items: recent, until, subscribedAt }));
}

function inOrderOfCompletion(items: readonly PlannedItem[]): PlannedItem[] {
  return items.toSorted((a, b) => completedAt(a).getTime() - completedAt(b).getTime());
}

/** The instant the data ends at. The merchants remember it for the next run, should this one be killed. */
async function runUntil(
  { db, runInTransaction }: { db: Knex; runInTransaction: RunInTransaction },
  store: DocumentStore,
): Promise<Date> {
  const begun = await findMerchant(db, ABYSSINIA.scope.merchantId);
  if (begun) return new Date(begun.createdAt.getTime() + ABYSSINIA.plan.days * DAY_MS);
  const until = systemClock();
  await runInTransaction(async (tx) => {
    await ensureDemoOperator(tx.trx);
    for (const merchant of [ABYSSINIA, NEW_SHOP]) await addMerchant({ tx, store, until }, merchant);
  });
  return until;
}

type SeedStep = { tx: UnitOfWork; store: DocumentStore; until: Date };

async function addMerchant({ tx, store, until }: SeedStep, merchant: DemoMerchant): Promise<void> {
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

/** The last step, in one transaction: with it the data is complete. */
async function seedRecent(tx: UnitOfWork, { config, webhookUrl }: SeedInput, recent: Recent): Promise<DemoCredentials> {
  const { scope } = ABYSSINIA;
  const deps = subscriptionDeps(config, recent.subscribedAt);
  const { shop, flaky } = await subscribe(deps, tx, { scope, webhookUrl });
  await seedRecentItems(
    { trx: tx.trx, keyRing: config.keyRing, baseUrl: config.PUBLIC_BASE_URL, pepper: config.API_KEY_PEPPER },
    { scope, items: recent.items, until: recent.until, shopId: shop.row.id, flakyId: flaky.row.id },
  );
  // A last retry that is due, and money that is on its way: all that waits for a workflow goes through the outbox.
  for (const findRecoverable of [findRecoverableDeliveries, findRecoverableWithdrawals, findRecoverableSettlements]) {
    const open = await findRecoverable(tx.trx, { after: '', limit: OPEN_MAX, onlyPastDue: false });
    await tx.enqueue(open.map(({ message }) => message));
  }
  const sandboxKey = await createSandboxKey(tx.trx, config.API_KEY_PEPPER);
  return { merchantId: scope.merchantId, sandboxKey, webhookSecret: shop.secret };
}
