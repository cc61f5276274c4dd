import { listKeys } from '../../access/api-keys.ts';
import { runAudited } from '../../access/operator-route.ts';
import { systemClock } from '../../lib/clock.ts';
import { addisDay, DAY_MS, startOfAddisDay } from '../../lib/dates.ts';
import { type Database, openDatabase, rows } from '../../lib/db.ts';
import { toBirr } from '../../lib/money.ts';
import { createDocumentStore } from '../../merchants/kyc/store.ts';
import { createTransactionRunner, type RunInTransaction, type UnitOfWork } from '../../outbox/record.ts';
import { findRecoverableWithdrawals } from '../../payouts/withdrawals/workflow.ts';
import { recordReceipt } from '../../reconciliation/receipts/operations.ts';
import { requestRun } from '../../reconciliation/request.ts';
import { createReportFiles } from '../../reports/files.ts';
import { createGenerateReport } from '../../reports/generate.ts';
import { readPeriod } from '../../reports/period.ts';
import { requestReport } from '../../reports/request.ts';
import { findRecoverableSettlements } from '../../settlements/workflow.ts';
import { findRecoverableDeliveries } from '../../webhooks/delivery/workflow.ts';
import { ABYSSINIA, DEMO_KEY_ID, NEW_SHOP } from './demo.ts';
import { scriptedProvider, seedHistory, type HistoryDeps, type HistoryItem } from './history.ts';
import {
  type DemoSecrets,
  type RecallInput,
  createSandboxKey,
  demoContext,
  ensureMerchants,
  recallCredentials,
  subscribe,
  subscriptionDeps,
} from './merchants.ts';
import { paymentItem, withOneHeld } from './payments.ts';
import { payoutItems } from './payouts.ts';
import { planPayments } from './plan.ts';
import { refundItems } from './refunds.ts';
import { writeSimulatorHistory } from './simulator-history.ts';
import { seedDeliveries } from './webhook-history.ts';

/** Rounded to a day. Payments since then have deliveries; earlier ones have only events. */
const SUBSCRIBED_FOR_MS = 2 * DAY_MS;
const OPEN_MAX = 100;
const RECEIPT_SANTIM = 1_250_00n;

export type SeedInput = RecallInput & {
  /** The number of payments of "Abyssinia Coffee". */
  payments: number;
  /** Where a simulator stores its orders; without one, none gets the past. */
  simulatorFile?: string;
  /** Called with the number of payments and payouts so far. */
  onProgress?: (count: number, total: number) => void;
};

type Deps = { db: Database; runInTransaction: RunInTransaction };

/**
 * Creates the demo data: two merchants, and 90 days of payments by the operations themselves. Idempotent, and continues
 * after a kill. Returns the credentials.
 */
export async function seedDemo(input: SeedInput): Promise<DemoSecrets> {
  const { config, previous, simulatorFile } = input;
  const db = openDatabase({ url: config.DATABASE_URL, poolMax: 2, applicationName: 'meskot-seed' });
  // The past needs no dispatch: its deliveries are recorded here, and its payments need no workflow.
  const deps = { db, runInTransaction: createTransactionRunner(db, () => {}) };
  try {
    // The key is created last, and keys are never deleted.
    const isComplete = (await listKeys(db, ABYSSINIA.scope)).length > 0;
    const created = isComplete ? {} : await createDemoData(deps, input);
    if (simulatorFile !== undefined) await writeSimulatorHistory(db, simulatorFile);
    return await recallCredentials(deps, { ...input, previous: { ...previous, ...created } });
  } finally {
    await db.destroy();
  }
}

