import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { nowMs } from './numbers.ts';

/** A good receiver: answers at once, and remembers when which event came. */
export type Receiver = {
  url: string;
  /** When each event came first, by its id, in milliseconds since 1970. */
  arrivals: Map<string, number>;
  /** Requests with an event that had come before. */
  duplicates: () => number;
  /** Resolves when this many events have come since `forget`; rejects after the time. */
  untilArrived: (count: number, withinMs: number) => Promise<void>;
  forget: () => void;
  close: () => Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, number>();
  let duplicates = 0;
  const server = createServer((request, response) => {
    const at = nowMs();
    const id = String(request.headers['x-service-event-id']);
    if (arrivals.has(id)) duplicates += 1;
    else arrivals.set(id, at);
    request.resume();
    request.on('end', () => response.writeHead(204).end());
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    arrivals,
    duplicates: () => duplicates,
    untilArrived: async (count, withinMs) => {
      const deadlineMs = Date.now() + withinMs;
      while (arrivals.size < count) {
        if (Date.now() > deadlineMs)
          throw new Error(`of ${count} events ${arrivals.size} came in ${withinMs / 1000} s`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    forget: () => {
      arrivals.clear();
      duplicates = 0;
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
