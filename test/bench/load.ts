import { Pool } from 'undici';

import { nowMs } from './numbers.ts';

export type Request = {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
};

/** Requests to one server, built from their numbers, from 0. */
export type Target = {
  origin: string;
  request: (number: number) => Request;
  status: number;
};

export type Load = {
  /** Sends this many requests; each connection sends the next one after a response. */
  burst: (count: number) => Promise<void>;
  /** Sends requests at this rate per second, independent of the responses. */
  steady: (perSecond: number, seconds: number) => Promise<void>;
  close: () => Promise<void>;
};

/** Exceeds every measured value: such a request counts as failed. */
const ANSWERED_WITHIN_MS = 30_000;

/**
 * Sends requests over this many keep-alive connections. A 503 is retried, as by clients; any other unexpected response
 * throws.
 */
export function createLoad({ origin, request, status }: Target, connections: number): Load {
  const pool = new Pool(origin, { connections, headersTimeout: ANSWERED_WITHIN_MS });
  let sent = 0;
  const send = async (): Promise<void> => {
    const { method, path, headers, body = null } = request(sent++);
    for (;;) {
      const response = await pool.request({ method, path, headers, body });
      if (response.statusCode === status) return response.body.dump();
      const words = await response.body.text();
      if (response.statusCode !== 503)
        throw new Error(`${method} ${path} responded with ${response.statusCode}: ${words}`);
    }
  };
  return {
    burst: async (count) => {
      let left = count;
      const sendRemaining = async (): Promise<void> => {
        while (left-- > 0) await send();
      };
      await Promise.all(Array.from({ length: connections }, sendRemaining));
    },
    steady: async (perSecond, seconds) => {
      const startMs = nowMs();
      const responses: Promise<void>[] = [];
      for (let number = 0; number < perSecond * seconds; number += 1) {
        const waitMs = startMs + (number * 1000) / perSecond - nowMs();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        const one = send();
        // Reported below with all others.
        one.catch(() => {});
        responses.push(one);
      }
      await Promise.all(responses);
    },
    close: () => pool.close(),
  };
}
