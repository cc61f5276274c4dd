import { DAY_MS } from '../../src/lib/dates.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { requestResend } from '../../src/webhooks/delivery/resend.ts';
import { EVENT_CATALOGUE } from '../support/event-catalogue.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { skipTime, resultOf } from '../support/temporal.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, readDelivery, type WorkerFixture } from '../support/worker.ts';

const RETRY_SECONDS = [60, 300, 1_800, 7_200, 43_200];

let fixture: WorkerFixture;
let receiver: Receiver;
let scope: MerchantScope;

beforeAll(async () => {
  fixture = await createWorkerFixture({ TASK_QUEUES: 'webhooks' });
  await fixture.startWorker().ready;
  receiver = await startReceiver();
});
beforeEach(async () => {
  scope = await fixture.newMerchant();
  await fixture.subscribe(scope, { url: receiver.url });
  receiver.behave({ kind: 'answer', status: 500 });
});
afterAll(async () => {
  await receiver.close();
  await fixture.close();
});

const settled = async (eventId: string, attempts: number, status: string) =>
  until(`${attempts} attempts and ${status}`, async () => {
    const delivery = await readDelivery(fixture.db, eventId);
    return delivery.attempts === attempts && delivery.status === status && delivery;
  });

const attemptsOf = async (deliveryId: string) =>
  (await fixture.db.knex()('webhookAttempt').where({ deliveryId }).orderBy('sequence')) as Record<string, unknown>[];

/** Records an event whose receiver fails, and advances through its whole retry schedule. */
async function failedDelivery(): Promise<string> {
  const eventId = await fixture.record(scope);
  for (const [attemptNo, seconds] of RETRY_SECONDS.entries()) {
    const { workflowId } = await settled(eventId, attemptNo + 1, 'RETRYING');
    await skipTime(fixture.temporal.client, workflowId, seconds * 1_050 + 1_000);
  }
  await settled(eventId, 6, 'FAILED');
  return eventId;
}

/** Resends like the API: the row and the message to the workflow in one transaction. */
const resendByApi = async (eventId: string) =>
  fixture.runInTransaction((tx) => requestResend({ clock: () => new Date() }, tx, { eventId, scope }));

