import { Writable } from 'node:stream';

import { createLogger } from '../../src/lib/log.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import { createOwnTemporal, type OwnTemporal } from '../support/own-temporal.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { createWorkerFixture, readDelivery, type WorkerFixture } from '../support/worker.ts';

const EVENTS = 12;
/** When a hanging call is given up. */
const HANGING_CALL_MS = 3_000;
const HUNG_FOR_MS = 5_000;

let temporal: OwnTemporal;
let fixture: WorkerFixture;
let receiver: Receiver;
let scope: MerchantScope;
const lines: string[] = [];

beforeAll(async () => {
  temporal = await createOwnTemporal();
  await temporal.start();
  fixture = await createWorkerFixture({ TASK_QUEUES: 'webhooks', TEMPORAL_ADDRESS: temporal.address });
  receiver = await startReceiver();
  scope = await fixture.newMerchant();
  await fixture.subscribe(scope, { url: receiver.url });
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(...String(chunk).split('\n').filter(Boolean));
      done();
    },
  });
  await fixture.startWorker({}, createLogger('warn', 'test', { destination: sink })).ready;
}, 60_000);
afterAll(async () => {
  temporal.thaw();
  await fixture.close();
  await Promise.all([receiver.close(), temporal.close()]);
}, 60_000);

const deliver = async (): Promise<number> => {
  const eventId = await fixture.record(scope);
  const recordedAt = performance.now();
  await fixture.db.knex().raw(`NOTIFY meskot_outbox`);
  await until('delivered', async () => (await readDelivery(fixture.db, eventId)).status === 'DELIVERED');
  return performance.now() - recordedAt;
};

test('while Temporal hangs, healthy receivers get their events at once, and the log has one line without a stack for it', async () => {
  await deliver();
  lines.length = 0;
  temporal.freeze();
  const hungAt = performance.now();
  const waits: number[] = [];
  for (let made = 0; made < EVENTS; made += 1) {
    waits.push(await deliver());
    await new Promise((settle) => setTimeout(settle, HUNG_FOR_MS / EVENTS));
  }
  expect(performance.now() - hungAt).toBeGreaterThan(HUNG_FOR_MS);
  // None waits for a reply of Temporal.
  expect(waits.toSorted((a, b) => a - b)[EVENTS / 2]).toBeLessThan(HANGING_CALL_MS);
  await until('the log to say so', async () => lines.length > 0);
  expect(lines.filter((line) => line.includes('"stack"'))).toEqual([]);
  expect(lines.length).toBeLessThan(EVENTS / 2);
  expect(receiver.requests).toHaveLength(EVENTS + 1);

  temporal.thaw();
  await deliver();
}, 90_000);
