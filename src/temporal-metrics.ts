import { choosePort } from './local/ports.ts';

export type TemporalMetrics = {
  /** Where Temporal's core serves them: on this machine only, as they are shown beside our own. */
  bindAddress: string;
  /** Prometheus' text format; empty while there are none. */
  read: () => Promise<string>;
};

/** Its own default, and where the search for a free port begins. */
const FIRST_PORT = 4010;
const READ_WITHIN_MS = 1_000;

/** Finds a place for the figures of Temporal's core (polls, task latencies, failures, cache), which has its own server. */
export async function placeTemporalMetrics(reserved: ReadonlySet<number> = new Set()): Promise<TemporalMetrics> {
  const bindAddress = `127.0.0.1:${await choosePort(FIRST_PORT, new Set(reserved))}`;
  return {
    bindAddress,
    read: async () => {
      const signal = AbortSignal.timeout(READ_WITHIN_MS);
      return fetch(`http://${bindAddress}/metrics`, { signal }).then(
        async (answer) => answer.text(),
        () => '',
      );
    },
  };
}
