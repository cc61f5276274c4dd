import { setTimeout as sleep } from 'node:timers/promises';

import {
  ScheduleAlreadyRunning,
  ScheduleClient,
  ScheduleOverlapPolicy,
  type ConnectionLike,
  type ScheduleDescription,
  type ScheduleOptions,
} from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';

import type { TaskQueue } from '../config.ts';
import { DAY_MS } from '../lib/dates.ts';

/** The daily schedules, by the clock of Addis Ababa. */
export type Schedule = { workflowType: string; queue: TaskQueue; hour: number; summary: string };

const SCHEDULES: readonly Schedule[] = [
  {
    workflowType: 'nightlyReconciliation',
    queue: 'money',
    hour: 2,
    summary: "asks for the last days to be compared with the providers' lists",
  },
];

/** Longer than any outage of Temporal: a missed night is caught up. */
const CATCH_UP_MS = DAY_MS;
const TIME_ZONE = 'Africa/Addis_Ababa';

type Wanted = ScheduleOptions & { spec: { timezone: string }; action: { workflowType: string; taskQueue: string } };

/** Creates missing schedules and updates those that differ; idempotent. Returns what it changed. */
export async function ensureSchedules(options: {
  connection: ConnectionLike;
  namespace: string;
  taskQueuePrefix: string;
  /** In place of the product's own (tests). */
  schedules?: readonly Schedule[];
}): Promise<string[]> {
  const { connection, namespace, taskQueuePrefix, schedules = SCHEDULES } = options;
  const client = new ScheduleClient({ connection, namespace });
  const did: string[] = [];
  for (const schedule of schedules) {
    const wanted = scheduleOptions(schedule, taskQueuePrefix);
    if (await createUnlessThere(client, wanted)) did.push(`schedule ${schedule.workflowType}`);
    else if (await changeUnlessSo(client, { schedule, wanted })) did.push(`changed schedule ${schedule.workflowType}`);
  }
  return did;
}

function scheduleOptions({ workflowType, queue, hour, summary }: Schedule, taskQueuePrefix: string): Wanted {
  return {
    scheduleId: `${taskQueuePrefix}${workflowType}`,
    spec: { calendars: [{ hour, comment: summary }], timezone: TIME_ZONE },
    action: {
      type: 'startWorkflow',
      workflowId: `${taskQueuePrefix}${workflowType}`,
      workflowType,
      taskQueue: `${taskQueuePrefix}${queue}`,
      staticSummary: summary,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP_MS },
  };
}

/** An operator's pause and its note stay. */
async function changeUnlessSo(
  client: ScheduleClient,
  { schedule, wanted }: { schedule: Schedule; wanted: Wanted },
): Promise<boolean> {
  const handle = client.getHandle(wanted.scheduleId);
  if (isSo(await handle.describe(), schedule, wanted)) return false;
  await handle.update(({ state }) => ({ ...wanted, state }));
  return true;
}

function isSo(found: ScheduleDescription, { hour, summary }: Schedule, { action }: Wanted): boolean {
  const [calendar, ...others] = found.spec.calendars ?? [];
  return (
    others.length === 0 &&
    calendar?.comment === summary &&
    calendar.hour.every(({ start, end }) => start === hour && end === hour) &&
    found.spec.timezone === TIME_ZONE &&
    found.action.workflowType === action.workflowType &&
    found.action.taskQueue === action.taskQueue &&
    found.policies.catchupWindow === CATCH_UP_MS
  );
}

/** Not all parts of a server know a new namespace at once. */
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
