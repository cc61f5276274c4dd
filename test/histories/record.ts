import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

import { addisDay, HOUR_MS } from '../../src/lib/dates.ts';
import { createHttpClient } from '../../src/lib/http-client.ts';
import { paymentWorkflowId } from '../../src/payments/workflow.ts';
import { createFindProvider } from '../../src/providers/find-provider.ts';
import { requestRun } from '../../src/reconciliation/request.ts';
import { reconciliationId, reconciliationWorkflowId } from '../../src/reconciliation/workflow.ts';
import { requestReport } from '../../src/reports/request.ts';
import { reportWorkflowId } from '../../src/reports/workflow.ts';
import { createResendJob, findResendJob } from '../../src/webhooks/delivery/resend-jobs.ts';
import { resendWorkflowId } from '../../src/webhooks/delivery/resend-workflow.ts';
import { buy, startChaosService, PHONES } from '../chaos/service.ts';
import { requestSettlement, linkAccount } from '../support/settlements.ts';
import { skipTime } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { fund } from '../support/withdrawals.ts';
import { readDelivery } from '../support/worker.ts';
import { REFUND_SCENES } from './refunds.ts';
import { moneyOf, untilSent, type Scene, type Scenes } from './scene.ts';
import { SETTLEMENT_SCENES } from './settlements.ts';
import { WITHDRAWAL_SCENES } from './withdrawals.ts';

const RETRY_SECONDS = [60, 300, 1_800, 7_200, 43_200];
const SESSION_MINUTES = 5;
/** This phone approves after two minutes. */
const SLOWLY_MS = 121_000;

/** One scene for each workflow and each way it ends. */
const SCENES: Scenes = {
  'delivery-first-try': async (scene) => deliver(scene),
  'delivery-parked-resent': async (scene) => {
    const { fixture } = scene.service;
    scene.merchant.receiver.behave({ kind: 'answer', status: 500 });
    const workflowId = await deliver(scene, RETRY_SECONDS);
    scene.merchant.receiver.behave({ kind: 'answer', status: 200 });
    await fixture.temporal.client.workflow.getHandle(workflowId).executeUpdate('resend', { args: [null] });
    return workflowId;
  },
  'delivery-cancelled': async (scene) => {
    const { fixture } = scene.service;
    scene.merchant.receiver.behave({ kind: 'answer', status: 500 });
    const workflowId = await deliver(scene, RETRY_SECONDS.slice(0, 1));
    await fixture.temporal.client.workflow.getHandle(workflowId).cancel();
    return workflowId;
  },
  'payment-by-callback': async (scene) => {
    const workflowId = await pay(scene, PHONES.slow);
    await scene.service.simulator.advance(SLOWLY_MS);
    return workflowId;
  },
  'payment-expired': async (scene) => {
    const workflowId = await pay(scene, PHONES.silent);
    await scene.service.simulator.advance(SESSION_MINUTES * 60_000);
    await skipTime(scene.service.fixture.temporal.client, workflowId, (SESSION_MINUTES + 1) * 60_000);
    return workflowId;
  },
  'reconciliation-asked-again': async (scene) => {
    const { simulator } = scene.service;
    const { attemptId } = await buy(scene.merchant.client, { orderNo: 'ORDER-2', phone: PHONES.slow });
    await simulator.fault({ kind: 'serverError', on: 'query', channel: 'TELEBIRR' });
    await simulator.advance(SLOWLY_MS);
    await until('it to be paid', async () => (await simulator.orderOf(attemptId))?.paid);
    const workflowId = await reconcile(scene, 'TELEBIRR');
    await untilItWaits(scene, workflowId);
    await simulator.clearFaults();
    return reconcile(scene, 'TELEBIRR');
  },
  'reconciliation-given-up': async (scene) => {
    const { simulator, fixture } = scene.service;
    await simulator.fault({ kind: 'serverError', on: 'statement', channel: 'AWASH' });
    const workflowId = await reconcile(scene, 'AWASH');
    await skipTime(fixture.temporal.client, workflowId, 21 * HOUR_MS);
    await simulator.clearFaults();
    return workflowId;
  },
  'reconciliation-second-try': async (scene) => {
    await scene.service.simulator.fault({ kind: 'serverError', on: 'statement', channel: 'CBE_BIRR', next: 1 });
    const workflowId = await reconcile(scene, 'CBE_BIRR');
    await skipTime(scene.service.fixture.temporal.client, workflowId, HOUR_MS);
    return workflowId;
  },
  'due-reports': async ({ service: { fixture } }) => {
    const workflowId = 'dueReports-recorded';
    const taskQueue = `${fixture.config.TASK_QUEUE_PREFIX}reports`;
    await fixture.temporal.client.workflow.start('dueReports', { workflowId, taskQueue });
    return workflowId;
  },
  'report-given-up': async (scene) => {
    const { config, temporal } = scene.service.fixture;
    // A file at the path of the report folder.
    await rm(config.REPORTS_DIR, { recursive: true });
    await writeFile(config.REPORTS_DIR, '');
    const workflowId = await report(scene);
    await skipTime(temporal.client, workflowId, HOUR_MS);
    await temporal.client.workflow.getHandle(workflowId).result();
    await rm(config.REPORTS_DIR);
    await mkdir(config.REPORTS_DIR);
    return workflowId;
  },
  'report-ready': async (scene) => report(scene),
  'resend-job-cancelled': async (scene) => {
    const { fixture } = scene.service;
    const jobId = await resendAll(scene, 3);
    await until(
      'one to be sent',
      async () => (await findResendJob(fixture.db, { ...scene.merchant.scope, jobId })).sent > 0,
    );
    await fixture.temporal.client.workflow.getHandle(resendWorkflowId(jobId)).cancel();
    return resendWorkflowId(jobId);
  },
  'resend-job-done': async (scene) => resendWorkflowId(await resendAll(scene, 1)),
  ...REFUND_SCENES,
  ...SETTLEMENT_SCENES,
  ...WITHDRAWAL_SCENES,
};

