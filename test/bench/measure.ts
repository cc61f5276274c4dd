import { setTimeout as sleep } from 'node:timers/promises';

import { rows } from '../../src/lib/db.ts';
import type { Running } from './ground.ts';
import type { Load } from './load.ts';
import { nowMs, percentile } from './numbers.ts';
import { untilTrue, type Cpu, type World } from './world.ts';

/** Who is measured: how events are published to it, which processes are its own, and where its rows are. */
export type Subject = {
  name: string;
  load: Load;
  processes: Running[];
  eventTable: 'webhook_event' | 'twin_event';
  /** SQL that is true when every event is delivered and that is saved. */
  isQuiet: string;
};

/** Milliseconds of processor time for one event, published and delivered. */
export type Cost = Cpu & { total: number };
export type Burst = { deliveriesPerSecond: number; cpuMsPerDelivery: Cost; duplicates: number };
export type Steady = {
  perSecond: number;
  /** From the commit of the event to its arrival at the receiver. */
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  cpuMsPerDelivery: Cost;
  duplicates: number;
};

const ARRIVED_WITHIN_MS = 60_000;
const QUIET_WITHIN_MS = 20_000;
/** Workflows end a little after their delivery is saved. */
const SETTLE_MS = 500;

/** From the first call to the last arrival. */
export async function measureBurst(world: World, subject: Subject, count: number): Promise<Burst> {
  const done = await deliver(world, subject, { count, publish: () => subject.load.burst(count) });
  const seconds = (Math.max(...world.receiver.arrivals.values()) - done.startMs) / 1000;
  const { cpuMsPerDelivery, duplicates } = done;
  return { deliveriesPerSecond: count / seconds, cpuMsPerDelivery, duplicates };
}

export async function measureSteady(
  world: World,
  subject: Subject,
  rate: { perSecond: number; seconds: number },
): Promise<Steady> {
  const count = rate.perSecond * rate.seconds;
  const publish = () => subject.load.steady(rate.perSecond, rate.seconds);
  const { startMs, cpuMsPerDelivery, duplicates } = await deliver(world, subject, { count, publish });
  const latenciesMs = await readLatencies(world, subject, startMs);
  return {
    perSecond: rate.perSecond,
    p50Ms: percentile(latenciesMs, 0.5),
    p95Ms: percentile(latenciesMs, 0.95),
    p99Ms: percentile(latenciesMs, 0.99),
    cpuMsPerDelivery,
    duplicates,
  };
}

async function deliver(
  world: World,
  { processes, isQuiet }: Subject,
  { count, publish }: { count: number; publish: () => Promise<void> },
) {
  const { receiver, db } = world;
  receiver.forget();
  const startMs = nowMs();
  const cpu = await world.measure(processes, async () => {
    await publish();
    await receiver.untilArrived(count, ARRIVED_WITHIN_MS);
    await untilTrue(db, isQuiet, QUIET_WITHIN_MS);
    await sleep(SETTLE_MS);
  });
  const total = cpu.ours + cpu.temporal + cpu.postgres;
  return {
    startMs,
    cpuMsPerDelivery: {
      total: total / count,
      ours: cpu.ours / count,
      temporal: cpu.temporal / count,
      postgres: cpu.postgres / count,
    },
    duplicates: receiver.duplicates(),
  };
}

/** PostgreSQL notes when each transaction committed, in microseconds of the same clock that the receiver reads. */
async function readLatencies(world: World, { eventTable }: Subject, startMs: number): Promise<number[]> {
  const committed = await rows<{ id: string; atMs: number }>(
    world.db,
    `SELECT id, CAST(extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS float8) AS at_ms
     FROM ${eventTable} WHERE created_at >= to_timestamp(:startMs / 1000.0) - interval '1 ms'`,
    { startMs },
  );
  const at = new Map(committed.map(({ id, atMs }) => [id, atMs]));
  return [...world.receiver.arrivals].map(([id, arrivedMs]) => arrivedMs - (at.get(id) ?? Number.NaN));
}
