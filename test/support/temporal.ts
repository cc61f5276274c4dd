import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { IllegalStateError, WorkflowNotFoundError } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { DefaultLogger, NativeConnection, Runtime, makeTelemetryFilterString } from '@temporalio/worker';

import { testStack } from './stack-facts.ts';
import { WAIT_MS } from './until.ts';

// FastForwardPollingResult of temporal.api.enums.v1.
const COMPLETED = 2;
const FAILED = 3;

export type TestTemporal = {
  client: Client;
  /** For workers. */
  connection: NativeConnection;
  /** For afterAll, after the file's workers have stopped. */
  close: () => Promise<void>;
};

/** Limits Temporal's log to errors; runs before the first use of Temporal. A process has one native runtime for all files. */
export function quietenTemporal(): void {
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter, forward: {} } } });
  } catch (error) {
    // By an earlier file of this process.
    if (!(error instanceof IllegalStateError && error.message.endsWith('already been installed'))) throw error;
  }
}

/** A connection to the shared test server. Each test file has task queues of its own. */
export async function connectTestTemporal(): Promise<TestTemporal> {
  quietenTemporal();
  const address = testStack().temporalAddress;
  const [connection, clientConnection] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
  ]);
  const close = async (): Promise<void> => {
    await Promise.all([connection.close(), clientConnection.close()]);
  };
  return { client: new Client({ connection: clientConnection }), connection, close };
}

/** The result of a workflow, which may not have started yet. Throws its failure, or after `WAIT_MS` its state. */
export async function resultOf(handle: WorkflowHandle): Promise<unknown> {
  await untilStarted(handle);
  return failAfterWait(handle, handle.result());
}

async function failAfterWait<T>(handle: WorkflowHandle, work: Promise<T>): Promise<T> {
  const abort = new AbortController();
  const timeOut = sleep(WAIT_MS, undefined, { signal: abort.signal }).then(async () => {
    throw new Error(`waited ${WAIT_MS / 1_000} s for workflow ${handle.workflowId}: ${await describeWorkflow(handle)}`);
  });
  timeOut.catch(() => {});
  try {
    return await Promise.race([work, timeOut]);
  } finally {
    abort.abort();
  }
}

/** The status of a workflow, its last event, and its pending activities with their latest failures. */
async function describeWorkflow(handle: WorkflowHandle): Promise<string> {
  const [{ status, raw }, { events = [] }] = await Promise.all([handle.describe(), handle.fetchHistory()]);
  const activities = (raw.pendingActivities ?? []).map(({ activityType, attempt, lastFailure }) => {
    const failure = lastFailure?.message ? `, failed with "${lastFailure.message}"` : '';
    return `${activityType?.name} (attempt ${attempt}${failure})`;
  });
  const last = Object.keys(events?.at(-1) ?? {}).find((name) => name.endsWith('EventAttributes'));
  return `${status.name} after ${events?.length} events, the last with ${last}; activities: ${activities.join(', ') || 'none'}`;
}

async function untilStarted(handle: WorkflowHandle): Promise<void> {
  const deadlineMs = Date.now() + WAIT_MS;
  for (;;) {
    try {
      await handle.describe();
      return;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError) || Date.now() > deadlineMs) throw error;
      await sleep(50);
    }
  }
}

/**
 * Advances a workflow by `ms` of its own time at once; all timers on the way fire in order. Returns when that time is
 * reached or the workflow has ended. Without this bound it would run to the workflow's end. Activities and SQL use the
 * real clock. Waits for a workflow that has not started yet, since the first attempt is made without one. The effects
 * of the last timer may still be pending afterwards. Throws if the server cannot skip time.
 */
export async function skipTime(client: Client, workflowId: string, ms: number): Promise<void> {
  await untilStarted(client.workflow.getHandle(workflowId));
  await skipTimeOfStarted(client, workflowId, ms);
}

/** The same for a workflow that has started; throws if it does not exist. */
export async function skipTimeOfStarted(client: Client, workflowId: string, ms: number): Promise<void> {
  const { workflowService } = client;
  const { namespace } = client.options;
  const workflowExecution = { workflowId };
  const fastForwardId = randomUUID();
  const timeSkippingConfig = { enabled: true, fastForwardConfig: { id: fastForwardId, duration: msToTs(ms) } };
  await workflowService.updateWorkflowExecutionOptions({
    namespace,
    workflowExecution,
    workflowExecutionOptions: { timeSkippingConfig },
    updateMask: { paths: ['time_skipping_config'] },
  });
  for (;;) {
    const polling = workflowService.pollWorkflowExecutionTimeSkipping({ namespace, workflowExecution, fastForwardId });
    const poll = await failAfterWait(client.workflow.getHandle(workflowId), polling);
    if (poll.fastForwardPollingResult === COMPLETED) return;
    if (poll.fastForwardPollingResult !== FAILED) continue;
    if (poll.failedReason.includes('execution ended')) return;
    throw new Error(`time of ${workflowId} could not be skipped: ${poll.failedReason}`);
  }
}
