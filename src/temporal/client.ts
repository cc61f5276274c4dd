import {
  Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  isGrpcServiceError,
  type Connection,
} from '@temporalio/client';
import {
  SearchAttributeType,
  TypedSearchAttributes,
  defineSearchAttributeKey,
  type SearchAttributePair,
} from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { NativeConnection } from '@temporalio/worker';

import type { Config, TaskQueue } from '../config.ts';
import { DAY_MS } from '../lib/dates.ts';
import { UnavailableError } from '../lib/errors.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import type { LastOutcome } from '../webhooks/delivery/workflow.ts';
import { ensureSchedules } from './schedules.ts';

/** The task queue of each workflow type. Activities of `webhooks` also run on `webhooks-slow`. */
export const TASK_QUEUES = {
  payment: 'payments',
  withdrawal: 'money',
  settlement: 'money',
  webhookDelivery: 'webhooks',
  report: 'reports',
  reconciliation: 'money',
} as const satisfies Record<string, TaskQueue>;

const CALL_TIMEOUT_MS = 3_000;
const PING_TIMEOUT_MS = 1_000;
const LIST_TIMEOUT_MS = 10_000;
const ENSURE_TIMEOUT_MS = 10_000;
/** After a call that did not reach Temporal, further calls fail at once for this long; one caller probes. */
const UNAVAILABLE_BACKOFF_MS = 1_000;
/** A slow call alone does not mean that Temporal is unavailable. */
const ABSENCE_MIN_MS = 5_000;

const { INT, KEYWORD } = SearchAttributeType;
/** Shared by all workflow types, for operators' filters. 10 Keyword columns exist. */
const SEARCH_ATTRIBUTES = {
  BusinessStatus: KEYWORD,
  MerchantId: KEYWORD,
  Environment: KEYWORD,
  EventType: KEYWORD,
  SubscriptionId: KEYWORD,
  Channel: KEYWORD,
  LastHttpStatus: INT,
} as const;

export type TemporalGatewayOptions = {
  connection: Connection | NativeConnection;
  namespace: string;
  retentionDays: number;
  taskQueuePrefix: string;
  retryDelaysSeconds: readonly number[];
  /** Temporal is reachable again, or has a new database: any workflow may be lost. */
  onReturn?: () => void;
};

/** The settings for Temporal that API and worker share. */
export function temporalOptions(config: Config) {
  return {
    namespace: config.TEMPORAL_NAMESPACE,
    retentionDays: config.TEMPORAL_RETENTION_DAYS,
    taskQueuePrefix: config.TASK_QUEUE_PREFIX,
    retryDelaysSeconds: config.WEBHOOK_RETRY_SCHEDULE_SECONDS,
  };
}

export type TemporalGateway = ReturnType<typeof createTemporalGateway>;

/** The calls to Temporal that the rest of the program uses. */
export function createTemporalGateway(options: TemporalGatewayOptions) {
  const { connection, namespace } = options;
  const client = new Client({ connection, namespace });
  const ensure = async (): Promise<string[]> => {
    const created = await ensureTemporal(options);
    if (created.length > 0) options.onReturn?.();
    return created;
  };
  let unavailableUntilMs = 0;
  /** The first failed call since the last successful one; null after a success. */
  let unavailableSinceMs: number | null = null;
  const reachable = (): boolean => Date.now() >= unavailableUntilMs;
  const call = async <Result>(timeoutMs: number, work: () => Promise<Result>): Promise<Result> => {
    if (!reachable()) throw new UnavailableError('Temporal was unavailable a moment ago');
    // The first caller after an outage probes; until its result, the others fail.
    if (unavailableUntilMs > 0) unavailableUntilMs = Date.now() + timeoutMs + UNAVAILABLE_BACKOFF_MS;
    try {
      const result = await client.withDeadline(Date.now() + timeoutMs, work);
      unavailableUntilMs = 0;
      if (unavailableSinceMs !== null && Date.now() - unavailableSinceMs >= ABSENCE_MIN_MS) options.onReturn?.();
      unavailableSinceMs = null;
      return result;
    } catch (error) {
      const isGone = isUnavailable(error) || isUnprepared(error);
      unavailableUntilMs = isGone ? Date.now() + UNAVAILABLE_BACKOFF_MS : 0;
      if (isGone) unavailableSinceMs ??= Date.now();
      if (isUnprepared(error)) await ensure();
      throw asUnavailable(error);
    }
  };
  const systemInfo = async () => connection.workflowService.getSystemInfo({});
  return {
    /** Creates namespace, retention, search attributes and schedules; idempotent. Returns what it created. Throws when unavailable. */
    ensureTemporal: async (): Promise<string[]> =>
      ensure().catch((error: unknown) => {
        throw asUnavailable(error);
      }),
    /** Whether the last call reached Temporal, or a second has passed since one did not. */
    reachable,
    /** Whether Temporal responds within a second. */
    ping: async (): Promise<boolean> =>
      connection.withDeadline(Date.now() + PING_TIMEOUT_MS, systemInfo).then(
        () => true,
        () => false,
      ),
    /**
     * Starts, signals or signals-with-start. `already`: the workflow was started before, or has ended. Throws when Temporal
     * is unavailable.
     */
    send: async (message: OutboxMessage): Promise<'sent' | 'already'> =>
      call(CALL_TIMEOUT_MS, async () => send(client, options, message)),
    /** Of these workflow ids, those with a running workflow. At most 200 at a time. */
    running: async (workflowIds: string[]): Promise<Set<string>> =>
      call(LIST_TIMEOUT_MS, async () => listRunning(client, workflowIds)),
  };
}

