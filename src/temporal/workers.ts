import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  bundleWorkflowCode,
  makeTelemetryFilterString,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';

import type { createActivities } from '../../activities/index.ts';
import type { Config, TaskQueue } from '../config.ts';
import { DAY_MS } from '../lib/dates.ts';
import { UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import { anyFreePort } from '../lib/ports.ts';
import { NO_TRACING, type Tracing } from '../lib/tracing.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import { deploymentOf, useBuild } from './builds.ts';
import { createTemporalGateway, temporalConnection, type TemporalGateway } from './client.ts';
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
/** Of a failed workflow task's report by Temporal's core: the message, not the stack. */
const FAILURE_CHARACTERS_MAX = 300;
const READ_METRICS_WITHIN_MS = 1_000;

/**
 * Connects to Temporal, prepares it, and runs this process's workers; again whenever Temporal is unavailable at the start
 * or loses its database later. Starts through the gateway share the workers' connection, so they are eager.
 */
export function startTemporalWorkers(options: TemporalWorkersOptions) {
  const { config, log, onReturn, tracing } = options;
  let current: TemporalGateway | null = null;
  let workers: Worker[] = [];
  let stopping = false;
  const [ready, announceReady] = announcement();
  let bundle = options.workflowBundle ?? existingBundle(config);
  let wasUnavailable = false;
  const [prepared, announcePrepared] = announcement();

  const runOnce = async (workflowBundle: WorkflowBundleOption): Promise<void> => {
    const connection = await NativeConnection.connect(temporalConnection(config));
    try {
      const gateway = createTemporalGateway({ config, connection, onReturn, tracing });
      await gateway.ensureTemporal();
      if (wasUnavailable) onReturn?.();
      wasUnavailable = false;
      workers = await createWorkers({ ...options, workflowBundle }, connection);
      announcePrepared();
      if (stopping) return;
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
    while (!stopping) {
      try {
        bundle ??= await bundleWorkflows(log);
        await runOnce(bundle);
      } catch (error) {
        announcePrepared();
        wasUnavailable = bundle !== undefined;
        if (wasUnavailable)
          log.warn({ err: error, address: config.TEMPORAL_ADDRESS }, 'Temporal is unavailable; retrying');
        else log.error({ err: error }, 'The workflows could not be bundled; retrying');
      }
      if (!stopping) await sleep(RECONNECT_MS);
    }
  })();

  const connected = (): TemporalGateway => {
    if (!current) throw new UnavailableError('There is no connection to Temporal yet');
    return current;
  };
  return {
    /** Resolves at the first poll. */
    ready,
    /** Resolves once the workers are created, which blocks the event loop for seconds, or could not be. */
    prepared,
    isPolling: (): boolean => current !== null && !stopping,
    /** While no connection exists, every call fails at once. */
    gateway: {
      send: async (message: OutboxMessage) => connected().send(message),
      running: async (workflowIds: string[]) => connected().running(workflowIds),
      reachable: (): boolean => current?.reachable() ?? false,
    },
    stop: async (): Promise<void> => {
      stopping = true;
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
    },
  };
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

/**
 * Routes Temporal's log into ours, and its metrics (polls, task latencies, failures, cache) to any free port of the loopback
 * interface; once per process, before anything of Temporal's is used. Returns a reader of these metrics in Prometheus'
 * text format. Warnings stay warnings only with a failure, such as a bug in a workflow. The core repeats each failed poll
 * many times a second, so of the core only errors are logged, and warnings of its workflow machinery.
 */
export async function installRuntime(log: Logger): Promise<() => Promise<string>> {
  // Workers that start at once would choose the same next port.
  const bindAddress = `127.0.0.1:${await anyFreePort()}`;
  const logger = new DefaultLogger('WARN', ({ level, message, meta = {} }) => {
    const { error, failure, workflowId, runId } = meta;
    const reason = typeof failure === 'string' ? failure.slice(0, FAILURE_CHARACTERS_MAX) : undefined;
    const details = { err: error, failure: reason, workflowId, runId };
    if (level === 'ERROR') log.error(details, message);
    else log[error === undefined && reason === undefined ? 'info' : 'warn'](details, message);
  });
  const errors = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  const filter = `${errors},temporalio_sdk_core::worker::workflow=WARN`;
  Runtime.install({
    logger,
    telemetryOptions: { logging: { forward: {}, filter }, metrics: { prometheus: { bindAddress } } },
  });
  return async () => {
    const signal = AbortSignal.timeout(READ_METRICS_WITHIN_MS);
    return fetch(`http://${bindAddress}/metrics`, { signal }).then(
      async (response) => response.text(),
      () => '',
    );
  };
}
