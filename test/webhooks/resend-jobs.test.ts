import type { MerchantScope } from '../../src/lib/scope.ts';
import { deliveryConditions } from '../../src/webhooks/delivery/queries.ts';
import { cancelResendJob, createResendJob, findResendJob } from '../../src/webhooks/delivery/resend-jobs.ts';
import { requestResend } from '../../src/webhooks/delivery/resend.ts';
import { SubscriptionRow } from '../../src/webhooks/subscriptions/model.ts';
import { stubKey } from '../support/http.ts';
import { runResendBatches } from '../support/resend-jobs.ts';
import { startWebhookApi } from './api.ts';
import { createFixture, type Fixture } from './fixture.ts';

let fixture: Fixture;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = await createFixture();
});
beforeEach(async () => {
  scope = await fixture.newMerchant();
  fixture.clock.now = new Date('2025-06-15T12:00:00.000Z');
});
afterAll(async () => fixture.drop());

const range = {
  startDate: '2025-06-15',
  endDate: '2025-06-15',
  from: new Date('2025-06-14T21:00:00Z'),
  until: new Date('2025-06-15T21:00:00Z'),
};
const jobDeps = () => ({ ...fixture.deps, runInTransaction: fixture.runInTransaction });
const startJob = async (limit = 10_000, ratePerSecond: number | null = null) =>
  fixture.runInTransaction(async (tx) =>
    createResendJob(fixture.deps, tx, {
      owner: scope,
      selection: { ...deliveryConditions({ ...scope, status: ['FAILED'], range, resourceIds: null }), limit },
      ratePerSecond,
    }),
  );
const tick = async (ratePerSecond: number): Promise<number> => {
  fixture.clock.now = new Date(fixture.clock.now.getTime() + 1_000);
  return runResendBatches(jobDeps(), ratePerSecond);
};
const failMany = async (count: number): Promise<string[]> => {
  await fixture.subscribe(scope);
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) ids.push((await fixture.failedDelivery(scope)).deliveryId);
  return ids;
};

test('a resend job requests resends at its rate, counts their results, and is DONE when all are complete', async () => {
  const ids = await failMany(5);
  const job = await startJob();
  expect(job.matched).toBe(5);

  expect([await tick(2), await tick(2), await tick(2), await tick(2)]).toEqual([2, 2, 1, 0]);
  expect(await findResendJob(fixture.db, { ...scope, jobId: job.jobId })).toMatchObject({ status: 'RUNNING', sent: 5 });

  for (const [index, id] of ids.entries()) await fixture.attempt(id, { httpStatus: index === 0 ? 500 : 200 });
  await tick(2);
  expect(await findResendJob(fixture.db, { ...scope, jobId: job.jobId })).toMatchObject({
    status: 'DONE',
    matched: 5,
    sent: 5,
    delivered: 4,
    failed: 1,
    endedAt: fixture.clock.now,
  });
});

test('a resend job keeps a lower rate of its own, and never exceeds that of the setting', async () => {
  await failMany(5);
  const { jobId } = await startJob(3, 1);
  expect([await tick(2), await tick(2)]).toEqual([1, 1]);
  expect(await findResendJob(fixture.db, { ...scope, jobId })).toMatchObject({ ratePerSecond: 1 });
  await fixture.runInTransaction(async (tx) => cancelResendJob(tx, { ...scope, jobId }));
  await startJob(3, 1_000);
  expect([await tick(2), await tick(2)]).toEqual([2, 1]);
});

test('two workers that tick a resend job in the same second keep its rate and send nothing twice', async () => {
  await failMany(6);
  await startJob();
  fixture.enqueued.length = 0;
  fixture.clock.now = new Date(fixture.clock.now.getTime() + 1_000);
  await Promise.all([runResendBatches(jobDeps(), 2), runResendBatches(jobDeps(), 2), runResendBatches(jobDeps(), 2)]);
  await runResendBatches(jobDeps(), 2);
  expect(fixture.enqueued).toHaveLength(2);
  while ((await tick(2)) > 0);
  expect(new Set(fixture.enqueued.map((message) => message.workflowId)).size).toBe(6);
  expect(fixture.enqueued).toHaveLength(6);
});