async function listRunning(client: Client, workflowIds: string[]): Promise<Set<string>> {
  const quoted = workflowIds.map((id) => `'${id}'`).join(',');
  const found = new Set<string>();
  const query = `ExecutionStatus = 'Running' AND WorkflowId IN (${quoted})`;
  for await (const workflow of client.workflow.list({ query })) found.add(workflow.workflowId);
  return found;
}

async function send(
  client: Client,
  options: TemporalGatewayOptions,
  message: OutboxMessage,
): Promise<'sent' | 'already'> {
  const { kind, workflowType, workflowId, signal = '' } = message;
  try {
    if (kind === 'signal') {
      await client.workflow.getHandle(workflowId).signal(signal);
    } else if (kind === 'start') {
      const start = { ...startOptions(options, message), requestEagerStart: true };
      await client.workflow.start(workflowType, { ...start, workflowIdReusePolicy: 'REJECT_DUPLICATE' });
    } else {
      const start = { ...startOptions(options, message), signal, signalArgs: [] };
      await client.workflow.signalWithStart(workflowType, { ...start, workflowIdReusePolicy: 'ALLOW_DUPLICATE' });
    }
    return 'sent';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already';
    if (error instanceof WorkflowNotFoundError && kind === 'signal' && !isUnprepared(error)) return 'already';
    throw error;
  }
}

function startOptions(options: TemporalGatewayOptions, { workflowType, workflowId, ...message }: OutboxMessage) {
  const queue = TASK_QUEUES[workflowType as keyof typeof TASK_QUEUES];
  const input = { ...message.input, ...(queue === 'webhooks' && { retryDelaysSeconds: options.retryDelaysSeconds }) };
  const { eventType, channel, environment }: Record<string, unknown> = input;
  const parts = [eventType, channel, environment].filter((part) => typeof part === 'string');
  return {
    workflowId,
    taskQueue: `${options.taskQueuePrefix}${queue}`,
    args: [input],
    typedSearchAttributes: searchAttributes(input),
    staticSummary: `${workflowType}: ${parts.join(', ')}`,
  };
}

/** The search attributes that the input has a value of. Of a delivery, its first attempt may precede the workflow. */
function searchAttributes(input: Record<string, unknown>): TypedSearchAttributes {
  const { merchantId, environment, eventType, subscriptionId, channel, nextAttemptAtMs } = input;
  const last = input['lastOutcome'] as LastOutcome | null | undefined;
  const failed = nextAttemptAtMs === null ? 'FAILED' : 'RETRYING';
  const values: Record<keyof typeof SEARCH_ATTRIBUTES, unknown> = {
    BusinessStatus: !last ? 'PENDING' : last.ok ? 'DELIVERED' : failed,
    MerchantId: merchantId,
    Environment: environment,
    EventType: eventType,
    SubscriptionId: subscriptionId,
    Channel: channel,
    LastHttpStatus: last?.httpStatus,
  };
  const pairs = (Object.keys(values) as (keyof typeof values)[])
    .filter((name) => ['string', 'number'].includes(typeof values[name]))
    .map((name) => ({ key: defineSearchAttributeKey(name, SEARCH_ATTRIBUTES[name]), value: values[name] }));
  return new TypedSearchAttributes(pairs as SearchAttributePair[]);
}

/** gRPC: DEADLINE_EXCEEDED, UNAVAILABLE; and CANCELLED, as which the worker's connection reports our own deadline. */
const UNAVAILABLE_CODES: readonly number[] = [1, 4, 14];
const UNPREPARED = /[Nn]amespace .*not found|search attribute|no mapping defined/i;

/** An error, and the gRPC error that Temporal's client has wrapped in it. */
const causesOf = (error: unknown): unknown[] => (error instanceof Error ? [error, error.cause] : [error]);

function isUnavailable(error: unknown): boolean {
  return causesOf(error).some((one) => isGrpcServiceError(one) && UNAVAILABLE_CODES.includes(one.code));
}

/** Whether Temporal responds without our namespace or search attributes: its database is new. */
function isUnprepared(error: unknown): boolean {
  const textOf = (one: Error): string => (isGrpcServiceError(one) ? `${one.message} ${one.details}` : one.message);
  return causesOf(error).some((one) => one instanceof Error && UNPREPARED.test(textOf(one)));
}

function asUnavailable(error: unknown): unknown {
  return isUnavailable(error) ? new UnavailableError(`Temporal is unavailable: ${String(error)}`) : error;
}

/** temporal.api.enums.v1.IndexedValueType */
const INDEXED_AS = { [KEYWORD]: 2, [INT]: 3 };

/** gRPC: ALREADY_EXISTS. */
const ALREADY_EXISTS = 6;

async function ensureTemporal(options: TemporalGatewayOptions): Promise<string[]> {
  const { connection, namespace } = options;
  return connection.withDeadline(Date.now() + ENSURE_TIMEOUT_MS, async () => {
    const retention = msToTs(options.retentionDays * DAY_MS);
    const isNew = await createUnlessExists(async () =>
      connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention }),
    );
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
    const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, INDEXED_AS[type]]));
    if (missing.length > 0) {
      await createUnlessExists(async () =>
        connection.operatorService.addSearchAttributes({ namespace, searchAttributes }),
      );
    }
    const schedules = await ensureSchedules(options);
    return [
      ...(isNew ? [`namespace ${namespace}`] : []),
      ...missing.map(([name]) => `search attribute ${name}`),
      ...schedules,
    ];
  });
}

/** False when it existed. */
async function createUnlessExists(create: () => Promise<unknown>): Promise<boolean> {
  try {
    await create();
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && error.code === ALREADY_EXISTS) return false;
    throw error;
  }
}