/** Runs scenes on the test servers and writes their histories into this folder, replacing earlier ones. */
export async function recordHistories(wanted: (name: string) => boolean): Promise<void> {
  const service = await startChaosService({ WEBHOOK_CONCURRENCY_PER_SUBSCRIPTION: '1' });
  const api = await service.startApi();
  try {
    await service.fixture.startWorker().ready;
    for (const [name, play] of Object.entries(SCENES).filter(([name]) => wanted(name))) {
      const scene = { service, merchant: await service.newMerchant() };
      const lived = await play(scene);
      const { workflowId, runId } = typeof lived === 'string' ? { workflowId: lived, runId: undefined } : lived;
      await untilSent(scene, workflowId);
      const handle = service.fixture.temporal.client.workflow.getHandle(workflowId, runId, { followRuns: !runId });
      const result: unknown = await handle.result().catch(endWithoutResult);
      const history = JSON.parse(historyToJSON(await handle.fetchHistory())) as object;
      const text = JSON.stringify({ workflowId, result, history: withoutPlaces(history) }, null, 2);
      await writeFile(join(import.meta.dirname, `${name}.json`), `${text}\n`);
    }
  } finally {
    await api.stop();
    await service.close();
  }
}

/** The result of a cancelled or continued run, which returns none. */
function endWithoutResult(error: unknown): string {
  if (error instanceof Error && error.name === 'WorkflowFailedError') return 'CANCELLED';
  if (error instanceof Error && error.name === 'WorkflowExecutionContinuedAsNewError') return 'CONTINUED_AS_NEW';
  throw error;
}

/** Records an event and skips these pauses between its attempts. */
async function deliver({ service, merchant }: Scene, waitsSeconds: readonly number[] = []): Promise<string> {
  const { fixture } = service;
  const eventId = await fixture.record(merchant.scope);
  const attempts = async (count: number) =>
    until(`attempt ${count}`, async () => {
      const delivery = await readDelivery(fixture.db, eventId);
      return delivery.attempts === count && delivery.status !== 'PENDING' && delivery;
    });
  for (const [index, seconds] of waitsSeconds.entries()) {
    const { workflowId } = await attempts(index + 1);
    await skipTime(fixture.temporal.client, workflowId, seconds * 1_050 + 1_000);
  }
  return (await attempts(waitsSeconds.length + 1)).workflowId;
}