test('a resend job does not send deliveries that succeeded meanwhile, and counts them as delivered', async () => {
  const [id = ''] = await failMany(2);
  const job = await startJob();
  await fixture.runInTransaction(async (tx) => requestResend(fixture.deps, tx, { scope: null, deliveryIds: [id] }));
  await fixture.attempt(id, { httpStatus: 200 });
  fixture.enqueued.length = 0;
  await tick(10);
  expect(fixture.enqueued).toHaveLength(1);
  expect(await findResendJob(fixture.db, { ...scope, jobId: job.jobId })).toMatchObject({ sent: 2, delivered: 1 });
});

test('cancelling a resend job stops it, is idempotent, and keeps counting requested resends', async () => {
  const ids = await failMany(3);
  const job = await startJob();
  await tick(1);
  const cancel = async () =>
    fixture.runInTransaction(async (tx) => cancelResendJob(tx, { ...scope, jobId: job.jobId }));
  await cancel();
  expect(await cancel()).toMatchObject({ status: 'CANCELLED', sent: 1 });
  expect(await tick(10)).toBe(0);
  const sent = await fixture.db.knex()('webhookDelivery').whereIn('id', ids).where({ status: 'PENDING' });
  await fixture.attempt(String(sent[0].id), { httpStatus: 200 });
  await tick(10);
  expect(await findResendJob(fixture.db, { ...scope, jobId: job.jobId })).toMatchObject({
    status: 'CANCELLED',
    sent: 1,
    delivered: 1,
    endedAt: fixture.clock.now,
  });
});

test('a resend job matches within its limit, days, merchant and active subscriptions only', async () => {
  await failMany(3);
  expect((await startJob(2)).matched).toBe(2);
  const mine = scope;
  scope = await fixture.newMerchant();
  const none = await startJob();
  expect(none.matched).toBe(0);
  await tick(1);
  expect(await findResendJob(fixture.db, { ...scope, jobId: none.jobId })).toMatchObject({ status: 'DONE', sent: 0 });
  await expect(findResendJob(fixture.db, { ...mine, jobId: none.jobId })).rejects.toMatchObject({ code: 'NOT_FOUND' });

  scope = mine;
  await SubscriptionRow.query(fixture.db.knex()).where({ merchantId: scope.merchantId }).patch({ active: false });
  expect((await startJob()).matched).toBe(0);
});

test('the sixth running resend job of an environment is rejected, also under concurrent requests', async () => {
  await failMany(1);
  const started = await Promise.allSettled(Array.from({ length: 10 }, async () => startJob()));
  expect(started.filter((result) => result.status === 'fulfilled')).toHaveLength(5);
  scope = { ...scope, environment: 'live' };
  expect(await startJob()).toMatchObject({ matched: 0 });
});

test('a resend job is found and cancelled in its own environment only', async () => {
  const { jobId } = await startJob();
  const ofLive = { ...scope, environment: 'live', jobId } as const;
  await expect(findResendJob(fixture.db, ofLive)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const cancelling = fixture.runInTransaction(async (tx) => cancelResendJob(tx, ofLive));
  await expect(cancelling).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await findResendJob(fixture.db, { ...scope, jobId })).toMatchObject({ status: 'RUNNING' });
});

test('a dry run counts what the job then includes, and resends nothing', async () => {
  const api = await startWebhookApi(fixture);
  const key = stubKey(scope.merchantId);
  const send = (more: object) =>
    api.send('POST', '/api/checkout/webhooks/events/resend', {
      key,
      body: { status: 'FAILED', startDate: range.startDate, endDate: range.endDate, ...more },
    });
  await failMany(3);
  await fixture.failedDelivery(
    await fixture.newMerchant().then(async (other) => (await fixture.subscribe(other), other)),
  );
  const dry = await send({ dryRun: true });
  expect([dry.status, dry.body.data]).toEqual([200, { matched: 3 }]);
  expect((await send({ dryRun: true, limit: 2 })).body.data).toEqual({ matched: 2 });
  expect(await fixture.db.knex()('webhookResendJob').where(scope)).toEqual([]);
  const job = await send({});
  expect([job.status, job.body.data.matched]).toEqual([202, 3]);
  await api.close();
});
