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
    summary: "Requests reconciliation of the last days with the providers' statements",
  },
];

/** Longer than any outage of Temporal: a missed night is caught up. */
const CATCH_UP_MS = DAY_MS;
const TIME_ZONE = 'Africa/Addis_Ababa';

type Definition = ScheduleOptions & { spec: { timezone: string }; action: { workflowType: string; taskQueue: string } };

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
  const changes: string[] = [];
  for (const schedule of schedules) {
    const definition = definitionOf(schedule, taskQueuePrefix);
    const { workflowType } = schedule;
    if (await createUnlessExists(client, definition)) {
      changes.push(`schedule ${workflowType}`);
      continue;
    }
    const handle = client.getHandle(definition.scheduleId);
    if (isCurrent(await handle.describe(), schedule, definition)) continue;
    // An operator's pause and its note stay.
    await handle.update(({ state }) => ({ ...definition, state }));
    changes.push(`changed schedule ${workflowType}`);
  }
  return changes;
}

function definitionOf({ workflowType, queue, hour, summary }: Schedule, taskQueuePrefix: string): Definition {
  const id = `${taskQueuePrefix}${workflowType}`;
  const taskQueue = `${taskQueuePrefix}${queue}`;
  return {
    scheduleId: id,
    spec: { calendars: [{ hour, comment: summary }], timezone: TIME_ZONE },
    action: { type: 'startWorkflow', workflowId: id, workflowType, taskQueue, staticSummary: summary },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP_MS },
  };
}

function isCurrent(found: ScheduleDescription, { hour, summary }: Schedule, { action }: Definition): boolean {
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

/** A new namespace is not known to all parts of a server at once. */
const NAMESPACE_WAIT_MS = 5_000;
const NAMESPACE_POLL_MS = 250;

async function createUnlessExists(client: ScheduleClient, definition: Definition): Promise<boolean> {
  for (let waitedMs = 0; ; waitedMs += NAMESPACE_POLL_MS) {
    try {
      await client.create(definition);
      return true;
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) return false;
      if (!(error instanceof NamespaceNotFoundError) || waitedMs >= NAMESPACE_WAIT_MS) throw error;
    }
    await sleep(NAMESPACE_POLL_MS);
  }
}
