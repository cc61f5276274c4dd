import { Pool } from 'undici';

import { nowMs } from './numbers.ts';

/** One kind of request to one server; `path` is asked for the number of each request, from 0. */
export type Target = {
  origin: string;
  method: 'GET' | 'POST';
  path: (number: number) => string;
  headers: Record<string, string>;
  body?: string;
  status: number;
};

export type Load = {
  /** This many requests, each of the connections sending its next one when the last is answered. */
  burst: (count: number) => Promise<void>;
  /** So many requests a second, at their time, whether the earlier ones are answered or not. */
  steady: (perSecond: number, seconds: number) => Promise<void>;
  /** Requests that were refused with 503 until now. */
  refused: () => number;
  close: () => Promise<void>;
};

/**
 * Asks a server over so many kept connections. What it has no room for (503) is asked again, as clients do; throws when
 * an answer is not the expected one.
 */
export function createLoad(target: Target, connections: number): Load {
  let refused = 0;
  const pool = new Pool(target.origin, { connections });
  const ask = async (number: number): Promise<void> => {
    const { method, headers, body = null } = target;
    for (;;) {
      const answer = await pool.request({ method, path: target.path(number), headers, body });
      if (answer.statusCode === target.status) return answer.body.dump();
      const words = await answer.body.text();
      if (answer.statusCode !== 503) throw new Error(`${method} answered ${answer.statusCode}: ${words}`);
      refused += 1;
    }
  };
  return {
    burst: async (count) => {
      let next = 0;
      const askOn = async (): Promise<void> => {
        while (next < count) await ask(next++);
      };
      await Promise.all(Array.from({ length: connections }, askOn));
    },
    steady: async (perSecond, seconds) => {
      const startMs = nowMs();
      const asked: Promise<void>[] = [];
      for (let number = 0; number < perSecond * seconds; number += 1) {
        const waitMs = startMs + (number * 1000) / perSecond - nowMs();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        asked.push(ask(number));
      }
      await Promise.all(asked);
    },
    refused: () => refused,
    close: () => pool.close(),
  };
}
