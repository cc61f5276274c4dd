import { randomUUID } from 'node:crypto';

import type { MerchantScope } from '../../src/lib/scope.ts';

/** A request of a merchant with its idempotency key, however often it was sent. */
export type MerchantRequest = {
  /** The path after /api/checkout/, e.g. "sessions". */
  path: string;
  body: Record<string, unknown>;
  /** How often it was sent; the last final response counts. */
  tries: number;
  responses: { status: number; data: Record<string, unknown> }[];
};

/** What one merchant's client sent and received: evidence for the invariants. */
export type ClientJournal = { scope: MerchantScope; requests: readonly MerchantRequest[] };

export type MerchantClient = ClientJournal & {
  key: string;
  /** POSTs, and repeats with the same key until the response is final. */
  post: (path: string, body?: Record<string, unknown>) => Promise<Record<string, unknown>>;
  /** How often the response was missing or required a repeat. */
  repeats: () => number;
};

const GIVE_UP_MS = 30_000;
const RESPONSE_TIMEOUT_MS = 10_000;
const PAUSE_MS = 50;

export type MerchantClientOptions = {
  url: string;
  key: string;
  scope: MerchantScope;
  /** The response to the first try of every n-th request is discarded; none by default. */
  loseEvery?: number;
  /** How long a request is repeated, and the pause between: 30 s and 50 ms by default. */
  giveUpMs?: number;
  pauseMs?: number;
};

/** A client as merchants should write it: each request is repeated with its key until its response is final. */
export function createMerchantClient(options: MerchantClientOptions): MerchantClient {
  const requests: MerchantRequest[] = [];
  const { loseEvery = Infinity, giveUpMs = GIVE_UP_MS, pauseMs = PAUSE_MS } = options;

  async function tryOnce(request: MerchantRequest, idempotencyKey: string): Promise<boolean> {
    request.tries += 1;
    try {
      const response = await fetch(`${options.url}/api/checkout/${request.path}`, {
        method: 'POST',
        headers: { 'x-api-key': options.key, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
        body: JSON.stringify(request.body),
        signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
      });
      const received = (await response.json()) as { error?: { code: string }; data?: Record<string, unknown> };
      if (request.tries === 1 && requests.indexOf(request) % loseEvery === loseEvery - 1) return false;
      const isTransient =
        response.status >= 500 || response.status === 429 || received.error?.code === 'IDEMPOTENCY_IN_PROGRESS';
      if (!isTransient) request.responses.push({ status: response.status, data: received.data ?? {} });
      return !isTransient;
    } catch {
      // Disconnected: the outcome is unknown, which is why the request has a key.
      return false;
    }
  }

  return {
    scope: options.scope,
    key: options.key,
    requests,
    repeats: () => requests.reduce((sum, request) => sum + Math.max(request.tries - 1, 0), 0),
    post: async (path, body = {}) => {
      const request: MerchantRequest = { path, body, tries: 0, responses: [] };
      requests.push(request);
      const key = randomUUID();
      for (const endMs = Date.now() + giveUpMs; !(await tryOnce(request, key));) {
        if (Date.now() > endMs) throw new Error(`POST ${path} had no final response in ${request.tries} tries`);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
      return request.responses.at(-1)?.data ?? {};
    },
  };
}
