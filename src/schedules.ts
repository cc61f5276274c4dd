import { setTimeout as sleep } from 'node:timers/promises';

import {
  ScheduleAlreadyRunning,
  ScheduleClient,
  ScheduleOverlapPolicy,
  type ConnectionLike,
  type ScheduleOptions,
} from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

/** What Temporal starts by itself, by the clock in Addis Ababa. */
const SCHEDULES: readonly { workflowType: string; queue: string; hour: number; summary: string }[] = [
  {
    workflowType: 'nightlyReconciliation',
    queue: 'money',
    hour: 2,
    summary: "asks for the last days to be compared with the providers' lists",
  },
];

/** Longer than Temporal is ever away: a night that was missed is made up for. */
const CATCH_UP = '1 day';

/** Makes the schedules that are missing; repeatable. Returns what it made. */
export async function ensureSchedules(options: {
  connection: ConnectionLike;
  namespace: string;
  taskQueuePrefix: string;
}): Promise<string[]> {
  const { connection, namespace, taskQueuePrefix } = options;
  const client = new ScheduleClient({ connection, namespace });
  const made: string[] = [];
  for (const { workflowType, queue, hour, summary } of SCHEDULES) {
    const isNew = await createUnlessThere(client, {
      scheduleId: `${taskQueuePrefix}${workflowType}`,
      spec: { calendars: [{ hour, comment: summary }], timezone: 'Africa/Addis_Ababa' },
      action: {
        type: 'startWorkflow',
        workflowId: `${taskQueuePrefix}${workflowType}`,
        workflowType,
        taskQueue: `${taskQueuePrefix}${queue}`,
        staticSummary: summary,
      },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP },
    });
    if (isNew) made.push(`schedule ${workflowType}`);
  }
  return made;
}

/** Not every part of a server knows a new namespace at once. */
const NAMESPACE_WAIT_MS = 5_000;
const NAMESPACE_POLL_MS = 250;

async function createUnlessThere(client: ScheduleClient, options: ScheduleOptions): Promise<boolean> {
  for (let waitedMs = 0; ; waitedMs += NAMESPACE_POLL_MS) {
    try {
      await client.create(options);
      return true;
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) return false;
      if (!(error instanceof NamespaceNotFoundError) || waitedMs >= NAMESPACE_WAIT_MS) throw error;
    }
    await sleep(NAMESPACE_POLL_MS);
  }
}
