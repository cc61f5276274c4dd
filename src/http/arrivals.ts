import type { IncomingMessage } from 'node:http';

/** About 3 ms of work. */
const BEGUN_AT_ONCE_MAX = 8;

/**
 * Begins a few requests in one turn of the event loop, with round robin over callers. Otherwise 200 requests that one
 * caller sends at once would all be read and checked before the first one of another caller.
 */
export function createArrivals({
  addressOf,
  begunAtOnceMax = BEGUN_AT_ONCE_MAX,
}: {
  addressOf: (request: IncomingMessage) => string;
  begunAtOnceMax?: number;
}) {
  /** Queues by caller, in the order of their turns. */
  const pending = new Map<string, (() => void)[]>();
  let begun = 0;

  const run = (begin: () => void): void => {
    if (begun === 0) setImmediate(beginNext);
    begun += 1;
    begin();
  };
  const beginNext = (): void => {
    begun = 0;
    for (const [caller, line] of pending) {
      if (begun === begunAtOnceMax) return;
      const begin = line.shift();
      // Back to the end of the queue.
      pending.delete(caller);
      if (line.length > 0) pending.set(caller, line);
      if (begin) run(begin);
    }
  };
  /** Calls `begin` now, or in a later turn of the event loop. */
  return (request: IncomingMessage, begin: () => void): void => {
    if (begun < begunAtOnceMax) return run(begin);
    // Unverified: invented keys give no advantage over many addresses.
    const { headers, socket } = request;
    const caller = String(headers['x-api-key'] ?? headers.authorization ?? addressOf(request));
    const line = pending.get(caller) ?? [];
    line.push(() => !socket.destroyed && begin());
    pending.set(caller, line);
  };
}
