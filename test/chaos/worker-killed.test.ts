import { deliveryWorkflowId } from '../../src/webhooks/delivery/workflow.ts';
import { expectInvariants } from '../invariants/check.ts';
import { startProgram, type Program } from '../support/program.ts';
import { until } from '../support/until.ts';
import { startChaosService, untilQuiet, type ChaosService, type ChaosMerchant } from './service.ts';

const EVENTS = 120;
const KILLS = 2;

let service: ChaosService;
let merchant: ChaosMerchant;
let worker: Program;

beforeAll(async () => {
  service = await startChaosService({ TASK_QUEUES: 'webhooks', WEBHOOK_CONCURRENCY_PER_SUBSCRIPTION: '10' });
  merchant = await service.newMerchant();
  merchant.receiver.behave({ kind: 'answer', status: 200, afterMs: 30 });
  worker = await startProgram('worker', service.settings);
});
afterAll(async () => {
  await worker.kill();
  await service.close();
});

test('a worker killed twice in a burst loses no event and repeats at most what it had in flight', async () => {
  const { receiver, scope } = merchant;
  const eventIds: string[] = [];
  let inFlight = 0;
  for (let kill = 0; kill <= KILLS; kill += 1) {
    const target = receiver.requests.length + 8;
    for (let made = 0; made < EVENTS / (KILLS + 1); made += 1) eventIds.push(await service.fixture.record(scope));
    if (kill === KILLS) break;
    await until('some of the burst to arrive', async () => receiver.requests.length >= target);
    await worker.kill();
    inFlight += await countInFlight();
    worker = await startProgram('worker', service.settings);
  }
  await untilQuiet(service);

  const received = receiver.requests.map((request) => String(request.headers['x-service-event-id']));
  expect(new Set(received)).toEqual(new Set(eventIds));
  await expectInvariants(async () => service.gather({ duplicatesMax: inFlight }));
  await expectWorkflows(eventIds);
}, 240_000);

/** Each event has its workflow, however often a worker died between the delivery and the start: late, but never dropped. */
async function expectWorkflows(eventIds: string[]): Promise<void> {
  const { db, temporal } = service.fixture;
  const waiting = async () => db.knex()('webhookWorkflowStart');
  // A lease of a killed worker lasts for half a minute.
  await until('all workflows to be started', async () => (await waiting()).length === 0, 120_000);
  for (const eventId of eventIds) {
    const workflowId = deliveryWorkflowId(eventId, merchant.subscriptionId);
    const { status } = await temporal.client.workflow.getHandle(workflowId).describe();
    expect([workflowId, status.name]).toEqual([workflowId, expect.stringMatching(/COMPLETED|RUNNING/)]);
  }
}

/** Attempts that were sent or about to be, and whose outcomes are not saved: a kill may repeat each of them once. */
async function countInFlight(): Promise<number> {
  const marked = await service.fixture.db.knex()('webhookDelivery').whereNotNull('inFlightSince');
  return marked.length;
}

test('a worker that is stopped finishes its sends in flight and leaves no attempt open', async () => {
  const { receiver, scope } = merchant;
  const before = receiver.requests.length;
  receiver.behave({ kind: 'answer', status: 200, afterMs: 1_500 });
  const eventId = await service.fixture.record(scope);
  await until('the send to begin', async () => receiver.requests.length > before);
  expect(await worker.terminate()).toBe(0);
  expect(await service.fixture.db.knex()('webhookDelivery').where({ eventId }).first('status', 'attempts')).toEqual({
    status: 'DELIVERED',
    attempts: 1,
  });
}, 60_000);
