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
import type { LastOutcome } from '../webhooks/delivery/workflow-input.ts';
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
const ANSWER_TIMEOUT_MS = 1_000;
const LIST_TIMEOUT_MS = 10_000;
const ENSURE_TIMEOUT_MS = 10_000;
/** After a call that did not reach Temporal, further calls fail at once for this long; one caller probes. */
const UNAVAILABLE_BACKOFF_MS = 1_000;
/** A slow call alone does not mean that Temporal is unavailable. */
const ABSENCE_MIN_MS = 5_000;

/** Shared by all workflow types, for operators' filters. 10 Keyword columns exist. */
const SEARCH_ATTRIBUTES = {
  BusinessStatus: SearchAttributeType.KEYWORD,
  MerchantId: SearchAttributeType.KEYWORD,
  Environment: SearchAttributeType.KEYWORD,
  EventType: SearchAttributeType.KEYWORD,
  SubscriptionId: SearchAttributeType.KEYWORD,
  Channel: SearchAttributeType.KEYWORD,
  LastHttpStatus: SearchAttributeType.INT,
} as const;

/** The members of a workflow's input that are search attributes, and their names. */
const ATTRIBUTE_OF_INPUT: Readonly<Record<string, keyof typeof SEARCH_ATTRIBUTES>> = {
  merchantId: 'MerchantId',
  environment: 'Environment',
  eventType: 'EventType',
  subscriptionId: 'SubscriptionId',
  channel: 'Channel',
};

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

/** The calls to Temporal that the rest of the program uses. */
export type TemporalGateway = {
  /** Whether the last call reached Temporal, or a second has passed since one did not. */
  reachable: () => boolean;
  /**
   * Starts, signals or signals-with-start. `already`: the workflow was started before, or has ended. Throws when Temporal is
   * unavailable.
   */
  send: (message: OutboxMessage) => Promise<'sent' | 'already'>;
  /** A call without effect, to see whether Temporal answers. */
  answers: () => Promise<boolean>;
  /** Of these workflow ids, those with a running workflow. At most 200 at a time. */
  running: (workflowIds: string[]) => Promise<Set<string>>;
  /** Creates namespace, retention, search attributes and schedules; idempotent. Returns what it created. Throws when unavailable. */
  ensureTemporal: () => Promise<string[]>;
};

