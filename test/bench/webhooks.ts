import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';

import { rows } from '../../src/lib/db.ts';
import { deliveryWorkflowId } from '../../src/webhooks/workflow-input.ts';
import { createLoad } from './load.ts';
import { measureBurst, measureSteady, type Burst, type Steady, type Subject } from './measure.ts';
import type { NullWorkflowResult } from './null-workflow/run.ts';
import { middle } from './numbers.ts';
import type { World } from './world.ts';

type Bench = { world: World; say: (line: string) => void };

/** Each with the default share of 10 sends at once; events are published to them in turn. */
export const SUBSCRIPTIONS = 10;
export const BURST = 2_000;
export const RATES = [25, 100] as const;
/** Until V8 has compiled what is hot, in each process measured. */
const WARM_UP = 2_000;
const CONNECTIONS = 16;
/** Bursts, of which the one in the middle counts. With workflows one takes long enough by itself. */
const ROUNDS = { failed: 3, every: 1 };
const STEADY_SECONDS = 10;
const NULL_WORKFLOWS = 400;
const NULL_WORKFLOWS_WITHIN_MS = 90_000;

export type Measured = { burst: Burst; steady: Steady[] };

export type Webhooks = {
  failed: Measured;
  every: Measured;
  twin: Measured;
  nullWorkflow: NullWorkflowResult;
  /** Events in the history of a delivery that its workflow made at the first try. */
  historyEvents: number;
};

/** Deliveries in both modes, beside the bare twin and a workflow that does nothing. */
export async function measureWebhooks(bench: Bench): Promise<Webhooks> {
  const { world, say } = bench;
  const ours = await publishToUs(world);
  const twin = publishToTwin(world);
  const inMode = async <T>(mode: 'failed' | 'every', measure: (subject: Subject) => Promise<T>): Promise<T> => {
    const worker = await world.startWorker({ WEBHOOK_WORKFLOWS: mode });
    const measured = await measure({ ...ours, name: `mode "${mode}"`, processes: [world.api, worker] });
    await worker.stop();
    return measured;
  };

  const [failed, bare] = await inMode('failed', async (subject) => {
    say(`mode "failed" and the bare twin in turns, ${ROUNDS.failed} bursts of ${BURST} each`);
    const [burst, twinBurst] = await measureBursts(bench, [subject, twin], ROUNDS.failed);
    say(`mode "failed", then the twin: ${RATES.join(' and ')} events a second, ${STEADY_SECONDS} s each`);
    const steady = await measureSteadies(bench, subject);
    const twinSteady = await measureSteadies(bench, twin);
    return [
      { burst, steady },
      { burst: twinBurst, steady: twinSteady },
    ] as const;
  });
  const withWorkflows = await inMode('every', async (subject) => {
    say(`mode "every", a burst of ${BURST}`);
    const [burst] = await measureBursts(bench, [subject], ROUNDS.every);
    say(`${NULL_WORKFLOWS} workflows that do nothing`);
    const nullWorkflow = await runNullWorkflows(world);
    say(`mode "every": ${RATES.join(' and ')} events a second, ${STEADY_SECONDS} s each`);
    const steady = await measureSteadies(bench, subject);
    return { every: { burst, steady }, nullWorkflow, historyEvents: await countHistoryEvents(world) };
  });
  await Promise.all([ours.load.close(), twin.load.close()]);
  return { failed, twin: bare, ...withWorkflows };
}

/** In turns, so that what else the machine does meets all alike; of each the round in the middle. */
async function measureBursts<const Subjects extends readonly Subject[]>(
  { world, say }: Bench,
  subjects: Subjects,
  rounds: number,
) {
  for (const subject of subjects) await measureBurst(world, subject, WARM_UP);
  const bursts = subjects.map((): Burst[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      const burst = await measureBurst(world, subject, BURST);
      bursts[index]?.push(burst);
      const { total } = burst.cpuMsPerDelivery;
      say(`  ${subject.name}: ${Math.round(burst.deliveriesPerSecond)}/s, ${total.toFixed(2)} ms CPU each`);
    }
  }
  return bursts.map(middleBurst) as { [Index in keyof Subjects]: Burst };
}

