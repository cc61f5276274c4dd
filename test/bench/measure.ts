import { setTimeout as sleep } from 'node:timers/promises';

import { type Database, rows } from '../../src/lib/db.ts';
import { processorMs } from './cpu.ts';
import { untilTrue } from './fixture.ts';
import type { Load } from './load.ts';
import { longestGap, median, nowMs, percentile } from './numbers.ts';
import type { Receiver } from './receiver.ts';
import type { Row } from './sheet.ts';
import type { BenchStack, Running } from './stack.ts';

/** Processor time by process group: ours (or the baseline's), PostgreSQL's, and Temporal's server with its SQLite. */
export type Cpu = { total: number; ours: number; postgres: number; temporal: number; each: Record<string, number> };

/** Processes by their name in tables. */
export type TemporalGateway = Readonly<Record<string, Pick<Running, 'pid'>>>;

/** The measured system: how to publish events to it, its processes and its rows. */
export type Subject = {
  name: string;
  publish: Load;
  gateway: TemporalGateway;
  db: Database;
  receiver: Receiver;
  eventTable: 'webhook_event' | 'baseline_event';
  /** A SQL condition: all events are delivered and recorded. */
  isQuiet: string;
  /** Whether the workflows after the deliveries have ended. */
  isSettled?: (() => Promise<boolean>) | undefined;
};

export type Burst = { perSecond: number; cpu: Cpu; stallMs: number; duplicates: number };
export type Steady = { p50: number; p99: number; cpu: Cpu; duplicates: number };

const ARRIVED_WITHIN_MS = 120_000;
const QUIET_WITHIN_MS = 180_000;
const SETTLED_WITHIN_MS = 600_000;
/** The time for the last writes, and the interval of polling. */
const SETTLE_MS = 500;

/** Divides the processor time in ms by the number of items. */
export async function measureCpu(
  { postgres, temporal }: BenchStack,
  { gateway, items, work }: { gateway: TemporalGateway; items: number; work: () => Promise<unknown> },
): Promise<Cpu> {
  const all = { ...gateway, postgres: postgres.child, temporal: temporal.child };
  const spent: Record<string, number> = await measureEach(all, work);
  const of = (name: string): number => (spent[name] ?? 0) / items;
  const each = Object.fromEntries(Object.keys(gateway).map((name) => [name, of(name)]));
  const ours = Object.values(each).reduce((sum, ms) => sum + ms, 0);
  const total = ours + of('postgres') + of('temporal');
  return { total, ours, postgres: of('postgres'), temporal: of('temporal'), each };
}

/** The processor time in ms of each process and its children during the work. */
export async function measureEach<Names extends string>(
  gateway: Readonly<Record<Names, Pick<Running, 'pid'>>>,
  work: () => Promise<unknown>,
): Promise<Record<Names, number>> {
  const names = Object.keys(gateway) as Names[];
  const read = async (): Promise<number[]> => Promise.all(names.map((name) => processorMs([gateway[name].pid])));
  const before = await read();
  await work();
  const after = await read();
  const spent = names.map((name, index) => [name, (after[index] ?? 0) - (before[index] ?? 0)]);
  return Object.fromEntries(spent) as Record<Names, number>;
}

/** The time from the first call to the last arrival. */
export async function measureBurst(stack: BenchStack, subject: Subject, count: number): Promise<Burst> {
  const { startMs, cpu } = await deliver(stack, subject, { count, publish: () => subject.publish.burst(count) });
  const { receiver } = subject;
  const arrivals = [...receiver.arrivals.values()];
  return {
    perSecond: (1_000 * count) / (Math.max(...arrivals) - startMs),
    cpu,
    stallMs: longestGap(startMs, arrivals),
    duplicates: receiver.duplicates(),
  };
}

