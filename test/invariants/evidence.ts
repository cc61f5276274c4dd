import type { Client } from '@temporalio/client';

import type { Queryable } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { Order } from '../../src/sandbox/simulator/order.ts';
import type { ClientJournal } from '../support/merchant-client.ts';
import type { ReceivedRequest } from '../support/receiver.ts';

/** The requests of a receiver, and its merchant. */
export type ReceiverJournal = { url: string; scope: MerchantScope; requests: readonly ReceivedRequest[] };

/** An order of a provider, with our id of it. */
export type ProviderOrder = Pick<Order, 'state' | 'amount' | 'paidAmount' | 'decidedAtMs'> & { attemptId: string };

/** A running workflow; `failures`: the number of successive failures of its current task. */
export type RunningWorkflow = { failures: number };

/** The input of all checks, gathered from outside the code under test. */
export type Evidence = {
  db: Queryable;
  now: Date;
  clients: readonly ClientJournal[];
  receivers: readonly ReceiverJournal[];
  /** Null if no simulator was used. */
  orders: readonly ProviderOrder[] | null;
  /** By workflow id. */
  running: ReadonlyMap<string, RunningWorkflow>;
  retryDelaysSeconds: readonly number[];
  /** The repeated deliveries that faults explain: one per kill and send in flight. */
  duplicatesMax: number;
};

export const RETRY_DELAYS_SECONDS: readonly number[] = [60, 300, 1_800, 7_200, 43_200];

/** The running workflows on the queues with this prefix. */
export async function readRunning(
  client: Client,
  taskQueuePrefix: string,
): Promise<ReadonlyMap<string, RunningWorkflow>> {
  const query = `ExecutionStatus = 'Running' AND TaskQueue IN ('${taskQueuePrefix}payments', '${taskQueuePrefix}webhooks')`;
  const running = new Map<string, RunningWorkflow>();
  for await (const { workflowId } of client.workflow.list({ query })) {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    running.set(workflowId, { failures: (raw.pendingWorkflowTask?.attempt ?? 1) - 1 });
  }
  return running;
}
