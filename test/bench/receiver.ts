import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { until } from '../support/until.ts';
import { nowMs } from './numbers.ts';

/** A healthy receiver: responds at once, and records the time of each event. */
export type Receiver = {
  url: string;
  /** The time of each event's first arrival by its id, in milliseconds since 1970. */
  arrivals: Map<string, number>;
  /** Requests with a repeated event. */
  duplicates: () => number;
  /** Resolves when this many events have arrived since `forget`; rejects after the time. */
  untilArrived: (count: number, withinMs: number) => Promise<void>;
  forget: () => void;
  close: () => Promise<void>;
};

export async function startReceiver(): Promise<Receiver> {
  const arrivals = new Map<string, number>();
  let duplicates = 0;
  const { url, close } = await serve((request, response) => {
    const at = nowMs();
    const id = String(request.headers['x-service-event-id']);
    if (arrivals.has(id)) duplicates += 1;
    else arrivals.set(id, at);
    request.resume();
    request.on('end', () => response.writeHead(204).end());
  });
  return {
    url,
    close,
    arrivals,
    duplicates: () => duplicates,
    untilArrived: async (count, withinMs) => {
      await until(`${count} events`, () => arrivals.size >= count, withinMs).catch((error: Error) => {
        throw new Error(`${error.message}; ${arrivals.size} arrived`);
      });
    },
    forget: () => {
      arrivals.clear();
      duplicates = 0;
    },
  };
}

/** A receiver that reads every request and never responds. */
export type HangingReceiver = {
  url: string;
  /** The pending requests. */
  hanging: () => number;
  close: () => Promise<void>;
};

export async function startHangingReceiver(): Promise<HangingReceiver> {
  let hanging = 0;
  const served = await serve((request, response) => {
    hanging += 1;
    request.resume();
    response.on('close', () => (hanging -= 1));
  });
  return { ...served, hanging: () => hanging };
}

async function serve(listener: RequestListener): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(listener);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
