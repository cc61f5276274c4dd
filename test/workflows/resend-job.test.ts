import { setTimeout as sleep } from 'node:timers/promises';

import { rows } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createResendJob, cancelResendJob, findResendJob } from '../../src/webhooks/delivery/resend-jobs.ts';
import { resendWorkflowId } from '../../src/webhooks/delivery/resend-workflow.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { resultOf } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, readDelivery, type WorkerFixture } from '../support/worker.ts';

let fixture: WorkerFixture;
let receiver: Receiver;

beforeAll(async () => {
  fixture = await createWorkerFixture({ TASK_QUEUES: 'webhooks', WEBHOOK_RETRY_SCHEDULE_SECONDS: '1' });
  await fixture.startWorker().ready;
}, 60_000);
beforeEach(async () => {
  receiver = await startReceiver();
  receiver.behave({ kind: 'answer', status: 503 });
});
afterEach(async () => receiver.close());
afterAll(async () => fixture.close());

const clock = () => new Date();

/** A merchant of which so many deliveries have failed; its receiver is back. */
async function failMany(count: number): Promise<MerchantScope> {
  const scope = await fixture.newMerchant();
  await fixture.subscribe(scope, { url: receiver.url });
  const eventIds = [];
  for (let made = 0; made < count; made += 1) eventIds.push(await fixture.record(scope));
  for (const eventId of eventIds) {
    await until('it to have failed', async () => (await readDelivery(fixture.db, eventId)).status === 'FAILED');
  }
  receiver.behave({ kind: 'answer', status: 200 });
  return scope;
}

/** Resends all of the merchant, one a second. */
const resendAll = async (owner: MerchantScope): Promise<string> => {
  const selection = { where: 'd.merchant_id = :merchantId', values: { merchantId: owner.merchantId }, limit: 100 };
  const job = { owner, selection, ratePerSecond: 1 };
  return (await fixture.runInTransaction(async (tx) => createResendJob({ clock }, tx, job))).jobId;
};
const handleOf = (jobId: string) => fixture.temporal.client.workflow.getHandle(resendWorkflowId(jobId));
const read = async (scope: MerchantScope, jobId: string) => findResendJob(fixture.db, { ...scope, jobId });
const untilSent = async (scope: MerchantScope, jobId: string, count: number) =>
  until(`${count} to be sent`, async () => (await read(scope, jobId)).sent >= count);

test('a bulk resend is a workflow, which ends when all resends have', async () => {
  const scope = await failMany(2);
  const jobId = await resendAll(scope);
  expect(await resultOf(handleOf(jobId))).toBe('DONE');
  expect(await read(scope, jobId)).toMatchObject({ status: 'DONE', matched: 2, sent: 2, delivered: 2 });
});

test('one that is cancelled by request ends its workflow, and one whose workflow is cancelled stops', async () => {
  const scope = await failMany(4);
  const byRequest = await resendAll(scope);
  await untilSent(scope, byRequest, 1);
  await fixture.runInTransaction(async (tx) => cancelResendJob(tx, { ...scope, jobId: byRequest }));
  expect(await resultOf(handleOf(byRequest))).toBe('CANCELLED');
  receiver.behave({ kind: 'answer', status: 503 });
  const other = await failMany(4);
  const byWorkflow = await resendAll(other);
  await untilSent(other, byWorkflow, 1);
  await handleOf(byWorkflow).cancel();
  await expect(resultOf(handleOf(byWorkflow))).rejects.toThrow('cancelled');
  const job = await read(other, byWorkflow);
  expect(job).toMatchObject({ status: 'CANCELLED', endedAt: expect.any(Date) });
  expect(job.sent).toBeLessThan(4);
  expect(job.sent).toBe(job.delivered);
}, 90_000);

test('one whose activity is paused sends nothing until the pause has ended', async () => {
  const scope = await failMany(14);
  const jobId = await resendAll(scope);
  await untilSent(scope, jobId, 1);
  const { workflowService } = fixture.temporal.client;
  const { namespace } = fixture.temporal.client.options;
  const activity = { namespace, execution: { workflowId: resendWorkflowId(jobId) }, type: 'runResendJob' };
  await workflowService.pauseActivity(activity);
  const waits = async (): Promise<boolean> => {
    const { raw } = await handleOf(jobId).describe();
    return raw.pendingActivities?.[0]?.state === PAUSED;
  };
  await until('the activity to pause', waits);
  const { sent } = await read(scope, jobId);
  await sleep(2_500);
  expect((await read(scope, jobId)).sent).toBe(sent);
  expect(sent).toBeLessThan(14);
  await workflowService.unpauseActivity(activity);
  expect(await resultOf(handleOf(jobId))).toBe('DONE');
}, 120_000);
/** PENDING_ACTIVITY_STATE_PAUSED of temporal.api.enums.v1. */
const PAUSED = 4;

test('one that a release without workflows has begun is found, and goes on', async () => {
  const scope = await failMany(2);
  const jobId = await resendAll(scope);
  const sql = `WITH message AS (DELETE FROM outbox WHERE workflow_id = :workflowId)
    UPDATE webhook_resend_job SET next_batch_at = now() - interval '2 minutes' WHERE id = :jobId AND ended_at IS NULL`;
  await rows(fixture.db, sql, { jobId, workflowId: resendWorkflowId(jobId) });
  await until('it to be done', async () => (await read(scope, jobId)).status === 'DONE');
}, 90_000);
