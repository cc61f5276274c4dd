import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import {
  ScheduleAlreadyRunning,
  ScheduleClient,
  ScheduleOverlapPolicy,
  isGrpcServiceError,
  type Connection,
  type ScheduleOptions,
} from '@temporalio/client';
import { NamespaceNotFoundError, SearchAttributeType } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { NativeConnection } from '@temporalio/worker';

import type { Config } from '../config.ts';
import { DAY_MS } from '../lib/dates.ts';

const { INT, KEYWORD } = SearchAttributeType;
/** Shared by all workflow types, for operators' filters. 10 Keyword columns exist. */
export const SEARCH_ATTRIBUTES = {
  BusinessStatus: KEYWORD,
  MerchantId: KEYWORD,
  Environment: KEYWORD,
  EventType: KEYWORD,
  SubscriptionId: KEYWORD,
  Channel: KEYWORD,
  CheckoutOrderNo: KEYWORD,
  ReceiverHost: KEYWORD,
  LastHttpStatus: INT,
} as const;
/** temporal.api.enums.v1.IndexedValueType */
const INDEXED_AS = { [KEYWORD]: 2, [INT]: 3 };

/** A daily schedule of the queue `money`, by the clock of Addis Ababa. */
type Schedule = { hour: number; summary: string };
const NIGHTLY: Schedule = {
  hour: 2,
  summary: "Requests reconciliation of the last days with the providers' statements",
};
/** The workflow type of the schedule, and after the queues' prefix its id. */
export const NIGHTLY_WORKFLOW = 'nightlyReconciliation';
const TIME_ZONE = 'Africa/Addis_Ababa';
/** Longer than any outage of Temporal: a missed night is caught up. */
const CATCH_UP_MS = DAY_MS;

const ENSURE_TIMEOUT_MS = 10_000;
const NAMESPACE_TRIES = 20;
const NAMESPACE_POLL_MS = 250;
/** gRPC. */
const ALREADY_EXISTS = 6;

export type TemporalParts = { config: Config; connection: Connection | NativeConnection };

/** Creates namespace, retention, search attributes and the schedule; idempotent. Returns what it created. */
export async function ensureTemporal({ config, connection }: TemporalParts): Promise<string[]> {
  const namespace = config.TEMPORAL_NAMESPACE;
  return connection.withDeadline(Date.now() + ENSURE_TIMEOUT_MS, async () => {
    const workflowExecutionRetentionPeriod = msToTs(config.TEMPORAL_RETENTION_DAYS * DAY_MS);
    const isNew = await createUnlessExists(async () =>
      connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod }),
    );
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
    const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, INDEXED_AS[type]]));
    if (missing.length > 0) {
      await createUnlessExists(async () =>
        connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
      );
    }
    return [
      ...(isNew ? [`namespace ${namespace}`] : []),
      ...missing.map(([name]) => `search attribute ${name}`),
      ...(await ensureSchedule({ config, connection })),
    ];
  });
}

/** Creates the schedule, or updates one that differs. An operator's pause and its note stay. */
export async function ensureSchedule(
  { config: { TEMPORAL_NAMESPACE: namespace, TASK_QUEUE_PREFIX: prefix }, connection }: TemporalParts,
  { hour, summary }: Schedule = NIGHTLY,
): Promise<string[]> {
  const client = new ScheduleClient({ connection, namespace });
  const workflowType = NIGHTLY_WORKFLOW;
  const workflowId = `${prefix}${workflowType}`;
  const taskQueue = `${prefix}money`;
  const definition: ScheduleOptions = {
    scheduleId: workflowId,
    spec: { calendars: [{ hour, comment: summary }], timezone: TIME_ZONE },
    action: { type: 'startWorkflow', workflowId, workflowType, taskQueue, staticSummary: summary },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP_MS },
  };
  if (await createUnlessExists(async () => client.create(definition))) return [`schedule ${workflowType}`];
  const handle = client.getHandle(workflowId);
  const { spec, action, policies } = await handle.describe();
  const calendars = spec.calendars?.map((one) => [one.comment, one.hour.map(({ start, end }) => [start, end])]);
  const found = [calendars, spec.timezone, action.workflowType, action.taskQueue, policies.catchupWindow];
  const wanted = [[[summary, [[hour, hour]]]], TIME_ZONE, workflowType, taskQueue, CATCH_UP_MS];
  if (isDeepStrictEqual(found, wanted)) return [];
  await handle.update(({ state }) => ({ ...definition, state }));
  return [`changed schedule ${workflowType}`];
}

/** False when it existed. A new namespace is not known to all parts of a server at once. */
async function createUnlessExists(create: () => Promise<unknown>): Promise<boolean> {
  for (let left = NAMESPACE_TRIES; ; left -= 1) {
    try {
      await create();
      return true;
    } catch (error) {
      if (error instanceof ScheduleAlreadyRunning) return false;
      if (isGrpcServiceError(error) && error.code === ALREADY_EXISTS) return false;
      if (!(error instanceof NamespaceNotFoundError) || left === 0) throw error;
    }
    await sleep(NAMESPACE_POLL_MS);
  }
}
