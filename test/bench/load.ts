import { Pool } from 'undici';

import { nowMs } from './numbers.ts';

export type Request = {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
};

/** Requests to one server, made from their numbers, from 0 on. */
export type Target = {
  origin: string;
  request: (number: number) => Request;
  status: number;
};

export type Load = {
  /** This many requests, each of the connections sending its next one when the last is answered. */
  burst: (count: number) => Promise<void>;
  /** So many requests a second, at their time, whether the earlier ones are answered or not. */
  steady: (perSecond: number, seconds: number) => Promise<void>;
  close: () => Promise<void>;
};

/** Longer than anything here is measured in: who is as late is counted as broken. */
const ANSWERED_WITHIN_MS = 30_000;

/**
 * Asks a server over so many kept connections. What it has no room for (503) is asked again, as clients do; throws when
 * an answer is not the expected one.
 */
export function createLoad({ origin, request, status }: Target, connections: number): Load {
  const pool = new Pool(origin, { connections, headersTimeout: ANSWERED_WITHIN_MS });
  let asked = 0;
  const ask = async (): Promise<void> => {
    const { method, path, headers, body = null } = request(asked++);
    for (;;) {
      const answer = await pool.request({ method, path, headers, body });
      if (answer.statusCode === status) return answer.body.dump();
      const words = await answer.body.text();
      if (answer.statusCode !== 503) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${words}`);
    }
  };
  return {
    burst: async (count) => {
      let left = count;
      const askOn = async (): Promise<void> => {
        while (left-- > 0) await ask();
      };
      await Promise.all(Array.from({ length: connections }, askOn));
    },
    steady: async (perSecond, seconds) => {
      const startMs = nowMs();
      const answered: Promise<void>[] = [];
      for (let number = 0; number < perSecond * seconds; number += 1) {
        const waitMs = startMs + (number * 1000) / perSecond - nowMs();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        const one = ask();
        // Told below, with all others.
        one.catch(() => {});
        answered.push(one);
      }
      await Promise.all(answered);
    },
    close: () => pool.close(),
  };
}
