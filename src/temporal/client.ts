import { readFileSync } from 'node:fs';

import {
  Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  isGrpcServiceError,
  type Connection,
  type TLSConfig,
} from '@temporalio/client';
import { TypedSearchAttributes, defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';

import type { Config, TaskQueue } from '../config.ts';
import { UnavailableError } from '../lib/errors.ts';
import { NO_TRACING, type Tracing } from '../lib/tracing.ts';
import type { OutboxMessage } from '../outbox/record.ts';
import type { LastOutcome } from '../webhooks/delivery/workflow.ts';
import { describeWorkflow } from './describe-workflow.ts';
import { ensureTemporal, type Prepared } from './prepare.ts';
import { causesOf, SEARCH_ATTRIBUTES, type Missing, type TemporalParts } from './requirements.ts';
import { startHeaders } from './trace-headers.ts';

/** The task queue of each workflow type. Activities of `webhooks` also run on `webhooks-slow`. */
const QUEUES: Readonly<Record<string, TaskQueue>> = {
  payment: 'payments',
  refund: 'money',
  withdrawal: 'money',
  settlement: 'money',
  webhookDelivery: 'webhooks',
  resendJob: 'webhooks',
  report: 'reports',
  reconciliation: 'money',
};

const CALL_TIMEOUT_MS = 3_000;
const PING_TIMEOUT_MS = 1_000;
const LIST_TIMEOUT_MS = 10_000;
/** After a call that did not reach Temporal, further calls fail at once for this long; one caller probes. */
const UNAVAILABLE_BACKOFF_MS = 1_000;
/** A slow call alone does not mean that Temporal is unavailable. */
const ABSENCE_MIN_MS = 5_000;

/** The options of a connection. Certificates are read each time, so that renewed ones are used. Throws when one cannot be. */
export function temporalConnection(config: Config): { address: string; tls?: TLSConfig; apiKey?: string } {
  const { TEMPORAL_ADDRESS: address, TEMPORAL_API_KEY: apiKey } = config;
  if (!config.usesTemporalTls) return { address };
  const { TEMPORAL_TLS_SERVER_NAME: serverName, TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority } = config;
  const { TEMPORAL_TLS_CLIENT_CERT_PATH: certificate, TEMPORAL_TLS_CLIENT_KEY_PATH: key } = config;
  const tls = {
    ...(serverName && { serverNameOverride: serverName }),
    ...(authority && { serverRootCACertificate: readFileSync(authority) }),
    ...(certificate && key && { clientCertPair: { crt: readFileSync(certificate), key: readFileSync(key) } }),
  };
  return { address, tls, ...(apiKey && { apiKey }) };
}

/** Whether Temporal responds within a second. */
export async function pingTemporal(connection: Connection): Promise<boolean> {
  const ask = async () => connection.workflowService.getSystemInfo({});
  return connection.withDeadline(Date.now() + PING_TIMEOUT_MS, ask).then(
    () => true,
    () => false,
  );
}

export type TemporalGateway = ReturnType<typeof createTemporalGateway>;

type GatewayParts = TemporalParts & {
  onReturn?: (() => void) | undefined;
  onMissing?: (missing: Missing[]) => void;
  tracing?: Tracing | undefined;
};

/**
 * The calls to Temporal that the worker uses. `onReturn`: Temporal is reachable again, or has a new database, so any
 * workflow may be lost. `onMissing`: what it lacks and does not let us create, nothing included.
 */
export function createTemporalGateway(parts: GatewayParts) {
  const { connection, config, onReturn = () => {}, onMissing = () => {}, tracing = NO_TRACING } = parts;
  const interceptors = tracing.isOn ? { workflow: [startHeaders(tracing)] } : {};
  const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE, interceptors });
  const ensure = async (): Promise<Prepared> => {
    const prepared = await ensureTemporal(parts);
    onMissing(prepared.missing);
    if (prepared.created.length > 0) onReturn();
    return prepared;
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
      if (unavailableSinceMs !== null && Date.now() - unavailableSinceMs >= ABSENCE_MIN_MS) onReturn();
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
  return {
    /** Prepares namespace, search attributes and schedule. Throws when unavailable. */
    ensureTemporal: async (): Promise<Prepared> =>
      ensure().catch((error: unknown) => {
        throw asUnavailable(error);
      }),
    /** Whether the last call reached Temporal, or a second has passed since one did not. */
    reachable,
    /**
     * Starts, signals or signals-with-start. `already`: the workflow was started before, or has ended. Throws when Temporal
     * is unavailable.
     */
    send: async (message: OutboxMessage): Promise<'sent' | 'already'> =>
      call(CALL_TIMEOUT_MS, async () => send(client, config, message)),
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

async function send(client: Client, config: Config, message: OutboxMessage): Promise<'sent' | 'already'> {
  const { kind, workflowType, workflowId, signal = '' } = message;
  try {
    if (kind === 'signal') {
      await client.workflow.getHandle(workflowId).signal(signal);
    } else if (kind === 'start') {
      const start = { ...startOptions(config, message), requestEagerStart: true };
      await client.workflow.start(workflowType, { ...start, workflowIdReusePolicy: 'REJECT_DUPLICATE' });
    } else {
      const start = { ...startOptions(config, message), signal, signalArgs: [] };
      await client.workflow.signalWithStart(workflowType, { ...start, workflowIdReusePolicy: 'ALLOW_DUPLICATE' });
    }
    return 'sent';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'already';
    if (error instanceof WorkflowNotFoundError && kind === 'signal' && !isUnprepared(error)) return 'already';
    throw error;
  }
}

function startOptions(config: Config, { workflowType, workflowId, ...message }: OutboxMessage) {
  const queue = QUEUES[workflowType];
  const retryDelaysSeconds = config.WEBHOOK_RETRY_SCHEDULE_SECONDS;
  const input: Record<string, unknown> = { ...message.input, ...(queue === 'webhooks' && { retryDelaysSeconds }) };
  return {
    workflowId,
    taskQueue: `${config.TASK_QUEUE_PREFIX}${queue}`,
    args: [input],
    typedSearchAttributes: searchAttributes(input),
    ...describeWorkflow(config, workflowType, input),
  };
}

/**
 * The search attributes that the input has a value of: `MerchantId` is its `merchantId`. Of a delivery, the first attempt
 * may precede the workflow.
 */
function searchAttributes(input: Record<string, unknown>): TypedSearchAttributes {
  const last = input['lastOutcome'] as LastOutcome | null | undefined;
  const failed = input['nextAttemptAtMs'] === null ? 'FAILED' : 'RETRYING';
  const ofDelivery = {
    businessStatus: !last ? 'PENDING' : last.ok ? 'DELIVERED' : failed,
    lastHttpStatus: last?.httpStatus,
  };
  const values: Record<string, unknown> = { ...input, ...ofDelivery };
  const pairs = Object.entries(SEARCH_ATTRIBUTES).flatMap(([name, type]) => {
    const value = values[`${name.charAt(0).toLowerCase()}${name.slice(1)}`];
    const isGiven = typeof value === 'string' || typeof value === 'number';
    return isGiven ? [{ key: defineSearchAttributeKey(name, type), value }] : [];
  });
  return new TypedSearchAttributes(pairs as SearchAttributePair[]);
}

/** gRPC: DEADLINE_EXCEEDED, UNAVAILABLE; and CANCELLED, as which the worker's connection reports our own deadline. */
const UNAVAILABLE_CODES: readonly number[] = [1, 4, 14];
const UNPREPARED = /[Nn]amespace .*not found|search attribute|no mapping defined/i;

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
