import type { Context } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

import { AppError } from '../lib/errors.ts';
import type { Caller } from './route.ts';

/** Requests a second, by kind of caller; 0 = no limit. Counted in memory: each process has its own counts. */
export type LimitSettings = {
  sandboxPerSecond: number;
  livePerSecond: number;
  listsPerSecond: number;
  /** The hosted pages' requests per address: one may be that of many customers, behind a mobile operator. */
  pagesPerSecond: number;
  /** Wrong keys and tokens per address and minute. */
  failedAuthPerMinute: number;
};

/** Two seconds' requests may come at once: the rate on average, twice of it in a burst. */
const WINDOW_SECONDS = 2;
/** Of what comes in bursts, ten seconds' may: a month's salaries are asked for at once. */
const BURST_WINDOW_SECONDS = 10;

export type Limits = {
  /** Counts a request by its caller, or its address where callers are not known; sets RateLimit-*; throws RATE_LIMITED. */
  countRequest: (ctx: Context, caller: Caller | null, rateLimit: 'default' | 'list' | 'burst') => Promise<void>;
  /** The same for a hosted page, by address. */
  countPage: (ctx: Context) => Promise<void>;
  /** Counts a wrong key or token; throws RATE_LIMITED once there were too many. The right one always passes. */
  countFailedAuth: (ctx: Context) => Promise<void>;
};

/** The limits of this process. */
export function createLimits(settings: LimitSettings): Limits {
  const sandbox = {
    default: perSecond('sandbox', settings.sandboxPerSecond),
    burst: perSecond('sandbox-burst', settings.sandboxPerSecond, BURST_WINDOW_SECONDS),
  };
  const live = {
    default: perSecond('live', settings.livePerSecond),
    burst: perSecond('live-burst', settings.livePerSecond, BURST_WINDOW_SECONDS),
  };
  const lists = perSecond('lists', settings.listsPerSecond);
  const pages = perSecond('pages', settings.pagesPerSecond);
  const failedAuth =
    settings.failedAuthPerMinute === 0
      ? null
      : new RateLimiterMemory({ keyPrefix: 'auth', points: settings.failedAuthPerMinute, duration: 60 });
  return {
    countRequest: async (ctx, caller, rateLimit) => {
      const limiter = rateLimit === 'list' ? lists : (isSandbox(caller) ? sandbox : live)[rateLimit];
      const what = `${WHAT[rateLimit]} ${WHOSE[caller?.kind ?? 'nobody']}`;
      await consume(limiter, ctx, { who: whoIs(ctx, caller), what });
    },
    countPage: (ctx) => consume(pages, ctx, { who: ctx.ip, what: `requests for payment pages ${WHOSE.nobody}` }),
    countFailedAuth: (ctx) =>
      consume(failedAuth, ctx, { who: ctx.ip, what: `requests with a wrong key or token ${WHOSE.nobody}` }),
  };
}

function perSecond(keyPrefix: string, requests: number, duration = WINDOW_SECONDS): RateLimiterMemory | null {
  if (requests === 0) return null;
  return new RateLimiterMemory({ keyPrefix, points: requests * duration, duration });
}

function isSandbox(caller: Caller | null): boolean {
  return caller === null || (caller.kind !== 'operator' && caller.environment === 'sandbox');
}

function whoIs(ctx: Context, caller: Caller | null): string {
  if (!caller) return ctx.ip;
  return caller.kind === 'client' ? caller.sessionId : caller.keyId;
}

const WHAT = { default: 'requests', list: 'requests for lists', burst: 'requests of this kind' } as const;

const WHOSE = {
  key: 'with one key',
  operator: 'with one key',
  client: 'for one session',
  nobody: 'from one address',
} as const;

/** Whose requests are counted, and which, in the words of the refusal. */
type Counted = { who: string; what: string };

async function consume(limiter: RateLimiterMemory | null, ctx: Context, { who, what }: Counted): Promise<void> {
  if (!limiter) return;
  try {
    setHeaders(ctx, limiter.points, await limiter.consume(who));
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    setHeaders(ctx, limiter.points, refused);
    const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    throw new AppError(
      'RATE_LIMITED',
      `At most ${limiter.points} ${what} are allowed in ${limiter.duration} s. Repeat the request in ${seconds} s.`,
      { headers: { 'Retry-After': String(seconds) } },
    );
  }
}

function setHeaders(ctx: Context, limit: number, state: RateLimiterRes): void {
  ctx.res.setHeader('RateLimit-Limit', limit);
  ctx.res.setHeader('RateLimit-Remaining', Math.max(0, state.remainingPoints));
  ctx.res.setHeader('RateLimit-Reset', Math.ceil(state.msBeforeNext / 1000));
}
