import { randomUUID } from 'node:crypto';

import type { MerchantScope } from '../../src/lib/scope.ts';

/** One thing a merchant asked for, under one idempotency key, however often it had to ask. */
export type Asked = {
  /** After /api/checkout/, as "sessions". */
  path: string;
  body: Record<string, unknown>;
  /** How often it was sent; the last answer is the one the merchant goes by. */
  tries: number;
  answers: { status: number; data: Record<string, unknown> }[];
};

/** What one merchant's client did: evidence for the invariants. */
export type ClientJournal = { scope: MerchantScope; asked: readonly Asked[] };

export type MerchantClient = ClientJournal & {
  key: string;
  /** POSTs, repeating under the same key until there is an answer that a repeat would not change. */
  post: (path: string, body?: Record<string, unknown>) => Promise<Record<string, unknown>>;
  /** How often no answer came, or one that asks for a repeat. */
  repeats: () => number;
};

const GIVE_UP_MS = 30_000;
const ANSWER_WITHIN_MS = 10_000;
const PAUSE_MS = 50;

export type MerchantClientOptions = {
  url: string;
  key: string;
  scope: MerchantScope;
  /** The answer to the first try of every n-th request is lost on its way; none unless said. */
  loseEvery?: number;
  /** How long it goes on repeating, and rests between: 30 s and 50 ms unless said. */
  giveUpMs?: number;
  pauseMs?: number;
};

/** A client as merchants should write it: every request is repeated under its key until it is answered. */
export function createMerchantClient(options: MerchantClientOptions): MerchantClient {
  const asked: Asked[] = [];
  const { loseEvery = Infinity, giveUpMs = GIVE_UP_MS, pauseMs = PAUSE_MS } = options;

  async function tryOnce(request: Asked, idempotencyKey: string): Promise<boolean> {
    request.tries += 1;
    try {
      const response = await fetch(`${options.url}/api/checkout/${request.path}`, {
        method: 'POST',
        headers: { 'x-api-key': options.key, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(request.body),
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const answer = (await response.json()) as { error?: { code: string }; data?: Record<string, unknown> };
      if (request.tries === 1 && asked.indexOf(request) % loseEvery === loseEvery - 1) return false;
      const passing =
        response.status >= 500 || response.status === 429 || answer.error?.code === 'IDEMPOTENCY_IN_PROGRESS';
      if (!passing) request.answers.push({ status: response.status, data: answer.data ?? {} });
      return !passing;
    } catch {
      // Cut off: whether it happened is not known, which is what the key is for.
      return false;
    }
  }

  return {
    scope: options.scope,
    key: options.key,
    asked,
    repeats: () => asked.reduce((sum, request) => sum + Math.max(request.tries - 1, 0), 0),
    post: async (path, body = {}) => {
      const request: Asked = { path, body, tries: 0, answers: [] };
      asked.push(request);
      const key = randomUUID();
      for (const endMs = Date.now() + giveUpMs; !(await tryOnce(request, key));) {
        if (Date.now() > endMs) throw new Error(`POST ${path} had no answer in ${request.tries} tries`);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      return request.answers.at(-1)?.data ?? {};
    },
  };
}
