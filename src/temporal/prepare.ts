import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

import {
  ScheduleAlreadyRunning,
  ScheduleClient,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  isGrpcServiceError,
  type ScheduleOptions,
} from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';

import { DAY_MS, HOUR_MS } from '../lib/dates.ts';
import {
  CATCH_UP_HOURS,
  findMissingAttributes,
  indexedAs,
  isRefused,
  type Missing,
  missingAttributes,
  missingNamespace,
  missingSchedule,
  noAccess,
  type Schedule,
  SCHEDULES,
  SEARCH_ATTRIBUTES,
  type SearchAttribute,
  type TemporalParts,
  TIME_ZONE,
} from './requirements.ts';

const ENSURE_TIMEOUT_MS = 10_000;
const NAMESPACE_TRIES = 20;
const NAMESPACE_POLL_MS = 250;
/** gRPC. */
const [NOT_FOUND, ALREADY_EXISTS] = [5, 6];

/** What was created, and what is missing because Temporal does not let us create it. */
export type Prepared = { created: string[]; missing: Missing[] };

/**
 * Creates namespace, retention, search attributes and the schedules where they are missing; idempotent. What exists is found by
 * calls that whoever starts workflows may make. Throws what Temporal answers, unless it refuses to let us look or create.
 */
export async function ensureTemporal(parts: TemporalParts): Promise<Prepared> {
  return parts.connection.withDeadline(Date.now() + ENSURE_TIMEOUT_MS, async () => {
    const namespace = await ensureNamespace(parts);
    if (namespace.missing.length > 0) return namespace;
    const attributes = await ensureAttributes(parts);
    const all = [namespace, attributes];
    for (const schedule of SCHEDULES) all.push(await ensureSchedule(parts, schedule));
    return { created: all.flatMap(({ created }) => created), missing: all.flatMap(({ missing }) => missing) };
  });
}

const NOTHING: Prepared = { created: [], missing: [] };

/** The result of a change that Temporal may refuse. */
async function unlessRefused(change: () => Promise<string[]>, missing: Missing[]): Promise<Prepared> {
  try {
    return { created: await change(), missing: [] };
  } catch (error) {
    if (!isRefused(error)) throw error;
    return { created: [], missing };
  }
}

async function ensureNamespace({ config, connection }: TemporalParts): Promise<Prepared> {
  const { TEMPORAL_NAMESPACE: namespace, TEMPORAL_RETENTION_DAYS: days } = config;
  const { workflowService } = connection;
  try {
    await workflowService.describeNamespace({ namespace });
    return NOTHING;
  } catch (error) {
    if (isRefused(error)) return { created: [], missing: [noAccess(config)] };
    if (!isGrpcServiceError(error) || error.code !== NOT_FOUND) throw error;
  }
  const register = async (): Promise<string[]> => {
    const workflowExecutionRetentionPeriod = msToTs(days * DAY_MS);
    const isNew = await createUnlessExists(async () =>
      workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod }),
    );
    return isNew ? [`namespace ${namespace}`] : [];
  };
  const names = Object.keys(SEARCH_ATTRIBUTES) as SearchAttribute[];
  const schedules = SCHEDULES.map((schedule) => missingSchedule(config, schedule));
  // Without it, there is nothing else either.
  const all = [missingNamespace(config), ...missingAttributes(config, names), ...schedules];
  return unlessRefused(register, all);
}

async function ensureAttributes(parts: TemporalParts): Promise<Prepared> {
  const { config, connection } = parts;
  const names = await onceKnown(async () => findMissingAttributes(parts));
  if (names.length === 0) return NOTHING;
  const searchAttributes = Object.fromEntries(names.map((name) => [name, indexedAs(name)]));
  const add = async (): Promise<string[]> => {
    const { TEMPORAL_NAMESPACE: namespace } = config;
    await createUnlessExists(async () =>
      connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
    );
    return names.map((name) => `search attribute ${name}`);
  };
  return unlessRefused(add, missingAttributes(config, names));
}

/** Creates the schedule, or updates one that differs. An operator's pause and its note stay. */
export async function ensureSchedule(parts: TemporalParts, wanted: Schedule): Promise<Prepared> {
  const { config, connection } = parts;
  const { TEMPORAL_NAMESPACE: namespace, TASK_QUEUE_PREFIX: prefix } = config;
  const client = new ScheduleClient({ connection, namespace });
  const handle = client.getHandle(`${prefix}${wanted.workflowType}`);
  const definition = scheduleOptions(prefix, wanted);
  const change = async (): Promise<string[]> => {
    const found = await handle.describe().catch((error: unknown) => {
      if (error instanceof ScheduleNotFoundError || error instanceof NamespaceNotFoundError) return null;
      throw error;
    });
    if (!found) {
      const isNew = await createUnlessExists(async () => client.create(definition));
      return isNew ? [`schedule ${wanted.workflowType}`] : [];
    }
    if (isAsWanted(found, definition)) return [];
    await handle.update(({ state }) => ({ ...definition, state }));
    return [`changed schedule ${wanted.workflowType}`];
  };
  return unlessRefused(change, [missingSchedule(config, wanted)]);
}

function scheduleOptions(prefix: string, { workflowType, queue, hour, summary }: Schedule) {
  const workflowId = `${prefix}${workflowType}`;
  return {
    scheduleId: workflowId,
    spec: { calendars: [{ hour, comment: summary }], timezone: TIME_ZONE },
    action: {
      type: 'startWorkflow',
      workflowId,
      workflowType,
      taskQueue: `${prefix}${queue}`,
      staticSummary: summary,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCH_UP_HOURS * HOUR_MS },
  } satisfies ScheduleOptions;
}

type Description = Awaited<ReturnType<ReturnType<ScheduleClient['getHandle']>['describe']>>;

function isAsWanted(found: Description, wanted: ReturnType<typeof scheduleOptions>): boolean {
  const { spec, action, policies } = found;
  const calendars = spec.calendars?.map((one) => [one.comment, one.hour.map(({ start, end }) => [start, end])]);
  const parts = [calendars, spec.timezone, action.workflowType, action.taskQueue, policies.catchupWindow];
  const wantedCalendars = wanted.spec.calendars.map(({ hour, comment }) => [
    comment,
    [hour === '*' ? [0, 23] : [hour, hour]],
  ]);
  const { workflowType, taskQueue } = wanted.action;
  return isDeepStrictEqual(parts, [
    wantedCalendars,
    wanted.spec.timezone,
    workflowType,
    taskQueue,
    wanted.policies.catchupWindow,
  ]);
}

/** False when it existed. */
async function createUnlessExists(create: () => Promise<unknown>): Promise<boolean> {
  try {
    await onceKnown(create);
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    if (isGrpcServiceError(error) && error.code === ALREADY_EXISTS) return false;
    throw error;
  }
}

/** A new namespace is not known to all parts of a server at once, the less after it was looked for. */
async function onceKnown<T>(work: () => Promise<T>): Promise<T> {
  for (let left = NAMESPACE_TRIES; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      const isUnknown =
        error instanceof NamespaceNotFoundError || (isGrpcServiceError(error) && error.code === NOT_FOUND);
      if (!isUnknown || left === 0) throw error;
    }
    await sleep(NAMESPACE_POLL_MS);
  }
}
