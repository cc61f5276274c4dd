import type { RunningApi } from '../../src/app/api.ts';
import { type Database, openDatabase, type Trx } from '../../src/lib/db.ts';
import { newId } from '../../src/lib/ids.ts';
import { buy, startChaosService, PHONES, type ChaosService, type ChaosMerchant } from '../chaos/service.ts';
import { until } from '../support/until.ts';
import { expectInvariants, violations } from './check.ts';
import type { Evidence } from './evidence.ts';

/** One retry, so that a delivery fails soon; its delay exceeds the tolerance of I9. */
const RETRY_SECONDS = 2;

let service: ChaosService;
let api: RunningApi;
let good: ChaosMerchant;
let failing: ChaosMerchant;
let evidence: Evidence;
/** For changes that the application's role may not make. */
let scope: Database;

/**
 * A paid, a declined and an open session and a test event for each merchant; one merchant's deliveries succeed, the
 * other's become dead letters.
 */
beforeAll(async () => {
  service = await startChaosService({
    TASK_QUEUES: 'payments,webhooks',
    WEBHOOK_RETRY_SCHEDULE_SECONDS: String(RETRY_SECONDS),
  });
  [api, good, failing] = [await service.startApi(), await service.newMerchant(), await service.newMerchant()];
  await service.fixture.startWorker().ready;
  failing.receiver.behave({ kind: 'answer', status: 500 });
  await buy(good.client, { orderNo: 'PAID', phone: PHONES.approved });
  await buy(good.client, { orderNo: 'DECLINED', phone: PHONES.declined });
  await buy(good.client, { orderNo: 'OPEN', phone: PHONES.silent });
  await good.client.post(`webhooks/subscriptions/${good.subscriptionId}/test`);
  await failing.client.post(`webhooks/subscriptions/${failing.subscriptionId}/test`);
  const { db } = service.fixture;
  await until('payments to be settled', async () => {
    const settled = await db.knex()('paymentAttempt').whereIn('status', ['SUCCEEDED', 'DECLINED']);
    return settled.length === 2;
  });
  await until(
    'deliveries to end',
    async () => (await db.knex()('webhookDelivery').whereNotNull('nextAttemptAt')).length === 0,
  );
  // The workflow of the open payment starts after two seconds; the evidence is compared with later rows.
  await until('the outbox to be empty', async () => (await db.knex()('outbox')).length === 0);
  await expectInvariants(gather);
  evidence = await gather();
  scope = openDatabase({ url: service.fixture.database.ownerUrl, poolMax: 1, applicationName: 'test' });
});
afterAll(async () => {
  await scope.destroy();
  await api.stop();
  await service.close();
});

const gather = async (): Promise<Evidence> => service.gather({ retryDelaysSeconds: [RETRY_SECONDS] });

/** Spoils rows in a transaction that is not kept, or the journals, and returns what is reported. */
async function report(spoil: (trx: Trx) => Promise<unknown>, journals: Partial<Evidence> = {}) {
  const undone = new Error('undone');
  let found: string[] = [];
  const spoiled = scope.transaction(async (trx) => {
    await spoil(trx);
    found = await violations({ ...evidence, ...journals, db: trx });
    throw undone;
  });
  await expect(spoiled).rejects.toBe(undone);
  return found;
}
const nothing = async (): Promise<void> => {};
const justOne = (name: string, says: RegExp) => [expect.stringMatching(new RegExp(`^${name}: .*${says.source}`))];

const requestsOf = (merchant: ChaosMerchant) => ({
  url: merchant.receiver.url,
  scope: merchant.scope,
  requests: merchant.receiver.requests,
});
const acceptedRequest = () => {
  const [first] = good.receiver.requests;
  if (!first) throw new Error('the receiver has no requests');
  return first;
};

