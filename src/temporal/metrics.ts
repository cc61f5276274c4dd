import { anyFreePort } from '../lib/free-port.ts';

const READ_WITHIN_MS = 1_000;

/**
 * Chooses an address for the metrics server of Temporal's core (polls, task latencies, failures, cache): any free port,
 * since workers that start at once would choose the same next one.
 */
export async function exposeCoreMetrics() {
  const bindAddress = `127.0.0.1:${await anyFreePort()}`;
  return {
    /** On loopback only; our own metrics endpoint includes them. */
    bindAddress,
    /** Prometheus' text format; empty while there are none. */
    read: async (): Promise<string> => {
      const signal = AbortSignal.timeout(READ_WITHIN_MS);
      return fetch(`http://${bindAddress}/metrics`, { signal }).then(
        async (response) => response.text(),
        () => '',
      );
    },
  };
}
