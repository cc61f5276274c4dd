import { Client, Connection } from '@temporalio/client';

import type { BenchStack } from './stack.ts';

/** A client of Temporal for the bench. */
export type Workflows = {
  /** The number of running workflows on this task queue. */
  running: (taskQueue: string) => Promise<number>;
  /** The number of workflows that were ever started on it. */
  started: (taskQueue: string) => Promise<number>;
  /** Resolves when the workflow has ended, with the number of events in its history. */
  historyEvents: (workflowId: string) => Promise<number>;
  close: () => Promise<void>;
};

export async function openWorkflows({ temporal }: BenchStack): Promise<Workflows> {
  const connection = await Connection.connect({ address: temporal.address });
  const { workflow } = new Client({ connection });
  return {
    running: async (taskQueue) =>
      (await workflow.count(`ExecutionStatus = 'Running' AND TaskQueue = '${taskQueue}'`)).count,
    started: async (taskQueue) => (await workflow.count(`TaskQueue = '${taskQueue}'`)).count,
    historyEvents: async (workflowId) => {
      const handle = workflow.getHandle(workflowId);
      await handle.result();
      return (await handle.fetchHistory()).events?.length ?? 0;
    },
    close: () => connection.close(),
  };
}