describe('each invariant reports its own violation and no other invariant does', () => {
  test('unchanged rows and evidence have no violation', async () => {
    expect(await report(nothing)).toEqual([]);
  });

  test('I1 reports a created session with another amount than was sent', async () => {
    const found = await report((trx) =>
      trx.knex()('transaction').where({ checkoutOrderNo: 'PAID' }).update({ amountSantim: 1 }),
    );
    expect(found).toEqual(justOne('I1', /PAID had the response 201 .* but has 1 santim/));
  });

  test('I1 reports a rejected session that left a transaction', async () => {
    const requests = good.client.requests.map((one) =>
      one.body['checkoutOrderNo'] === 'PAID' ? { ...one, responses: [{ status: 422, data: {} }] } : one,
    );
    expect(await report(nothing, { clients: [{ scope: good.scope, requests }] })).toEqual(
      justOne('I1', /rejected with 422/),
    );
  });

  test('I2 reports a repeated request with another session in its response', async () => {
    const requests = good.client.requests.map((one) =>
      one.body['checkoutOrderNo'] === 'PAID'
        ? { ...one, responses: [{ status: 201, data: { sessionId: 'cs_another' } }, ...one.responses] }
        : one,
    );
    expect(await report(nothing, { clients: [{ scope: good.scope, requests }] })).toEqual(justOne('I2', /cs_another/));
  });

  test('I2 reports more attempts on a session than were requested', async () => {
    const requests = good.client.requests.filter(({ path }) => !path.endsWith('/test'));
    const twice = async (trx: Trx): Promise<void> => {
      const attempt = await trx.knex()('paymentAttempt').where({ status: 'DECLINED' }).first();
      const again = { ...attempt, id: newId('pat'), callbackSecret: 'another', failure: null };
      await trx.knex()('paymentAttempt').insert(again);
      await trx.knex()('checkoutSession').where({ id: attempt.sessionId }).update({ attemptsCount: 2 });
    };
    const found = await report(twice, { clients: [{ scope: good.scope, requests }] });
    expect(found).toEqual(justOne('I2', /1 keys of POST sessions\/cs_\w+\/pay made 2 effects/));
  });

  test('I4 reports a payment at the provider without an attempt of ours', async () => {
    const orders = evidence.orders?.map((order) =>
      order.state === 'DECLINED' ? { ...order, state: 'PAID' as const, paidAmount: order.amount } : order,
    );
    expect(await report(nothing, { orders: orders ?? null })).toEqual(
      justOne('I4', /is paid .* but its attempt is DECLINED/),
    );
  });

  test('I5 reports a transition out of COMPLETED', async () => {
    const found = await report(async (trx) => {
      const { sessionId } = await trx.knex()('transaction').where({ checkoutOrderNo: 'PAID' }).first('sessionId');
      await trx.knex()('checkoutSession').where({ id: sessionId }).update({ status: 'FAILED' });
    });
    expect(found).toEqual([
      ...justOne('I5', /is FAILED; its timeline ends COMPLETED/),
      ...justOne('I5', /is SUCCESS but its session is FAILED/),
    ]);
  });

  test('I6 reports a final status without its event', async () => {
    const found = await report((trx) =>
      trx
        .knex()('webhookEvent')
        .where({ event: 'checkout.completed' })
        .update({ resourceId: newId('txn') }),
    );
    expect(found).toEqual(justOne('I6', /should have 1 checkout.completed and has 0/));
  });

  test('I6 reports a request whose bytes differ from the recorded event', async () => {
    const found = await report((trx) =>
      trx
        .knex()('webhookEvent')
        .where({ event: 'checkout.completed' })
        .update({ payload: Buffer.from('{"event":"checkout.completed"}') }),
    );
    expect(found).toEqual(justOne('I6', /carried other bytes than recorded/));
  });

  test('I7 reports a failed delivery without a dead letter', async () => {
    const found = await report((trx) => trx.knex()('webhookDeadLetter').update({ closedAt: new Date() }));
    expect(found).toEqual(justOne('I7', /is FAILED with 0 open dead letters/));
  });

  test('I7 reports an event without a delivery to a matching subscription', async () => {
    const testEvent = { path: `webhooks/subscriptions/${good.subscriptionId}/test`, body: {}, tries: 1, responses: [] };
    const clients = [{ scope: good.scope, requests: [...good.client.requests, testEvent] }];
    const found = await report((trx) => trx.knex()('webhookEvent').insert(copyOfEvent()), { clients });
    expect(found).toEqual(justOne('I7', /webhook.test evt_\w+ has no delivery to whs_/));
  });

  test('I8 reports a DELIVERED delivery without a 2xx response', async () => {
    const first = acceptedRequest();
    const requests = good.receiver.requests.map((one) =>
      one === first ? { ...one, response: { status: 503, at: one.at, delivered: true } } : one,
    );
    const receivers = [{ ...requestsOf(good), requests }, requestsOf(failing)];
    expect(await report(nothing, { receivers })).toEqual(
      justOne('I8', /is DELIVERED, but .* never responded with 2xx in time/),
    );
  });

  test('I8 reports a FAILED delivery with a 2xx response', async () => {
    const requests = failing.receiver.requests.map((one, index) =>
      index === 0 ? { ...one, response: { status: 200, at: one.at, delivered: true } } : one,
    );
    const receivers = [requestsOf(good), { ...requestsOf(failing), requests }];
    expect(await report(nothing, { receivers })).toEqual(justOne('I8', /is FAILED, but .* responded with 2xx in time/));
  });

  test('I9 reports an early retry', async () => {
    const found = await report((trx) =>
      trx
        .knex()('webhookAttempt')
        .where({ retryNumber: 1 })
        .update({ startedAt: trx.knex().raw(`started_at - interval '10 seconds'`) }),
    );
    expect(found).toEqual(justOne('I9', /retry 1 of delivery whd_\w+ was made \d+ ms before it was due/));
  });

  test('I10 reports a request without an attempt row', async () => {
    const found = await report((trx) => trx.knex()('webhookAttempt').where({ retryNumber: 1 }).delete());
    expect(found).toEqual(justOne('I10', /received 2 requests of event evt_\w+, which has 1 attempt rows/));
  });

  test('I11 reports an event at the receiver of another merchant', async () => {
    const receivers = [
      requestsOf(good),
      { ...requestsOf(failing), requests: [...failing.receiver.requests, acceptedRequest()] },
    ];
    expect(await report(nothing, { receivers })).toEqual(
      justOne('I11', /received event evt_\w+, which is not its merchant's/),
    );
  });

  test('I12 reports an overdue outbox row', async () => {
    const found = await report((trx) =>
      trx
        .knex()('outbox')
        .insert({
          id: newId('obx'),
          kind: 'start',
          workflowType: 'payment',
          workflowId: 'payment-pat_none',
          // The evidence was gathered before, on a busy machine by more than the allowed delay.
          leaseUntil: trx.knex().raw(`now() - interval '10 minutes'`),
          availableAt: trx.knex().raw(`now() - interval '11 minutes'`),
        }),
    );
    expect(found).toEqual(justOne('I12', /start of payment-pat_none is left in the outbox/));
  });

  test('I12 reports an open payment without a workflow or with a stuck one', async () => {
    const [open = ''] = [...evidence.running.keys()].filter((id) => id.startsWith('payment-'));
    const lost = new Map([...evidence.running].filter(([id]) => id !== open));
    expect(await report(nothing, { running: lost })).toEqual(
      justOne('I12', /is open with neither a workflow nor an outbox row/),
    );
    const stuck = new Map([...evidence.running, [open, { failures: 7 }]]);
    expect(await report(nothing, { running: stuck })).toEqual(justOne('I12', /is stuck: its code failed 7 times/));
  });

  test('I15 reports an event that was delivered twice without a fault', async () => {
    const first = acceptedRequest();
    const receivers = [{ ...requestsOf(good), requests: [...good.receiver.requests, first] }, requestsOf(failing)];
    const repeatRow = async (trx: Trx): Promise<void> => {
      const eventId = String(first.headers['x-service-event-id']);
      const delivery = await trx.knex()('webhookDelivery').where({ eventId }).first('id');
      const attempt = await trx.knex()('webhookAttempt').where({ deliveryId: delivery.id }).first();
      await trx
        .knex()('webhookAttempt')
        .insert({
          ...attempt,
          id: newId('wha'),
          sequence: 2,
          timings: null,
          responseHeaders: null,
        });
    };
    expect(await report(repeatRow, { receivers })).toEqual(justOne('I15', /accepted event evt_\w+ 2 times/));
    expect(await report(repeatRow, { receivers, duplicatesMax: 1 })).toEqual([]);
  });
});

function copyOfEvent() {
  return {
    id: newId('evt'),
    ...good.scope,
    event: 'webhook.test',
    apiVersion: 'v1.0',
    resourceType: 'subscription',
    resourceId: good.subscriptionId,
    payload: Buffer.from('{}'),
    createdAt: new Date(),
  };
}
