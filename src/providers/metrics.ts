import { Counter, Gauge, Histogram } from 'prom-client';

import { Registry } from '../http/metrics.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { Provider } from './provider.ts';

export type ProviderOperation = keyof Pick<
  Provider,
  'initiate' | 'query' | 'payout' | 'queryPayout' | 'refund' | 'queryRefund' | 'statement'
>;

/** What a provider may fail at separately: its payments, its payouts, its refunds, its statements. */
export const SERVICE_OF = {
  initiate: 'payments',
  query: 'payments',
  payout: 'payouts',
  queryPayout: 'payouts',
  refund: 'refunds',
  queryRefund: 'refunds',
  statement: 'statements',
} as const satisfies Record<ProviderOperation, string>;
export type Service = (typeof SERVICE_OF)[ProviderOperation];

const metricsOf = new WeakMap<Registry, ReturnType<typeof createMetrics>>();

/** The metrics of live calls, once for each registry: an API and a worker in one process share them. */
export function providerMetrics(registry: Registry, channel: Channel) {
  const metrics = metricsOf.get(registry) ?? createMetrics(registry);
  metricsOf.set(registry, metrics);
  // What has not occurred is 0, not absent.
  for (const service of new Set(Object.values(SERVICE_OF))) metrics.open.set({ channel, service }, 0);
  for (const result of ['delayed', 'refused']) metrics.limited.inc({ channel, result }, 0);
  return metrics;
}

function createMetrics(registry: Registry) {
  const registers = [registry];
  const calls = new Counter({
    name: 'meskot_provider_calls_total',
    help: 'Operations on live providers by outcome; of an unknown outcome, the reason',
    labelNames: ['channel', 'operation', 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'meskot_provider_call_duration_seconds',
    help: 'Time of an operation on a live provider, with its wait for the rate limit',
    labelNames: ['channel', 'operation'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5],
    registers,
  });
  const open = new Gauge({
    name: 'meskot_provider_circuit_open',
    help: 'Whether calls of a service of a live channel are held back because its provider does not respond: 1 or 0',
    labelNames: ['channel', 'service'],
    registers,
  });
  const limited = new Counter({
    name: 'meskot_provider_rate_limited_total',
    help: 'Calls of a live channel that waited for our rate limit (delayed), or were not sent for it or for the provider (refused)',
    labelNames: ['channel', 'result'],
    registers,
  });
  return { calls, duration, open, limited };
}
