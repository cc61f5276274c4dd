import type { IncomingMessage } from 'node:http';

/** Some 3 ms of work. */
const BEGUN_AT_ONCE_MAX = 8;

/** Calls `begin` now, or in one of the next turns of the event loop. */
export type Arrive = (request: IncomingMessage, begin: () => void) => void;

/**
 * Lets a few requests begin in one turn of the event loop, callers in turns. Of 200 that one caller sends at once, all
 * would be read and checked before anybody else's request is even looked at.
 */
export function createArrivals(begunAtOnceMax = BEGUN_AT_ONCE_MAX): Arrive {
  /** By caller, in the order of their turns. */
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
      // To the end of the row: others come first.
      pending.delete(caller);
      if (line.length > 0) pending.set(caller, line);
      if (begin) run(begin);
    }
  };
  return (request, begin) => {
    if (begun < begunAtOnceMax) return run(begin);
    const caller = callerOf(request);
    const line = pending.get(caller) ?? [];
    line.push(() => !request.socket.destroyed && begin());
    pending.set(caller, line);
    return undefined;
  };
}

/** Unverified: inventing keys gives no advantage over using many addresses. */
function callerOf({ headers, socket }: IncomingMessage): string {
  return String(headers['x-api-key'] ?? headers.authorization ?? socket.remoteAddress);
}