const middleBurst = (bursts: readonly Burst[]): Burst => middle(bursts, (burst) => burst.cpuMsPerDelivery.total);

async function measureSteadies({ world, say }: Bench, subject: Subject): Promise<Steady[]> {
  const measured: Steady[] = [];
  for (const perSecond of RATES) {
    const steady = await measureSteady(world, subject, { perSecond, seconds: STEADY_SECONDS });
    measured.push(steady);
    say(`  ${subject.name} at ${perSecond}/s: p50 ${steady.p50Ms.toFixed(1)} ms, p99 ${steady.p99Ms.toFixed(1)} ms`);
  }
  return measured;
}

/** Test events through the API, to subscriptions made through the API. */
async function publishToUs(world: World): Promise<Omit<Subject, 'name' | 'processes'>> {
  const { origin, key } = world.api;
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const route = '/api/checkout/webhooks/subscriptions';
  const body = JSON.stringify({ url: world.receiver.url, eventTypes: ['webhook.test'] });
  const ids: string[] = [];
  for (let made = 0; made < SUBSCRIPTIONS; made += 1) {
    const response = await fetch(`${origin}${route}`, { method: 'POST', headers, body });
    const { data, message } = (await response.json()) as { data: { subscriptionId: string } | null; message: string };
    if (!data) throw new Error(`no subscription was made: ${message}`);
    ids.push(data.subscriptionId);
  }
  const path = (number: number): string => `${route}/${ids[number % ids.length]}/test`;
  return {
    load: createLoad({ origin, method: 'POST', path, headers, body: '{}', status: 202 }, CONNECTIONS),
    eventTable: 'webhook_event',
    isQuiet: `NOT EXISTS (SELECT 1 FROM webhook_delivery WHERE status IN ('PENDING', 'RETRYING'))
              AND NOT EXISTS (SELECT 1 FROM outbox)`,
  };
}

function publishToTwin({ twin }: World): Subject {
  const headers = { 'content-type': 'application/json' };
  const { origin } = twin;
  return {
    load: createLoad({ origin, method: 'POST', path: () => '/', headers, body: '{}', status: 202 }, CONNECTIONS),
    name: 'bare twin',
    processes: [twin],
    eventTable: 'twin_event',
    isQuiet: `NOT EXISTS (SELECT 1 FROM twin_delivery WHERE status = 'PENDING')`,
  };
}

async function countHistoryEvents({ db, ground }: World): Promise<number> {
  const [delivery] = await rows<{ eventId: string; subscriptionId: string }>(
    db,
    `SELECT event_id, subscription_id FROM webhook_delivery
     WHERE status = 'DELIVERED' AND attempts = 1 ORDER BY id DESC LIMIT 1`,
  );
  if (!delivery) throw new Error('no delivery was made by its workflow');
  const connection = await Connection.connect({ address: ground.temporal.address });
  try {
    const { workflow } = new Client({ connection });
    const handle = workflow.getHandle(deliveryWorkflowId(delivery.eventId, delivery.subscriptionId));
    await handle.result();
    return (await handle.fetchHistory()).events?.length ?? 0;
  } finally {
    await connection.close();
  }
}

async function runNullWorkflows({ ground }: World): Promise<NullWorkflowResult> {
  const { temporal, folder } = ground;
  const resultFile = join(folder, 'null-workflow.json');
  const read = async () => readFile(resultFile, 'utf8').catch(() => '');
  const running = await ground.run(
    {
      name: 'null-workflow',
      file: 'test/bench/null-workflow/run.js',
      args: [temporal.address, String(temporal.child.pid), String(NULL_WORKFLOWS), resultFile],
      readyWithinMs: NULL_WORKFLOWS_WITHIN_MS,
    },
    async () => (await read()).endsWith('}'),
  );
  await running.stop();
  return JSON.parse(await read()) as NullWorkflowResult;
}