describe('the workflow of a delivery', () => {
  test('six POSTs of the same bytes, each retry counted from the end of the last failure; FAILED with a dead letter after 14 h 36 min', async () => {
    const before = receiver.requests.length;
    const eventId = await failedDelivery();
    const delivery = await readDelivery(fixture.db, eventId);
    expect(delivery).toMatchObject({ retryCount: 6, nextAttemptAt: null, deadLetteredAt: expect.any(Date) });

    const attempts = await attemptsOf(delivery.id);
    expect(attempts.map((one) => [one['deliveryNumber'], one['retryNumber'], one['source']])).toEqual(
      [0, 1, 2, 3, 4, 5].map((retry) => [retry + 1, retry, 'auto']),
    );
    for (const [attemptNo, seconds] of RETRY_SECONDS.entries()) {
      const failedAt = attempts[attemptNo]?.['endedAt'] as Date;
      const triedAt = attempts[attemptNo + 1]?.['startedAt'] as Date;
      const waited = (triedAt.getTime() - failedAt.getTime()) / 1_000;
      expect(waited).toBeGreaterThanOrEqual(seconds);
      expect(waited).toBeLessThanOrEqual(seconds + Math.min(seconds * 0.05, 60) + 5);
    }
    const instantOf = (index: number, name: string): number => Number(attempts[index]?.[name]);
    const all = instantOf(5, 'endedAt') - instantOf(0, 'startedAt');
    expect(all / 60_000).toBeGreaterThanOrEqual(14 * 60 + 36);

    const requests = receiver.requests.slice(before);
    expect(requests).toHaveLength(6);
    expect(new Set(requests.map((one) => one.body.toString())).size).toBe(1);
    expect(new Set(requests.map((one) => one.headers['x-service-event-id']))).toEqual(new Set([eventId]));
    expect(
      await fixture.db.knex()('webhookDeadLetter').where({ deliveryId: delivery.id, closedAt: null }),
    ).toHaveLength(1);
  });

  test('an operator resends a parked delivery by the update, which returns the response of the receiver', async () => {
    const eventId = await failedDelivery();
    const { workflowId, id } = await readDelivery(fixture.db, eventId);
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    await expect(handle.executeUpdate('resend', { args: [{ reason: 'their server is back' }] })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('FAILED: last failure HTTP 500') },
    });
    expect(await readDelivery(fixture.db, eventId)).toMatchObject({ status: 'FAILED', attempts: 7, retryCount: 6 });

    receiver.behave({ kind: 'answer', status: 204 });
    expect(await handle.executeUpdate('resend', { args: [null] })).toBe('DELIVERED: the receiver returned 204');
    expect(await resultOf(handle)).toBe('DELIVERED');
    expect(await readDelivery(fixture.db, eventId)).toMatchObject({ status: 'DELIVERED', attempts: 8 });
    const resent = (await attemptsOf(id)).slice(6).map((one) => [one['source'], one['reason'], one['retryNumber']]);
    expect(resent).toEqual([
      ['operator', 'their server is back', null],
      ['operator', null, null],
    ]);
    expect(await fixture.db.knex()('webhookDeadLetter').where({ deliveryId: id, closedAt: null })).toHaveLength(0);
  });

  test('a resend by the API reaches the parked workflow; after 30 days of parking it starts a new run under the same id', async () => {
    const eventId = await failedDelivery();
    const { workflowId } = await readDelivery(fixture.db, eventId);
    const first = await fixture.temporal.client.workflow.getHandle(workflowId).describe();
    await resendByApi(eventId);
    await settled(eventId, 7, 'FAILED');
    // The row has changed already: the workflow only has to make the attempt.
    const { events } = await fixture.temporal.client.workflow.getHandle(workflowId).fetchHistory();
    expect(events?.filter((event) => event.activityTaskFailedEventAttributes)).toEqual([]);

    await skipTime(fixture.temporal.client, workflowId, 30 * DAY_MS - 60_000);
    const parked = await fixture.temporal.client.workflow.getHandle(workflowId).describe();
    expect([parked.runId, parked.status.name]).toEqual([first.runId, 'RUNNING']);
    await skipTime(fixture.temporal.client, workflowId, 120_000);
    await expect(resultOf(fixture.temporal.client.workflow.getHandle(workflowId))).rejects.toMatchObject({
      cause: { type: 'DeliveryExhausted' },
    });
    receiver.behave({ kind: 'answer', status: 200 });
    await resendByApi(eventId);
    await settled(eventId, 8, 'DELIVERED');
    const last = await fixture.temporal.client.workflow.getHandle(workflowId).describe();
    expect(last.runId).not.toBe(first.runId);
  });

  test('the resend signal resends a parked delivery, each time', async () => {
    const eventId = await failedDelivery();
    const { workflowId } = await readDelivery(fixture.db, eventId);
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    await handle.signal('resend');
    await settled(eventId, 7, 'FAILED');
    receiver.behave({ kind: 'answer', status: 200 });
    await handle.signal('resend');
    await settled(eventId, 8, 'DELIVERED');
  });

  test('a reason that is not a text, or that the database would reject, delays nothing', async () => {
    const eventId = await failedDelivery();
    const { workflowId, id } = await readDelivery(fixture.db, eventId);
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    await handle.signal('resend', { reason: 5 });
    await settled(eventId, 7, 'FAILED');
    await handle.signal('resend', { reason: `nul \0 ${'x'.repeat(493)}😀` });
    await settled(eventId, 8, 'FAILED');
    await until('a refusal of the reason, once the attempt is over', async () => {
      const refused = await handle.executeUpdate('resend', { args: [{ reason: 5 }] }).catch((error: unknown) => error);
      return (
        refused instanceof Error && String(refused.cause).includes('A reason is a text of at most 500 characters.')
      );
    });
    // A concurrent signal does not replace an operator's request.
    await Promise.all([handle.signal('deliveryChanged'), handle.signal('resend', 'at once')]);
    await settled(eventId, 9, 'FAILED');
    expect((await attemptsOf(id)).slice(6).map((one) => [one['source'], one['reason']])).toEqual([
      ['operator', null],
      ['operator', `nul   ${'x'.repeat(493)} `],
      ['operator', 'at once'],
    ]);
  });

  test('expediting a retry makes an attempt outside the schedule, which stays unchanged', async () => {
    const eventId = await fixture.record(scope);
    const before = await settled(eventId, 1, 'RETRYING');
    const { workflowId } = before;
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    // After the first attempt the workflow has not started yet.
    await until('the workflow', async () => handle.describe().catch(() => null));
    await expect(handle.executeUpdate('resend', { args: [null] })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^RETRYING: .* next attempt 20/) },
    });
    const delivery = await settled(eventId, 2, 'RETRYING');
    const [, second] = await attemptsOf(delivery.id);
    expect(second).toMatchObject({ retryNumber: null, source: 'operator', reason: null });
    expect(delivery).toMatchObject({ retryCount: 1, nextAttemptAt: before.nextAttemptAt });
  });

  test('cancelling the workflow ends the delivery as FAILED with a dead letter', async () => {
    const eventId = await fixture.record(scope);
    const { workflowId, id } = await settled(eventId, 1, 'RETRYING');
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    // After the first attempt the workflow has not started yet.
    await until('the workflow', async () => handle.describe().catch(() => null));
    await handle.cancel();
    await settled(eventId, 1, 'FAILED');
    const letters = await fixture.db.knex()('webhookDeadLetter').where({ deliveryId: id });
    expect(letters).toEqual([expect.objectContaining({ reason: 'canceled', closedAt: null })]);
  });

  test('cancelling the forced resend of a delivered delivery leaves it DELIVERED, also in the search attributes', async () => {
    receiver.behave({ kind: 'answer', status: 200 });
    const eventId = await fixture.record(scope);
    const { workflowId, subscriptionId } = await settled(eventId, 1, 'DELIVERED');
    receiver.behave({ kind: 'hang' });
    const before = receiver.requests.length;
    const request = { eventId, subscriptionId, scope, force: true };
    await fixture.runInTransaction((tx) => requestResend({ clock: () => new Date() }, tx, request));
    await until('the resend', async () => receiver.requests.length > before);
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    await handle.cancel();
    await expect(resultOf(handle)).rejects.toMatchObject({ name: 'WorkflowFailedError' });
    expect(await readDelivery(fixture.db, eventId)).toMatchObject({ status: 'DELIVERED', deadLetteredAt: null });
    const { typedSearchAttributes } = await handle.describe();
    expect(typedSearchAttributes.getAll()).toContainEqual(
      expect.objectContaining({ key: expect.objectContaining({ name: 'BusinessStatus' }), value: 'DELIVERED' }),
    );
  });

  test('a first-try success takes at most 6 history events and carries no URL, body or secret', async () => {
    receiver.behave({ kind: 'answer', status: 200 });
    const eventId = await fixture.record(scope);
    const { workflowId } = await settled(eventId, 1, 'DELIVERED');
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    await resultOf(handle);
    const { events } = await handle.fetchHistory();
    expect(events?.length).toBeLessThanOrEqual(6);
    const history = JSON.stringify(events, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    expect(history).toContain(eventId);
    expect(history).not.toMatch(/whsec_|http:|customerName/);
  });

  test('the current details have the failed attempts of the schedule and the last three with their responses', async () => {
    receiver.behave({ kind: 'answer', status: 503, body: `Out of \`order\`\n${'x'.repeat(200)}` });
    const eventId = await failedDelivery();
    const { workflowId } = await readDelivery(fixture.db, eventId);
    const handle = fixture.temporal.client.workflow.getHandle(workflowId);
    const { currentDetails } = (await handle.query('__temporal_workflow_metadata')) as { currentDetails: string };
    expect(currentDetails).toContain('FAILED: last failure HTTP 503');
    expect(currentDetails).toContain('Failed attempts of the schedule: 6 of 6');
    const lines = currentDetails.split('\n').filter((line) => line.startsWith('- '));
    const answer = `Out of 'order' ${'x'.repeat(65)}`;
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).toMatch(new RegExp(`^- \\d{4}-.*Z: HTTP 503 \`${answer}\`$`));
  });

  test('operators find a failed delivery by its search attributes', async () => {
    const eventId = await failedDelivery();
    const { workflowId } = await readDelivery(fixture.db, eventId);
    const query = `BusinessStatus = 'FAILED' AND LastHttpStatus = 500 AND MerchantId = '${scope.merchantId}'`;
    const found = await until('the search attributes', async () => {
      for await (const one of fixture.temporal.client.workflow.list({ query })) return one;
      return null;
    });
    expect(found.workflowId).toBe(workflowId);
    expect(found.typedSearchAttributes.getAll().length).toBeGreaterThanOrEqual(8);
    const { checkoutOrderNo } = EVENT_CATALOGUE['payment.succeeded'].example as { checkoutOrderNo: string };
    expect(found.searchAttributes).toMatchObject({ CheckoutOrderNo: [checkoutOrderNo], ReceiverHost: ['127.0.0.1'] });
    const description = await fixture.temporal.client.workflow.getHandle(workflowId).describe();
    expect(await description.staticSummary()).toBe(
      `payment.succeeded of ${checkoutOrderNo} → 127.0.0.1 (Abyssinia Coffee, sandbox)`,
    );
    const details = await description.staticDetails();
    for (const part of ['Abyssinia Coffee', checkoutOrderNo, 'meskot deliveries get whd_', 'Request Cancellation'])
      expect(details).toContain(part);
  });
});
