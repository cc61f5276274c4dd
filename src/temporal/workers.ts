import { setTimeout as sleep } from 'node:timers/promises';

import type { WorkerDeploymentVersion } from '@temporalio/common';
import {
  NativeConnection,
  Runtime,
  Worker,
  makeTelemetryFilterString,
  type WorkerDeploymentOptions,
  type WorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';

import type { createActivities } from '../../activities/index.ts';
import type { TaskQueue } from '../config.ts';
import { UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/log.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import { bundleWorkflows } from './bundle.ts';
import { createTemporalGateway, type TemporalGateway, type TemporalGatewayOptions } from './client.ts';
import type { TemporalConnection } from './connection.ts';

type TemporalWorkersOptions = Omit<TemporalGatewayOptions, 'connection'> & {
  /** Read for each connection. */
  connectWith: () => TemporalConnection;
  /** The database pool, which bounds activities. */
  poolMax: number;
  /** The workers' build, where Temporal routes work by build; null: any worker gets any work. */
  build: WorkerDeploymentVersion | null;
  /** The queues this process serves: each with workflows costs a thread. */
  taskQueues: readonly TaskQueue[];
  /** A bundle that exists already (tests). */
  workflowBundle?: WorkflowBundleOption;
  log: Logger;
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

/**
 * Connects to Temporal, prepares it, and runs this process's workers; again whenever Temporal is unavailable at the start
 * or loses its database later. Starts through the gateway share the workers' connection, so they are eager.
 */
export function startTemporalWorkers(options: TemporalWorkersOptions, activities: ReturnType<typeof createActivities>) {
  let current: TemporalGateway | null = null;
  let workers: Worker[] = [];
  let stopping = false;
  let announceReady = (): void => {};
  const ready = new Promise<void>((resolve) => {
    announceReady = resolve;
  });
  let bundle = options.workflowBundle ?? null;
  let wasUnavailable = false;

  const runOnce = async (workflowBundle: WorkflowBundleOption): Promise<void> => {
    const connection = await connect(options.connectWith());
    try {
      const gateway = createTemporalGateway({ ...options, connection });
      await gateway.ensureTemporal();
      if (wasUnavailable) options.onReturn?.();
      wasUnavailable = false;
      const created = await Promise.allSettled(createWorkers({ options, connection, workflowBundle, activities }));
      // Workers that were created must be ended, also when another could not be.
      workers = created.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      const failed = created.find((one) => one.status === 'rejected');
      if (failed) throw failed.reason;
      if (stopping) return;
      current = gateway;
      const running = Promise.all(workers.map(async (worker) => worker.run()));
      announceReady();
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
      bundle ??= await bundleOrNull(options.log);
      if (bundle)
        await runOnce(bundle).catch((error: unknown) => {
          wasUnavailable = true;
          options.log.warn({ err: error }, 'Temporal is unavailable; retrying');
        });
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

/** Null when it fails; a fault of the workflows or their folder may be corrected before the next try. */
async function bundleOrNull(log: Logger): Promise<WorkflowBundleOption | null> {
  try {
    return await bundleWorkflows(log);
  } catch (error) {
    log.error({ err: error }, 'The workflows could not be bundled; retrying');
    return null;
  }
}

async function connect(connection: TemporalConnection): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(connection);
  } catch (error) {
    throw new UnavailableError(`No connection to Temporal at ${connection.address}: ${String(error)}`);
  }
}

async function end(worker: Worker): Promise<void> {
  // A worker that never ran would keep the connection, and so the process: only a run releases it.
  if (worker.getState() === 'INITIALIZED') return worker.runUntil(async () => {});
  if (worker.getState() === 'RUNNING') worker.shutdown();
  while (!['STOPPED', 'FAILED'].includes(worker.getState())) await sleep(50);
}

function createWorkers(parts: {
  options: TemporalWorkersOptions;
  connection: NativeConnection;
  workflowBundle: WorkflowBundleOption;
  activities: ReturnType<typeof createActivities>;
}): Promise<Worker>[] {
  const { options, connection, workflowBundle, activities } = parts;
  const { namespace, poolMax, build } = options;
  const shared = {
    connection,
    namespace,
    shutdownGraceTime: SHUTDOWN_GRACE,
    maxConcurrentActivityTaskExecutions: poolMax * ACTIVITIES_PER_CONNECTION,
    ...(build && { workerDeploymentOptions: deploymentOf(build) }),
  };
  const withWorkflows = { workflowBundle, maxCachedWorkflows: CACHED_WORKFLOWS_MAX, reuseV8Context: true };
  const workers: (WorkerOptions & { taskQueue: TaskQueue | typeof SLOW_SENDS })[] = [
    { ...withWorkflows, taskQueue: 'payments', activities: activities.payments },
    {
      ...withWorkflows,
      taskQueue: 'money',
      activities: { ...activities.withdrawals, ...activities.settlements, ...activities.reconciliation },
    },
    {
      ...withWorkflows,
      taskQueue: 'webhooks',
      activities: activities.webhooks,
      maxConcurrentWorkflowTaskExecutions: WORKFLOW_TASKS_MAX,
    },
    {
      taskQueue: SLOW_SENDS,
      activities: { attemptDelivery: activities.webhooks.attemptDelivery },
      maxConcurrentActivityTaskExecutions: poolMax * SLOW_SENDS_PER_CONNECTION,
    },
    {
      ...withWorkflows,
      taskQueue: 'reports',
      activities: activities.reports,
      maxConcurrentActivityTaskExecutions: Math.ceil(poolMax / CONNECTIONS_PER_REPORT),
    },
  ];
  return workers
    .filter(({ taskQueue }) => options.taskQueues.includes(taskQueue === SLOW_SENDS ? 'webhooks' : taskQueue))
    .map(async (worker) =>
      Worker.create({ ...shared, ...worker, taskQueue: `${options.taskQueuePrefix}${worker.taskQueue}` }),
    );
}

/**
 * Workflows wait for weeks, so they continue with the current build: saved histories prove that it can replay them
 * (docs/operations/releasing.md).
 */
function deploymentOf(version: WorkerDeploymentVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' };
}

/**
 * Routes Temporal's log into ours, and its metrics to an address; once per process, before anything of Temporal's is used.
 * Its warnings stay warnings only with a failure, such as a bug in a workflow. Its core repeats each failed poll many times
 * a second, so of the core only errors are logged, and warnings of its workflow machinery.
 */
export function installRuntime(log: Logger, metrics: { bindAddress: string } | null): void {
  const write = (level: string, message: string, meta?: Record<string, unknown>): void => {
    const { error, failure, workflowId, runId } = meta ?? {};
    const reason = typeof failure === 'string' ? failure.slice(0, FAILURE_CHARACTERS_MAX) : undefined;
    const details = { err: error, failure: reason, workflowId, runId };
    if (level === 'ERROR') log.error(details, message);
    else if (level === 'WARN') log[error === undefined && reason === undefined ? 'info' : 'warn'](details, message);
  };
  const at = (level: string) => (message: string, meta?: Record<string, unknown>) => write(level, message, meta);
  const logger = { log: write, trace: at('TRACE'), debug: at('DEBUG'), info: at('INFO'), warn: at('WARN') };
  const errors = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  const filter = `${errors},temporalio_sdk_core::worker::workflow=WARN`;
  Runtime.install({
    logger: { ...logger, error: at('ERROR') },
    telemetryOptions: {
      logging: { forward: {}, filter },
      ...(metrics && { metrics: { prometheus: { bindAddress: metrics.bindAddress } } }),
    },
  });
}