async function createDemoData(deps: Deps, input: SeedInput): Promise<Partial<DemoSecrets>> {
  const { config, payments, webhookUrl } = input;
  const { PUBLIC_BASE_URL: baseUrl, API_KEY_PEPPER: pepper, keyRing } = config;
  const until = await ensureMerchants(deps, createDocumentStore(config.files.documents, keyRing));
  const others = planPayments({ ...NEW_SHOP.plan, until }).map(paymentItem);
  const items = [
    ...withOneHeld(planPayments({ ...ABYSSINIA.plan, count: payments, until })).map(paymentItem),
    ...payoutItems({ ...ABYSSINIA.plan, payments, until }),
    ...refundItems(until),
  ];
  // At midnight, when no payment is in progress.
  const subscribedAt = startOfAddisDay(addisDay(new Date(until.getTime() - SUBSCRIBED_FOR_MS)));
  const isOlder = ({ completedAt }: HistoryItem): boolean => completedAt < subscribedAt;
  let seeded = 0;
  const onSeeded = (count: number): void => {
    seeded += count;
    input.onProgress?.(seeded, items.length + others.length);
  };
  const { db } = deps;
  const history: HistoryDeps = { db, inTransaction: db.transaction, scope: ABYSSINIA.scope, baseUrl, onSeeded };
  await seedHistory({ ...history, scope: NEW_SHOP.scope }, others);
  await seedHistory(history, items.filter(isOlder));
  // Before there are subscriptions: their events would not be delivered.
  await seedReports(deps, input, subscribedAt);

  // One transaction completes the data.
  return deps.runInTransaction(async (tx) => {
    const { trx } = tx;
    const { webhookSecret, ...ids } = await subscribe(subscriptionDeps(config, subscribedAt), tx, webhookUrl);
    const recent = items.filter((item) => !isOlder(item));
    await seedHistory({ ...history, db: trx, inTransaction: (work) => work(trx) }, recent);
    await seedDeliveries({ trx, keyRing }, { ...ids, until });
    await recordUnallocated(tx, until);
    await requestYesterday(tx, until);
    // Last retries that are due and payouts in progress need their workflows.
    for (const findRecoverable of [findRecoverableDeliveries, findRecoverableWithdrawals, findRecoverableSettlements]) {
      const open = await findRecoverable(trx, { after: '', limit: OPEN_MAX, onlyPastDue: false });
      await tx.enqueue(open.map(({ message }) => message));
    }
    return { webhookSecret, sandboxKey: await createSandboxKey(trx, pepper) };
  });
}

/** Money that has come to the operator's bank account without a payer, as an operator has booked it. */
async function recordUnallocated(tx: UnitOfWork, at: Date): Promise<void> {
  const { environment } = ABYSSINIA.scope;
  await runAudited(demoContext(tx, at), { action: 'receipt.record-unallocated' }, async () => {
    const receipt = { environment, amountSantim: RECEIPT_SANTIM, bankReference: 'FT26DEMO0001', at };
    const { money } = await recordReceipt(tx, receipt);
    const after = { amount: toBirr(RECEIPT_SANTIM), bankReference: receipt.bankReference };
    return { audit: { resourceType: 'receipt', resourceId: money.id, environment, after } };
  });
}

/** For the list of compared days, which is empty until the first night. */
async function requestYesterday(tx: UnitOfWork, until: Date): Promise<void> {
  const day = addisDay(new Date(until.getTime() - DAY_MS));
  const { environment } = ABYSSINIA.scope;
  for (const { value: channel } of ABYSSINIA.plan.channels) {
    const deps = { findProvider: scriptedProvider(channel, {}), clock: () => until };
    await requestRun(tx, deps, { day, channel, environment });
  }
}

/** Generates two reports of each merchant over the last full week before an instant. Completes an interrupted run. */
async function seedReports({ db, runInTransaction }: Deps, { config }: SeedInput, until: Date): Promise<void> {
  const { startDate: date } = readPeriod({ period: 'week' }, until);
  const week = { period: 'week', date, statuses: null, channel: null, requestedBy: DEMO_KEY_ID } as const;
  const findRequested = async () =>
    rows<{ id: string }>(db, 'SELECT id FROM report WHERE requested_by = :requestedBy', week);
  if ((await findRequested()).length === 0) {
    await runInTransaction(async (tx) => {
      for (const { scope } of [ABYSSINIA, NEW_SHOP]) {
        await requestReport({ tx, clock: systemClock }, scope, { ...week, kind: 'payments', format: 'CSV' });
        await requestReport({ tx, clock: systemClock }, scope, { ...week, kind: 'balance', format: 'XLSX' });
      }
    });
  }
  const { PUBLIC_BASE_URL: baseUrl } = config;
  const files = createReportFiles(config.files.reports);
  const generate = createGenerateReport({ db, runInTransaction, files, baseUrl, clock: systemClock });
  for (const { id } of await findRequested()) await generate(id);
}
