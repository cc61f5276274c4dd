import { Registry } from '../http/metrics.ts';
import type { Queryable } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { setLiveUnavailable } from '../merchants/channels/operations.ts';
import { createCircuitBreaker, type CallResult } from './circuit-breaker.ts';
import type { ProviderDeps } from './exchange.ts';
import { providerMetrics, type ProviderOperation } from './metrics.ts';
import type { Provider, Unknown } from './provider.ts';
import { limitRate } from './rate-limit.ts';
import type { ConnectionSettings } from './settings.ts';

/** Where live calls are counted, and where it is stored that a provider does not respond, for the other processes. */
export type ProviderMonitor = { registry: Registry; db: Queryable; log: Pick<Logger, 'info' | 'warn'> };

type Options = Pick<ProviderDeps, 'http' | 'clock'> & {
  connection: Pick<ConnectionSettings, 'timeoutMs' | 'callsPerSecond'>;
  /** None: nothing is counted or stored. */
  monitor?: ProviderMonitor | undefined;
};

/** One for each live channel and process, shared by all accounts there: its rate limit, circuit breaker and metrics. */
export function createChannelGuard(channel: Channel, { http, clock, connection, monitor }: Options) {
  const metrics = providerMetrics(monitor?.registry ?? new Registry());
  metrics.addChannel(channel);
  const store = monitor ? createStore(channel, monitor) : () => {};
  const onChange = (isOpen: boolean): void => {
    metrics.circuit(channel, isOpen);
    store(isOpen);
  };
  const breaker = createCircuitBreaker({ clock, onChange });

  async function measured<Outcome extends { kind: string }>(
    operation: ProviderOperation,
    call: () => Promise<Outcome>,
  ) {
    const startedMs = performance.now();
    const outcome = await call();
    metrics.count(channel, operation, outcome);
    metrics.time(channel, operation, (performance.now() - startedMs) / 1_000);
    return outcome;
  }

  async function guarded<Outcome extends { kind: string }>(operation: ProviderOperation, call: () => Promise<Outcome>) {
    const outcome = await breaker.run(() => measured(operation, call), judge);
    if (outcome === null) metrics.count(channel, operation, CIRCUIT_OPEN);
    return outcome ?? CIRCUIT_OPEN;
  }

  return {
    /** The client for all calls of this channel. */
    http: limitRate(http, {
      callsPerSecond: connection.callsPerSecond,
      waitMsMax: connection.timeoutMs / 2,
      onLimited: (result) => metrics.rateLimited(channel, result),
    }),
    /** The provider, without calls while the circuit is open. Statements, which are slow and can wait, do not open it. */
    protect: (provider: Provider): Provider => ({
      ...provider,
      initiate: async (order) => guarded('initiate', () => provider.initiate(order)),
      query: async (orderId) => guarded('query', () => provider.query(orderId)),
      payout: async (order) => guarded('payout', () => provider.payout(order)),
      queryPayout: async (orderId) => guarded('queryPayout', () => provider.queryPayout(orderId)),
      statement: async (day, cursor) => measured('statement', () => provider.statement(day, cursor)),
    }),
  };
}

/** An outcome like any other unknown one: it is queried again, and ends no payment or payout. */
const CIRCUIT_OPEN: Unknown = {
  kind: 'unknown',
  reason: 'circuit-open',
  message: 'not sent: the provider does not respond, and is tried again in a few seconds',
};

/**
 * Only an absent reply and a 5xx are failures. Anything else may be about one order or one account (a rejection, wrong
 * credentials, 429), and must not close the channel for all others.
 */
function judge(outcome: { kind: string } | Unknown): CallResult {
  if (!('reason' in outcome)) return 'success';
  const { reason, status = 0 } = outcome;
  return reason === 'timeout' || reason === 'network' || status >= 500 ? 'failure' : 'ignored';
}

/** Writes one after the other, so that the last change is what remains. What is not stored expires by itself. */
function createStore(channel: Channel, { db, log }: ProviderMonitor) {
  let wasOpen = false;
  let writing = Promise.resolve();
  return (isOpen: boolean): void => {
    if (isOpen && !wasOpen) log.warn({ channel }, 'live provider does not respond: its calls are held back');
    if (!isOpen) log.info({ channel }, 'live provider responds again');
    wasOpen = isOpen;
    writing = writing
      .then(async () => setLiveUnavailable(db, channel, isOpen))
      .catch((error: unknown) => log.warn({ err: error, channel }, 'availability of a live channel not stored'));
  };
}
