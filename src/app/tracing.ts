import { AsyncLocalStorage } from 'node:async_hooks';

import type { Span as OtelSpan } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';

import type { Config } from '../config.ts';
import type { Logger } from '../lib/log.ts';
import { withTimeout } from '../lib/timeout.ts';
import { NO_TRACING, type Note, type Tracing } from '../lib/tracing.ts';

const STOP_MS = 2_000;
const EXPORT_MS = 5_000;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

type About = { role: 'api' | 'worker'; version: string; log: Pick<Logger, 'info' | 'warn'> };

/**
 * Exports traces to the collector of the settings; without one, nothing is recorded and no package is loaded. Spans wait in
 * a bounded queue and are dropped beyond it, so a collector that is away or hangs delays nothing.
 */
export async function startTracing(config: Config, { role, version, log }: About): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = config;
  if (endpoint === undefined) return NO_TRACING;
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { BasicTracerProvider, BatchSpanProcessor } = await import('@opentelemetry/sdk-trace-base');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: EXPORT_MS });
  const processor = new BatchSpanProcessor(reporting(exporter, log), { exportTimeoutMillis: EXPORT_MS });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': `meskot-${role}`, 'service.version': version }),
    sampler: await createSampler(config),
    spanProcessors: [processor],
  });
  const run = await createRun(provider.getTracer('meskot'));
  return {
    ...run,
    isOn: true,
    stop: async () =>
      void (await withTimeout(
        provider.shutdown().catch(() => {}),
        STOP_MS,
      )),
  };
}

/** The exporter, which logs once when the collector stops to accept spans, and once when it accepts them again. */
function reporting(exporter: SpanExporter, log: About['log']): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== 0;
        if (hasFailed && !isFailing) log.warn({ err: result.error }, 'traces are not accepted: they are dropped');
        if (!hasFailed && isFailing) log.info('traces are accepted again');
        isFailing = hasFailed;
        done(result);
      }),
    shutdown: async () => exporter.shutdown(),
  };
}

async function createSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }: Config) {
  const sdk = await import('@opentelemetry/sdk-trace-base');
  const root = {
    always_on: () => new sdk.AlwaysOnSampler(),
    always_off: () => new sdk.AlwaysOffSampler(),
    traceidratio: () => new sdk.TraceIdRatioBasedSampler(share),
  }[name.replace('parentbased_', '') as 'always_on' | 'always_off' | 'traceidratio']();
  return name.startsWith('parentbased_') ? new sdk.ParentBasedSampler({ root }) : root;
}

/** Recording, and the running step, which follows asynchronous calls. */
async function createRun(
  tracer: ReturnType<InstanceType<typeof import('@opentelemetry/sdk-trace-base').BasicTracerProvider>['getTracer']>,
) {
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import('@opentelemetry/api');
  const running = new AsyncLocalStorage<OtelSpan>();
  const kinds = {
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    producer: SpanKind.PRODUCER,
    consumer: SpanKind.CONSUMER,
  };
  const contextOf = (parent: string | null | undefined) => {
    if (parent === undefined) {
      const span = running.getStore();
      return span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT;
    }
    const [, traceId, spanId, flags] = TRACEPARENT.exec(parent ?? '') ?? [];
    if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
    const remote = { traceId, spanId, traceFlags: Number.parseInt(flags ?? '', 16), isRemote: true };
    return trace.setSpanContext(ROOT_CONTEXT, remote);
  };
  const noteOn =
    (span: OtelSpan): Note =>
    ({ name, hasFailed = false, attributes = {} }) => {
      if (name !== undefined) span.updateName(name);
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttributes(given(attributes));
    };
  const run: Tracing['run'] = async ({ name, kind, parent, attributes = {} }, work) => {
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes: given(attributes) }, contextOf(parent));
    const note = noteOn(span);
    try {
      return await running.run(span, async () => work(note));
    } catch (error) {
      // Not its message, which may have a value.
      note({ hasFailed: true, attributes: { 'error.type': error instanceof Error ? error.name : 'unknown' } });
      throw error;
    } finally {
      span.end();
    }
  };
  const current = (): string | null => {
    const context = running.getStore()?.spanContext();
    if (!context) return null;
    return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
  };
  return { run, current };
}

type Known = Record<string, string | number | boolean>;

const given = (attributes: object): Known =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined)) as Known;
