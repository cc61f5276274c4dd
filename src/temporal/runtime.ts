import { DefaultLogger, Runtime, makeTelemetryFilterString } from '@temporalio/worker';

import type { Logger } from '../lib/log.ts';
import { anyFreePort } from '../lib/ports.ts';

/** Of a failed workflow task's report by Temporal's core: the message, not the stack. */
const FAILURE_CHARACTERS_MAX = 300;
const READ_METRICS_WITHIN_MS = 1_000;

/**
 * Routes Temporal's log into ours, and its metrics (polls, task latencies, failures, cache) to any free port of the loopback
 * interface; once per process, before anything of Temporal's is used. Returns a reader of these metrics in Prometheus'
 * text format. Warnings stay warnings only with a failure, such as a bug in a workflow. The core repeats each failed poll
 * many times a second, so of the core only errors are logged, and warnings of its workflow machinery.
 */
export async function installRuntime(log: Logger): Promise<() => Promise<string>> {
  // Workers that start at once would choose the same next port.
  const bindAddress = `127.0.0.1:${await anyFreePort()}`;
  const logger = new DefaultLogger('WARN', ({ level, message, meta = {} }) => {
    const { error, failure, workflowId, runId } = meta;
    const reason = typeof failure === 'string' ? failure.slice(0, FAILURE_CHARACTERS_MAX) : undefined;
    const details = { err: error, failure: reason, workflowId, runId };
    if (level === 'ERROR') log.error(details, message);
    else log[error === undefined && reason === undefined ? 'info' : 'warn'](details, message);
  });
  const errors = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
  const filter = `${errors},temporalio_sdk_core::worker::workflow=WARN`;
  Runtime.install({
    logger,
    telemetryOptions: { logging: { forward: {}, filter }, metrics: { prometheus: { bindAddress } } },
  });
  return async () => {
    const signal = AbortSignal.timeout(READ_METRICS_WITHIN_MS);
    return fetch(`http://${bindAddress}/metrics`, { signal }).then(
      async (response) => response.text(),
      () => '',
    );
  };
}
