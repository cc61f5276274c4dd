import { setTimeout as sleep } from 'node:timers/promises';

import type { HttpClient, HttpResult } from '../lib/http-client.ts';

type Options = {
  /** 0: no limit. */
  callsPerSecond: number;
  /** The longest wait of a call. */
  waitMsMax: number;
  onLimited: (result: 'delayed' | 'refused') => void;
};

const REFUSED: HttpResult = {
  kind: 'failed',
  reason: 'rate-limit',
  message: 'not sent: more calls than the rate limit of this channel allows',
};

/**
 * The client, with its calls evenly spaced. The wait counts towards the call's time limit, its signal. It is computed before
 * the call is queued: a call that would wait longer than `waitMsMax` fails at once and delays no other call.
 */
export function limitRate(http: HttpClient, { callsPerSecond, waitMsMax, onLimited }: Options): HttpClient {
  if (callsPerSecond === 0) return http;
  let freeAtMs = 0;
  return {
    ...http,
    send: async (request) => {
      const nowMs = performance.now();
      const turnMs = Math.max(nowMs, freeAtMs);
      const waitMs = turnMs - nowMs;
      if (waitMs > waitMsMax) {
        onLimited('refused');
        return REFUSED;
      }
      freeAtMs = turnMs + 1_000 / callsPerSecond;
      if (waitMs === 0) return http.send(request);
      onLimited('delayed');
      // It ends early when the call's time is over.
      await sleep(waitMs, undefined, { signal: request.signal }).catch(() => undefined);
      return request.signal.aborted ? REFUSED : http.send(request);
    },
  };
}
