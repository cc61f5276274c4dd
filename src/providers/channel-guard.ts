import { Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import type { Queryable } from '../lib/db.ts';
import type { Logger } from '../lib/log.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { setLiveUnavailable } from '../merchants/channels/operations.ts';
import { CIRCUIT, createCircuitBreaker, type CallResult } from './circuit-breaker.ts';
import { RETRY_AFTER_MS_MAX, type ProviderDeps } from './exchange.ts';
import { providerMetrics, SERVICE_OF, type ProviderOperation, type Service } from './metrics.ts';
import { isUnsent, type Provider, type Unknown } from './provider.ts';
import { limitRate } from './rate-limit.ts';
import type { ConnectionSettings } from './settings.ts';

/** Where live calls are counted, and where it is stored that a provider does not respond, for the other processes. */
export type ProviderMonitor = { registry: Registry; db: Queryable; log: Pick<Logger, 'info' | 'warn'> };

type Options = Pick<ProviderDeps, 'http' | 'clock'> & {
  connection: Pick<ConnectionSettings, 'timeoutMs' | 'callsPerSecond'>;
  /** None: nothing is counted or stored. */
  monitor?: ProviderMonitor | undefined;
};

/** One for each live channel and process, shared by all accounts there: its rate limit, circuit breakers and metrics. */
export function createChannelGuard(channel: Channel, { http, clock, connection, monitor }: Options) {
  const metrics = providerMetrics(monitor?.registry ?? new Registry(), channel);
  const report = monitor ? createReport(channel, monitor) : () => {};
  const breakers = createBreakers(clock, (service, openMs) => {
    metrics.open.set({ channel, service }, openMs > 0 ? 1 : 0);
    report(service, openMs);
  });

  async function measured<Outcome extends { kind: string }>(
    operation: ProviderOperation,
    call: () => Promise<Outcome>,
  ) {
    const startedMs = performance.now();
    const outcome = await call();
    metrics.duration.observe({ channel, operation }, (performance.now() - startedMs) / 1_000);
    return counted(operation, outcome);
  }

  function counted<Outcome extends { kind: string }>(operation: ProviderOperation, outcome: Outcome): Outcome {
    metrics.calls.inc({ channel, operation, outcome: 'reason' in outcome ? String(outcome.reason) : outcome.kind });
    return outcome;
  }

  /** Makes the calls of one account. After a 429 it waits alone: providers limit the calls of each account. */
  function guardAccount() {
    let waitsUntilMs = 0;
    return async <Outcome extends { kind: string }>(operation: ProviderOperation, call: () => Promise<Outcome>) => {
      const leftMs = waitsUntilMs - clock().getTime();
      // A clock that was set back does not prolong the wait.
      if (leftMs > 0 && leftMs <= RETRY_AFTER_MS_MAX) {
        metrics.limited.inc({ channel, result: 'refused' });
        return counted(operation, ASKED_TO_WAIT);
      }
      const service = SERVICE_OF[operation];
      const outcome = await breakers[service].run(
        () => measured(operation, call),
        (result) => classify(result, service),
      );
      if (outcome === null) return counted(operation, CIRCUIT_OPEN);
      const waitMs = accountWaitMs(outcome);
      if (waitMs > 0) waitsUntilMs = clock().getTime() + waitMs;
      return outcome;
    };
  }

  return {
    /** The client for all calls of this channel. */
    http: limitRate(http, {
      callsPerSecond: connection.callsPerSecond,
      waitMsMax: connection.timeoutMs / 2,
      onLimited: (result) => metrics.limited.inc({ channel, result }),
    }),
    /** The provider by one account, without the calls that are held back. */
    protect: (provider: Provider): Provider => {
      const guarded = guardAccount();
      return {
        ...provider,
        initiate: async (order) => guarded('initiate', () => provider.initiate(order)),
        query: async (orderId) => guarded('query', () => provider.query(orderId)),
        payout: async (order) => guarded('payout', () => provider.payout(order)),
        queryPayout: async (orderId) => guarded('queryPayout', () => provider.queryPayout(orderId)),
        refund: async (order) => guarded('refund', () => provider.refund(order)),
        queryRefund: async (order) => guarded('queryRefund', () => provider.queryRefund(order)),
        statement: async (day, cursor) => guarded('statement', () => provider.statement(day, cursor)),
      };
    },
  };
}

/** One each, so that a failing payout or refund service stops no payments. */
function createBreakers(clock: Clock, onChange: (service: Service, openMs: number) => void) {
  const breakerOf = (service: Service) =>
    createCircuitBreaker({ clock, onChange: (openMs) => onChange(service, openMs) });
  return {
    payments: breakerOf('payments'),
    payouts: breakerOf('payouts'),
    refunds: breakerOf('refunds'),
    statements: breakerOf('statements'),
  };
}

/** An outcome like any other unknown one: it is queried again, and ends no payment or payout. */
const CIRCUIT_OPEN: Unknown = {
  kind: 'unknown',
  reason: 'circuit-open',
  message: 'not sent: the provider does not respond, and is tried again in a few seconds',
};
const ASKED_TO_WAIT: Unknown = {
  kind: 'unknown',
  reason: 'rate-limit',
  message: 'not sent: the provider has limited the calls of this account (429), and the wait it asked for is not over',
};

/**
 * Only an absent reply and a 5xx are failures. Anything else may be about one order or one account (a rejection, wrong
 * credentials, 429), and must not close the channel for all others. Statements, which are slow and can wait, are held back
 * only where the provider requires it.
 */
function classify(outcome: { kind: string } | Unknown, service: Service): CallResult {
  if (isUnsent(outcome)) return 'unsent';
  if (!('reason' in outcome)) return 'success';
  const { reason, status = 0, retryAfterMs } = outcome;
  if (status === 503 && retryAfterMs !== undefined) return { pauseMs: retryAfterMs };
  const isFailure = reason === 'timeout' || reason === 'network' || status >= 500;
  return isFailure && service !== 'statements' ? 'failure' : 'ignored';
}

/** How long the account is to make no calls. */
function accountWaitMs(outcome: { kind: string } | Unknown): number {
  return 'reason' in outcome && outcome.status === 429 ? (outcome.retryAfterMs ?? 0) : 0;
}

/** Logs changes, and stores those of payments one after the other, so that the last one remains. Others expire by themselves. */
function createReport(channel: Channel, { db, log }: ProviderMonitor) {
  const open = new Set<Service>();
  let writing = Promise.resolve();
  return (service: Service, openMs: number): void => {
    if (openMs > 0 && !open.has(service))
      log.warn({ channel, service }, 'live provider does not respond: its calls are held back');
    if (openMs === 0) log.info({ channel, service }, 'live provider responds again');
    if (openMs > 0) open.add(service);
    else open.delete(service);
    if (service !== 'payments') return;
    // Longer than the circuit is open: the probe is a call about an order in flight, not a new payment.
    const seconds = openMs === 0 ? 0 : (openMs + CIRCUIT.openMs) / 1_000;
    writing = writing
      .then(async () => setLiveUnavailable(db, channel, seconds))
      .catch((error: unknown) => log.warn({ err: error, channel }, 'availability of a live channel not stored'));
  };
}
