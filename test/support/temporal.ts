import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import { DefaultLogger, NativeConnection, Runtime, makeTelemetryFilterString } from '@temporalio/worker';

import { testStack } from './stack-facts.ts';

// FastForwardPollingResult of temporal.api.enums.v1.
const COMPLETED = 2;
const FAILED = 3;

export type TestTemporal = {
  client: Client;
  /** For workers. */
  connection: NativeConnection;
  /** In afterAll, once the file's workers have stopped. */
  close: () => Promise<void>;
};

/** Leaves only errors of Temporal's own log; once, before anything of Temporal's is used. */
export function quietenTemporal(): void {
  const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter, forward: {} } } });
}

/** The shared test server. Every test file brings its own task queues. */
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

/** How long a test waits for a workflow, or for anything else that takes its time, before it fails and names it. */
export const WAIT_MS = 20_000;

/** The result of a workflow, which may be about to start. Throws its failure; or, after `WAIT_MS`, what it waits for. */
export async function resultOf(handle: WorkflowHandle): Promise<unknown> {
  await untilStarted(handle);
  return withinWait(handle, handle.result());
}

async function withinWait<T>(handle: WorkflowHandle, work: Promise<T>): Promise<T> {
  const abort = new AbortController();
  const timeOut = sleep(WAIT_MS, undefined, { signal: abort.signal }).then(async () => {
    throw new Error(`waited ${WAIT_MS / 1_000} s for workflow ${handle.workflowId}: ${await stateOf(handle)}`);
  });
  timeOut.catch(() => {});
  try {
    return await Promise.race([work, timeOut]);
  } finally {
    abort.abort();
  }
}

/** The status of a workflow, its last event, and the activities under way with their latest failures. */
async function stateOf(handle: WorkflowHandle): Promise<string> {
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
 * Lets a workflow live through `ms` of its own time at once, every timer on the way firing in its order, and returns
 * when that time is reached or the workflow has ended before. The time is bounded on purpose: without a bound it would
 * run on to the workflow's end. Activities and SQL stay on the real clock.
 *
 * A workflow that is only about to be started is waited for: first attempts made directly come before it.
 *
 * What the last timer sets off may still be under way: await its outcome. Throws when the server cannot skip, for
 * instance because the workflow has ended already.
 */
export async function skipTime(client: Client, workflowId: string, ms: number): Promise<void> {
  await untilStarted(client.workflow.getHandle(workflowId));
  await skipTimeOfStarted(client, workflowId, ms);
}

/** The same, of a workflow that is there. Throws when it is not. */
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
    const poll = await withinWait(client.workflow.getHandle(workflowId), polling);
    if (poll.fastForwardPollingResult === COMPLETED) return;
    if (poll.fastForwardPollingResult !== FAILED) continue;
    if (poll.failedReason.includes('execution ended')) return;
    throw new Error(`time of ${workflowId} could not be skipped: ${poll.failedReason}`);
  }
}
