import type { Client } from '@temporalio/client';

import type { Queryable } from '../../src/lib/db.ts';
import type { MerchantScope } from '../../src/lib/scope.ts';
import type { JournalOrder } from '../../src/sandbox/simulator/admin.ts';
import type { ClientJournal } from '../support/merchant-client.ts';
import type { ReceivedRequest } from '../support/receiver.ts';

/** What a receiver got, and whose it is. */
export type ReceiverJournal = { url: string; scope: MerchantScope; requests: readonly ReceivedRequest[] };

/** An order as the providers know it, under our name for it. */
export type ProviderOrder = Pick<JournalOrder, 'state' | 'amount' | 'paidAmount' | 'decidedAt'> & { attemptId: string };

/** A workflow that runs; `failures`: how often its code has failed in a row to take its next step. */
export type RunningWorkflow = { failures: number };

/** All that the invariants are judged by, from outside: nothing here is asked of the code under test. */
export type Evidence = {
  db: Queryable;
  now: Date;
  clients: readonly ClientJournal[];
  receivers: readonly ReceiverJournal[];
  /** Null where no simulator was paid with. */
  orders: readonly ProviderOrder[] | null;
  /** By workflow id. */
  running: ReadonlyMap<string, RunningWorkflow>;
  retryDelaysSeconds: readonly number[];
  /** Repeated deliveries that faults explain: one per kill and send in flight. */
  duplicatesMax: number;
};

export const RETRY_DELAYS_SECONDS: readonly number[] = [60, 300, 1_800, 7_200, 43_200];

/** The workflows that run on the queues of this prefix. */
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