/** A table row of several bursts: the medians, and the worst in brackets. */
export function burstRow(bursts: readonly Burst[]): Row {
  const all = (read: (burst: Burst) => number): number[] => bursts.map(read);
  const rates = all((burst) => burst.perSecond);
  const totals = all((burst) => burst.cpu.total);
  const stalls = all((burst) => burst.stallMs);
  return {
    bursts: bursts.length,
    'delivered/s': median(rates),
    'worst/s': Math.min(...rates),
    'CPU ms each': median(totals),
    'worst ms': Math.max(...totals),
    ours: median(all((burst) => burst.cpu.ours)),
    ...medians(bursts.map((burst) => burst.cpu.each)),
    PostgreSQL: median(all((burst) => burst.cpu.postgres)),
    Temporal: median(all((burst) => burst.cpu.temporal)),
    'gap ms': Math.round(median(stalls)),
    'worst gap': Math.round(Math.max(...stalls)),
    duplicates: all((burst) => burst.duplicates).reduce((sum, one) => sum + one, 0),
  };
}

/** A column per process, if there are several. */
function medians(all: readonly Record<string, number>[]): Row {
  const names = Object.keys(all[0] ?? {});
  if (names.length === 1) return {};
  return Object.fromEntries(names.map((name) => [name, median(all.map((one) => one[name] ?? 0))]));
}

export type Rate = { perSecond: number; seconds: number };

/** The time from the commit of each event to its arrival, at a steady rate. */
export async function measureSteady(
  stack: BenchStack,
  subject: Subject,
  { perSecond, seconds }: Rate,
): Promise<Steady> {
  const publish = () => subject.publish.steady(perSecond, seconds);
  const { startMs, cpu } = await deliver(stack, subject, { count: perSecond * seconds, publish });
  const latenciesMs = await readLatencies(subject, startMs);
  return {
    p50: percentile(latenciesMs, 0.5),
    p99: percentile(latenciesMs, 0.99),
    cpu,
    duplicates: subject.receiver.duplicates(),
  };
}

/** A table row of a steady rate. */
export function steadyRow({ p50, p99, cpu, duplicates }: Steady): Row {
  return { 'p50 ms': p50, 'p99 ms': p99, 'CPU ms each': cpu.total, duplicates };
}

async function deliver(
  stack: BenchStack,
  { gateway, isQuiet, isSettled, receiver, db }: Subject,
  { count, publish }: { count: number; publish: () => Promise<void> },
): Promise<{ startMs: number; cpu: Cpu }> {
  receiver.forget();
  const startMs = nowMs();
  const work = async (): Promise<void> => {
    await publish();
    await receiver.untilArrived(count, ARRIVED_WITHIN_MS);
    await untilTrue(db, isQuiet, QUIET_WITHIN_MS);
    await sleep(SETTLE_MS);
    if (isSettled) await untilSettled(isSettled);
  };
  return { startMs, cpu: await measureCpu(stack, { gateway, items: count, work }) };
}

async function untilSettled(isSettled: () => Promise<boolean>): Promise<void> {
  const deadlineMs = Date.now() + SETTLED_WITHIN_MS;
  while (!(await isSettled())) {
    if (Date.now() > deadlineMs) throw new Error(`workflows still ran after ${SETTLED_WITHIN_MS / 1000} s`);
    await sleep(SETTLE_MS);
  }
}

/** PostgreSQL records commit times in microseconds of the clock that the receiver uses. */
async function readLatencies({ db, eventTable, receiver }: Subject, startMs: number): Promise<number[]> {
  const committed = await rows<{ id: string; atMs: number }>(
    db,
    `SELECT id, CAST(extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000 AS float8) AS at_ms
     FROM ${eventTable} WHERE created_at >= to_timestamp(:startMs / 1000.0) - interval '1 ms'`,
    { startMs },
  );
  const at = new Map(committed.map(({ id, atMs }) => [id, atMs]));
  return [...receiver.arrivals].map(([id, arrivedMs]) => arrivedMs - (at.get(id) ?? Number.NaN));
}