/** Requests a resend of so many delivered events, one a second. */
async function resendAll(scene: Scene, count: number): Promise<string> {
  const { fixture } = scene.service;
  const { scope } = scene.merchant;
  for (let made = 0; made < count; made += 1) await deliver(scene);
  await fixture.db.knex()('webhookDelivery').where(scope).update({ status: 'FAILED' });
  const selection = { where: 'd.merchant_id = :merchantId', values: { merchantId: scope.merchantId }, limit: count };
  const job = { owner: scope, selection, ratePerSecond: 1 };
  return (await fixture.runInTransaction((tx) => createResendJob({ clock: () => new Date() }, tx, job))).jobId;
}

/** Requests the statement of a settlement, which a workflow generates. */
async function report(scene: Scene): Promise<string> {
  const { fixture } = scene.service;
  const { scope } = scene.merchant;
  const money = moneyOf(scene);
  const { clock } = money;
  await fund(money, scope, 1_000_00n);
  await linkAccount(money, scope);
  const { requestedAt } = await requestSettlement(money, scope);
  const wanted = { kind: 'settlements', format: 'PDF', period: 'day', date: addisDay(requestedAt) } as const;
  const all = { statuses: null, channel: null, requestedBy: 'key_test' };
  const { id } = await fixture.runInTransaction((tx) => requestReport({ tx, clock }, scope, { ...wanted, ...all }));
  const workflowId = reportWorkflowId(id);
  const handle = fixture.temporal.client.workflow.getHandle(workflowId);
  await until('its workflow to be there', async () => handle.describe().catch(() => null));
  return workflowId;
}

/** Pays a session, until its workflow has queried the provider and pauses. */
async function pay({ service, merchant }: Scene, phone: string): Promise<string> {
  const { attemptId } = await buy(merchant.client, { orderNo: 'ORDER-1', phone, expiresInMinutes: SESSION_MINUTES });
  const workflowId = paymentWorkflowId(attemptId);
  await untilItWaits({ service, merchant }, workflowId);
  return workflowId;
}

async function untilItWaits({ service }: Scene, workflowId: string): Promise<void> {
  const handle = service.fixture.temporal.client.workflow.getHandle(workflowId);
  await until('the workflow to wait', async () => {
    const { events } = await handle.fetchHistory().catch(() => ({ events: [] }));
    return events?.some((event) => event.timerStartedEventAttributes);
  });
}

/** Requests a comparison of today, and waits until its workflow runs. */
async function reconcile(scene: Scene, channel: 'TELEBIRR' | 'CBE_BIRR' | 'AWASH'): Promise<string> {
  const { fixture, simulator } = scene.service;
  const clock = () => new Date();
  const http = createHttpClient();
  const findProvider = createFindProvider({ http, clock, simulatorUrl: simulator.url });
  const day = addisDay(clock());
  await fixture.runInTransaction((tx) => requestRun(tx, { clock, findProvider }, { day, channel }));
  await http.close();
  const workflowId = reconciliationWorkflowId(reconciliationId({ environment: 'sandbox', channel, day }));
  await untilSent(scene, workflowId);
  return workflowId;
}

/** Removes the names of machine and process, which differ for each recording. */
function withoutPlaces(history: object): object {
  const text = JSON.stringify(history, (name, value: unknown) => {
    if (name === 'identity' || name === 'stackTrace' || name === 'workerVersion') return undefined;
    if (typeof value !== 'string') return value;
    return PLACE.test(value) ? 'a-place' : value.replaceAll(PATH, "'a-path'");
  });
  return JSON.parse(text) as object;
}

/** `1234@host`, also as the name of a worker's own queue. */
const PLACE = /^\d+@/;
/** File URLs, as in the stack traces of Node. */
const PATH = /'\/[^']+'/g;