export function createTemporalGateway(options: TemporalGatewayOptions): TemporalGateway {
  const client = new Client({ connection: options.connection, namespace: options.namespace });
  const ensure = async (): Promise<string[]> => {
    const made = await ensureTemporal(options);
    if (made.length > 0) options.onReturn?.();
    return made;
  };
  let unavailableUntilMs = 0;
  /** The first failed call since the last successful one; null after a success. */
  let unavailableSinceMs: number | null = null;
  const reachable = (): boolean => Date.now() >= unavailableUntilMs;
  const call = async <Answer>(timeoutMs: number, ask: () => Promise<Answer>): Promise<Answer> => {
    if (!reachable()) throw new UnavailableError('Temporal did not answer a moment ago');
    // The first caller after an outage probes; until its result, the others fail.
    if (unavailableUntilMs > 0) unavailableUntilMs = Date.now() + timeoutMs + UNAVAILABLE_BACKOFF_MS;
    try {
      const answer = await client.withDeadline(Date.now() + timeoutMs, ask);
      unavailableUntilMs = 0;
      if (unavailableSinceMs !== null && Date.now() - unavailableSinceMs >= ABSENCE_MIN_MS) options.onReturn?.();
      unavailableSinceMs = null;
      return answer;
    } catch (error) {
      const isGone = isUnavailable(error) || isUnprepared(error);
      unavailableUntilMs = isGone ? Date.now() + UNAVAILABLE_BACKOFF_MS : 0;
      if (isGone) unavailableSinceMs ??= Date.now();
      if (isUnprepared(error)) await ensure();
      throw isUnavailable(error) ? new UnavailableError(`Temporal does not answer: ${String(error)}`) : error;
    }
  };
  return {
    ensureTemporal: async () => {
      try {
        return await ensure();
      } catch (error) {
        throw isUnavailable(error) ? new UnavailableError(`Temporal cannot be prepared: ${String(error)}`) : error;
      }
    },
    reachable,
    answers: async () => {
      try {
        const { connection } = options;
        await connection.withDeadline(Date.now() + ANSWER_TIMEOUT_MS, async () =>
          connection.workflowService.getSystemInfo({}),
        );
        return true;
      } catch {
        return false;
      }
    },
    send: async (message) => call(CALL_TIMEOUT_MS, async () => send(client, options, message)),
    running: async (workflowIds) => call(LIST_TIMEOUT_MS, async () => listRunning(client, workflowIds)),
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
  try {
    if (message.kind === 'signal') {
      await client.workflow.getHandle(message.workflowId).signal(message.signal ?? '');
    } else if (message.kind === 'start') {
      const start = { ...startOptions(options, message), requestEagerStart: true };
      await client.workflow.start(message.workflowType, { ...start, workflowIdReusePolicy: 'REJECT_DUPLICATE' });
    } else {
      const start = { ...startOptions(options, message), signal: message.signal ?? '', signalArgs: [] };
      await client.workflow.signalWithStart(message.workflowType, {
        ...start,
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      });
    }
    return 'sent';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already';
    if (error instanceof WorkflowNotFoundError && message.kind === 'signal' && !isUnprepared(error)) return 'already';
    throw error;
  }
}

function startOptions(options: TemporalGatewayOptions, message: OutboxMessage) {
  const queue = TASK_QUEUES[message.workflowType as keyof typeof TASK_QUEUES];
  const input = { ...message.input, ...(queue === 'webhooks' && { retryDelaysSeconds: options.retryDelaysSeconds }) };
  return {
    workflowId: message.workflowId,
    taskQueue: `${options.taskQueuePrefix}${queue}`,
    args: [input],
    typedSearchAttributes: searchAttributes(input),
    staticSummary: summary(message),
  };
}

function summary(message: OutboxMessage): string {
  const input = message.input ?? {};
  const what = [input['eventType'], input['channel'], input['environment']].filter((part) => typeof part === 'string');
  return `${message.workflowType}: ${what.join(', ')}`;
}

function searchAttributes(input: Record<string, unknown>): TypedSearchAttributes {
  const pairs: SearchAttributePair[] = Object.entries(ATTRIBUTE_OF_INPUT).flatMap(([member, name]) => {
    const value = input[member];
    return typeof value === 'string'
      ? [{ key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value }]
      : [];
  });
  const status = defineSearchAttributeKey('BusinessStatus', SearchAttributeType.KEYWORD);
  return new TypedSearchAttributes([...pairs, ...outcomeAttributes(input), { key: status, value: statusOf(input) }]);
}

/** Where a delivery's first attempt precedes its workflow, the search attribute is that attempt's outcome. */
function statusOf({ lastOutcome, nextAttemptAtMs }: Record<string, unknown>): string {
  if (!lastOutcome) return 'PENDING';
  if ((lastOutcome as LastOutcome).ok) return 'DELIVERED';
  return nextAttemptAtMs === null ? 'FAILED' : 'RETRYING';
}

function outcomeAttributes({ lastOutcome }: Record<string, unknown>): SearchAttributePair[] {
  const httpStatus = (lastOutcome as LastOutcome | null | undefined)?.httpStatus;
  if (typeof httpStatus !== 'number') return [];
  return [{ key: defineSearchAttributeKey('LastHttpStatus', SearchAttributeType.INT), value: httpStatus }];
}

/** gRPC: DEADLINE_EXCEEDED, UNAVAILABLE; and CANCELLED, as which the worker's connection reports our own deadline. */
const UNAVAILABLE_CODES: readonly number[] = [1, 4, 14];

function isUnavailable(error: unknown): boolean {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  return [error, cause].some((one) => isGrpcServiceError(one) && UNAVAILABLE_CODES.includes(one.code));
}

const NAMESPACE_NOT_FOUND = /[Nn]amespace .*not found|search attribute|no mapping defined/i;

/** Whether Temporal answers without our namespace or search attributes: its database is new. */
function isUnprepared(error: unknown): boolean {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  return [error, cause].some((one) => one instanceof Error && NAMESPACE_NOT_FOUND.test(grpcText(one)));
}

function grpcText(error: Error): string {
  return isGrpcServiceError(error) ? `${error.message} ${error.details}` : error.message;
}

/** temporal.api.enums.v1.IndexedValueType */
const INDEXED_AS = { [SearchAttributeType.KEYWORD]: 2, [SearchAttributeType.INT]: 3 };

/** gRPC: ALREADY_EXISTS. */
const ALREADY_EXISTS = 6;

async function ensureTemporal(options: TemporalGatewayOptions): Promise<string[]> {
  const { connection, namespace } = options;
  return connection.withDeadline(Date.now() + ENSURE_TIMEOUT_MS, async () => {
    const retention = msToTs(options.retentionDays * DAY_MS);
    const isNew = await unlessThere(async () =>
      connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention }),
    );
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
    const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, INDEXED_AS[type]]));
    if (missing.length > 0) {
      await unlessThere(async () => connection.operatorService.addSearchAttributes({ namespace, searchAttributes }));
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
async function unlessThere(register: () => Promise<unknown>): Promise<boolean> {
  try {
    await register();
    return true;
  } catch (error) {
    if (!(isGrpcServiceError(error) && error.code === ALREADY_EXISTS)) throw error;
    return false;
  }
}
