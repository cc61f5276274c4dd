import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  DefaultLogger,
  NativeConnection,
  Worker,
  bundleWorkflowCode,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';

import type { createActivities } from '../../activities/index.ts';
import type { Config, TaskQueue } from '../config.ts';
import { DAY_MS } from '../lib/dates.ts';
import { UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { NO_TRACING, type Tracing } from '../lib/tracing.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import { deploymentOf, useBuild } from './builds.ts';
import { createTemporalGateway, temporalConnection, type TemporalGateway } from './client.ts';
import { CHECK_ACCESS, isRefused, listMissing, type Missing } from './requirements.ts';
import { activitySpans } from './trace-headers.ts';

export type TemporalWorkersOptions = {
  config: Config;
  log: Logger;
  activities: ReturnType<typeof createActivities>;
  /** A bundle that exists already; otherwise that of the settings, or a new one. */
  workflowBundle?: WorkflowBundleOption | undefined;
  /** Temporal is reachable again, or has a new database: any workflow may be lost. */
  onReturn?: () => void;
  tracing?: Tracing | undefined;
};

/** More than one send (4 s), so that a stopping worker completes it. */
const SHUTDOWN_GRACE = '6 s';
const RECONNECT_MS = 1_000;
/** While an administrator of Temporal has something to do. */
const REFUSED_RETRY_MS = 10_000;
/** Activities of `webhooks` that have hung before; served with it. */
const SLOW_SENDS = 'webhooks-slow';
/** Activities per pool connection: they use one briefly, and wait for a provider most of the time. */
const ACTIVITIES_PER_CONNECTION = 10;
/** Sends can hang for seconds, and use a connection before and after. */
const SLOW_SENDS_PER_CONNECTION = 40;
/** A report holds its connection throughout: four remain for each. */
const CONNECTIONS_PER_REPORT = 5;
const CACHED_WORKFLOWS_MAX = 500;
/** 40–100: with more, tasks outlive their timeout under a burst and run twice. */
const WORKFLOW_TASKS_MAX = 40;

/**
 * Connects to Temporal, prepares it, and runs this process's workers; again whenever Temporal is unavailable at the start
 * or loses its database later. Starts through the gateway share the workers' connection, so they are eager.
 */
export function startTemporalWorkers(options: TemporalWorkersOptions) {
  const { config, log, onReturn, tracing } = options;
  let current: TemporalGateway | null = null;
  let workers: Worker[] = [];
  const [ready, announceReady] = announcement();
  let bundle = options.workflowBundle ?? existingBundle(config);
  let wasUnavailable = false;
  const stopped = new AbortController();
  const refusals = createRefusalLog(config, log);
  const [prepared, announcePrepared] = announcement();

  const runOnce = async (workflowBundle: WorkflowBundleOption): Promise<void> => {
    const connection = await NativeConnection.connect(temporalConnection(config));
    try {
      const gateway = createTemporalGateway({ config, connection, onReturn, onMissing: refusals.logMissing, tracing });
      await prepareFor(gateway);
      if (wasUnavailable) onReturn?.();
      wasUnavailable = false;
      workers = await createWorkers({ ...options, workflowBundle }, connection);
      announcePrepared();
      if (stopped.signal.aborted) return;
      current = gateway;
      const running = Promise.all(workers.map(async (worker) => worker.run()));
      announceReady();
      void becomeFirstBuild(options, connection);
      await running;
    } finally {
      current = null;
      await Promise.allSettled(workers.map(async (worker) => end(worker)));
      workers = [];
      await connection.close().catch(() => {});
    }
  };
  const running = (async () => {
    while (!stopped.signal.aborted) {
      let retryMs = RECONNECT_MS;
      try {
        bundle ??= await bundleWorkflows(log);
        await runOnce(bundle);
      } catch (error) {
        announcePrepared();
        wasUnavailable = bundle !== undefined;
        if (error instanceof UnpreparedError || refusals.logRefused(error)) retryMs = REFUSED_RETRY_MS;
        else logFailure(options, error, wasUnavailable);
      }
      await sleep(retryMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  })();

  const connected = (): TemporalGateway => requireConnection(current);
  return {
    /** Resolves at the first poll. */
    ready,
    /** Resolves once the workers are created, which blocks the event loop for seconds, or could not be. */
    prepared,
    isPolling: (): boolean => current !== null && !stopped.signal.aborted,
    /** While no connection exists, every call fails at once. */
    gateway: {
      send: async (message: OutboxMessage) => connected().send(message),
      running: async (workflowIds: string[]) => connected().running(workflowIds),
      reachable: (): boolean => current?.reachable() ?? false,
    },
    stop: async (): Promise<void> => {
      stopped.abort();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
    },
  };
}

/** Throws UnpreparedError where Temporal lacks what workers need, and does not let us create it. */
async function prepareFor(gateway: TemporalGateway): Promise<void> {
  const { missing } = await gateway.ensureTemporal();
  if (missing.some(({ stopsWorkers }) => stopsWorkers)) throw new UnpreparedError();
}

function logFailure({ config, log }: TemporalWorkersOptions, error: unknown, wasBundled: boolean): void {
  const { TEMPORAL_ADDRESS: address } = config;
  if (wasBundled) log.warn({ err: error, address }, 'Temporal is unavailable; retrying');
  else log.error({ err: error }, 'The workflows could not be bundled; retrying');
}

function requireConnection(gateway: TemporalGateway | null): TemporalGateway {
  if (!gateway) throw new UnavailableError('There is no connection to Temporal yet');
  return gateway;
}

function existingBundle({ WORKFLOW_BUNDLE_PATH: codePath }: Config): WorkflowBundleOption | undefined {
  return codePath === undefined ? undefined : { codePath };
}

/** The first build of an installation gets the workflows by itself; later ones wait for a release to give them. */
async function becomeFirstBuild({ config, log }: TemporalWorkersOptions, connection: NativeConnection): Promise<void> {
  const { TEMPORAL_WORKER_BUILD_ID: buildId } = config;
  if (buildId === undefined) return;
  try {
    const currentBuildId = await useBuild({ config, connection }, { buildId, withinMs: DAY_MS, unlessAnother: true });
    log.info({ buildId, currentBuildId }, 'the build that gets the workflows');
  } catch (error) {
    log.warn(
      { err: error, buildId },
      'whether this build gets workflows is unknown; make it current as in releasing.md',
    );
  }
}

/** Temporal lacks what workers need, which is logged. */
class UnpreparedError extends Error {
  override readonly name = 'UnpreparedError';
}

/** Logs what an administrator of Temporal has to do: once, and again when that has changed. */
function createRefusalLog({ TEMPORAL_ADDRESS: address }: Config, log: Logger) {
  let logged = '';
  const isNew = (what: string): boolean => {
    const before = logged;
    logged = what;
    return what !== before;
  };
  return {
    logMissing: (missing: Missing[]): void => {
      if (!isNew(listMissing(missing))) return;
      const needed = missing.some(({ stopsWorkers }) => stopsWorkers);
      if (needed) log.error({ address, missing }, 'Temporal lacks what it does not let us create; workers wait for it');
      else if (missing.length > 0) log.warn({ address, missing }, 'Temporal lacks what it does not let us create');
      else log.info({ address }, 'Temporal has all that workers need');
    },
    /** False for any other error. */
    logRefused: (error: unknown): boolean => {
      if (!isRefused(error)) return false;
      if (isNew(String(error)))
        log.error({ err: error, address, next: CHECK_ACCESS }, 'Temporal refuses our calls; retrying');
      return true;
    },
  };
}

/** A promise and the function that resolves it. */
function announcement(): [Promise<void>, () => void] {
  let announce = (): void => {};
  const announced = new Promise<void>((resolve) => {
    announce = resolve;
  });
  return [announced, announce];
}

async function createWorkers(options: TemporalWorkersOptions, connection: NativeConnection): Promise<Worker[]> {
  const created = await Promise.allSettled(
    workersOf(options).map(async (worker) => Worker.create({ ...worker, connection })),
  );
  const workers = created.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = created.find((one) => one.status === 'rejected');
  if (!failed) return workers;
  await Promise.allSettled(workers.map(end));
  throw failed.reason;
}

async function end(worker: Worker): Promise<void> {
  // A worker that never ran would keep the connection, and so the process: only a run releases it.
  if (worker.getState() === 'INITIALIZED') return worker.runUntil(async () => {});
  if (worker.getState() === 'RUNNING') worker.shutdown();
  while (!['STOPPED', 'FAILED'].includes(worker.getState())) await sleep(50);
}

/** Bundles the workflows into one script, from source in development and from the build in production. Takes a second or more. */
export async function bundleWorkflows(log: { warn: (message: string) => void }): Promise<{ code: string }> {
  const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const [workflowsPath = '', interceptors = ''] = ['index', 'interceptors'].map((name) =>
    join(import.meta.dirname, `../../workflows/${name}${extension}`),
  );
  const logger = new DefaultLogger('WARN', ({ message }) => log.warn(message));
  return bundleWorkflowCode({ workflowsPath, workflowInterceptorModules: [interceptors], logger });
}

/** The workers of the queues that this process serves: each with workflows costs a thread. */
function workersOf(options: TemporalWorkersOptions): WorkerOptions[] {
  const { config, activities, workflowBundle, tracing = NO_TRACING } = options;
  const { DATABASE_POOL_MAX: poolMax, TEMPORAL_WORKER_BUILD_ID: buildId, TASK_QUEUE_PREFIX: prefix } = config;
  const deploymentName = deploymentOf(config);
  const shared: Omit<WorkerOptions, 'taskQueue'> = {
    namespace: config.TEMPORAL_NAMESPACE,
    shutdownGraceTime: SHUTDOWN_GRACE,
    maxConcurrentActivityTaskExecutions: poolMax * ACTIVITIES_PER_CONNECTION,
    ...(tracing.isOn && { interceptors: { activity: [activitySpans(tracing)] } }),
    // Without a build, any worker gets any work. Workflows wait for weeks, so they continue with the current build: saved
    // histories prove that it can replay them (docs/operations/releasing.md).
    ...(buildId !== undefined && {
      workerDeploymentOptions: {
        version: { deploymentName, buildId },
        useWorkerVersioning: true,
        defaultVersioningBehavior: 'AUTO_UPGRADE',
      },
    }),
  };
  const withWorkflows = {
    ...shared,
    ...(workflowBundle && { workflowBundle }),
    maxCachedWorkflows: CACHED_WORKFLOWS_MAX,
    reuseV8Context: true,
  };
  const { payments, refunds, withdrawals, settlements, reconciliation, webhooks, reports } = activities;
  const money = { ...refunds, ...withdrawals, ...settlements, ...reconciliation };
  const workers: (WorkerOptions & { taskQueue: TaskQueue | typeof SLOW_SENDS })[] = [
    { ...withWorkflows, taskQueue: 'payments', activities: payments },
    { ...withWorkflows, taskQueue: 'money', activities: money },
    {
      ...withWorkflows,
      taskQueue: 'webhooks',
      activities: webhooks,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_MAX,
    },
    {
      ...shared,
      taskQueue: SLOW_SENDS,
      activities: { attemptDelivery: webhooks.attemptDelivery },
      maxConcurrentActivityTaskExecutions: poolMax * SLOW_SENDS_PER_CONNECTION,
    },
    {
      ...withWorkflows,
      taskQueue: 'reports',
      activities: reports,
      maxConcurrentActivityTaskExecutions: Math.ceil(poolMax / CONNECTIONS_PER_REPORT),
    },
  ];
  return workers
    .filter(({ taskQueue }) => config.TASK_QUEUES.includes(taskQueue === SLOW_SENDS ? 'webhooks' : taskQueue))
    .map((worker) => ({ ...worker, taskQueue: `${prefix}${worker.taskQueue}` }));
}
