import ipaddr from 'ipaddr.js';
import type { Context } from 'koa';
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';

import { sha256 } from '../lib/crypto.ts';
import type { Database } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import type { Caller } from './route.ts';

/** Requests a second, by kind of caller; 0 = no limit. Counted in memory, by each process, except the sign-ins of an account. */
export type LimitSettings = {
  sandboxPerSecond: number;
  livePerSecond: number;
  listsPerSecond: number;
  /** The hosted pages' requests per address: many customers of a mobile operator share one. */
  pagesPerSecond: number;
  /**
   * Wrong keys and tokens per address and minute, and as many callbacks of providers to unknown addresses. As many wrong
   * sign-ins per address and minute, and per account in 15 minutes.
   */
  failedAuthPerMinute: number;
};

/** Two seconds' requests may come at once: the average is the rate, a burst twice as much. */
const WINDOW_SECONDS = 2;
/** For routes with bursts: a month's salaries are requested at once. */
const BURST_WINDOW_SECONDS = 10;

export type Limits = {
  /** Counts a request by its caller, or its address where callers are not known; sets RateLimit-*; throws RATE_LIMITED. */
  countRequest: (ctx: Context, caller: Caller | null, rateLimit: 'default' | 'list' | 'burst') => Promise<void>;
  /** The same for a hosted page, by address. */
  countPage: (ctx: Context) => Promise<void>;
  /** Of wrong keys and tokens. */
  failedAuth: GuessLimit;
  /** Counts an attempt to sign in, by address and, unless null, account. Throws RATE_LIMITED. */
  countSignIn: (ctx: Context, account: string | null) => Promise<void>;
  /** Undoes it after a success. */
  undoSignIn: Limits['countSignIn'];
  /** Of providers' callbacks to unknown addresses. */
  unknownCallbacks: GuessLimit;
};

/** A limit of wrong guesses per address. Guesses beyond it cost no query. */
export type GuessLimit = {
  count: (ctx: Context) => Promise<void>;
  /** Throws RATE_LIMITED for an address without guesses left, unless `isKnown`. Call it before any query. */
  reject: (ctx: Context, isKnown?: () => boolean) => Promise<void>;
};

/** The limits of this process. With a database, all processes count the sign-ins of an account together. */
export function createLimits(settings: LimitSettings, db?: Database): Limits {
  const lists = perSecond('lists', settings.listsPerSecond);
  const limitersOf = (environment: string, requests: number) => ({
    default: perSecond(environment, requests),
    burst: perSecond(`${environment}-burst`, requests, BURST_WINDOW_SECONDS),
    list: lists,
  });
  const sandbox = limitersOf('sandbox', settings.sandboxPerSecond);
  const live = limitersOf('live', settings.livePerSecond);
  const { failedAuthPerMinute: guesses } = settings;
  const signInsOfAddress = createLimiter('sign-ins', guesses, GUESS_SECONDS);
  const ofAccount = { keyPrefix: 'accounts', points: guesses, duration: SIGN_IN_SECONDS };
  const signInsOfAccount = guesses === 0 ? null : db ? countedIn(db, ofAccount) : new RateLimiterMemory(ofAccount);
  const pages = perSecond('pages', settings.pagesPerSecond);
  return {
    countRequest: async (ctx, caller, rateLimit) => {
      const isSandbox = caller === null || ('environment' in caller && caller.environment === 'sandbox');
      const who = caller === null ? networkOf(ctx.ip) : counted(caller);
      const what = `${WHAT[rateLimit]} ${WHOSE[caller?.kind ?? 'public']}`;
      await consume((isSandbox ? sandbox : live)[rateLimit], ctx, { who, what });
    },
    countPage: async (ctx) =>
      consume(pages, ctx, { who: networkOf(ctx.ip), what: `requests for payment pages ${WHOSE.public}` }),
    failedAuth: createGuessLimit(settings.failedAuthPerMinute, 'requests with a wrong key or token'),
    countSignIn: async (ctx, account) => {
      await consume(signInsOfAddress, ctx, { who: networkOf(ctx.ip), what: `wrong sign-ins ${WHOSE.public}` });
      if (account === null) return;
      await consume(signInsOfAccount, ctx, { who: accountOf(account), what: 'wrong sign-ins of one account' });
    },
    undoSignIn: async (ctx, account) => {
      await signInsOfAddress?.reward(networkOf(ctx.ip));
      if (account !== null) await signInsOfAccount?.reward(accountOf(account));
    },
    unknownCallbacks: createGuessLimit(settings.failedAuthPerMinute, 'callbacks to unknown addresses'),
  };
}

const accountOf = (account: string): string => sha256(account).toString('hex');

const GUESS_SECONDS = 60;
/** For one account: an attacker has many addresses. */
const SIGN_IN_SECONDS = 15 * 60;

function createGuessLimit(guessesMax: number, guesses: string): GuessLimit {
  const limiter = createLimiter(guesses, guessesMax, GUESS_SECONDS);
  const what = `${guesses} ${WHOSE.public}`;
  return {
    count: async (ctx) => consume(limiter, ctx, { who: networkOf(ctx.ip), what }),
    reject: async (ctx, isKnown = () => false) => {
      const state = await limiter?.get(networkOf(ctx.ip));
      if (!limiter || !state || state.remainingPoints > 0 || isKnown()) return;
      throw tooMany(ctx, limiter, { what, leftMs: state.msBeforeNext });
    },
  };
}

const perSecond = (name: string, requests: number, seconds = WINDOW_SECONDS) =>
  createLimiter(name, requests * seconds, seconds);

/** null for no limit. */
function createLimiter(keyPrefix: string, points: number, duration: number): RateLimiterMemory | null {
  return points === 0 ? null : new RateLimiterMemory({ keyPrefix, points, duration });
}

type Limiter = RateLimiterMemory | RateLimiterPostgres;

/** A limiter that counts in a table, from which it deletes old counts. */
function countedIn({ pool }: Database, limit: { keyPrefix: string; points: number; duration: number }) {
  const table = { storeClient: pool, storeType: 'pool', tableName: 'sign_in_count', tableCreated: true };
  return new RateLimiterPostgres({ ...limit, ...table });
}

const WHAT = { default: 'requests', list: 'requests for lists', burst: 'requests of this kind' } as const;

/** The id that a caller's requests are counted by. */
export function counted(caller: Caller): string {
  if (caller.kind === 'operator') return caller.operatorId;
  if ('userId' in caller) return caller.userId;
  return caller.kind === 'client' ? caller.sessionId : caller.keyId;
}

export const WHOSE = {
  key: 'with one key',
  user: 'of one person',
  person: 'of one person',
  operator: 'of one operator',
  client: 'for one session',
  public: 'from one address',
} as const;

/** The key of a count, and the counted requests as the error names them. */
type Counted = { who: string; what: string };

async function consume(limiter: Limiter | null, ctx: Context, { who, what }: Counted): Promise<void> {
  try {
    if (limiter) setHeaders(ctx, limiter, await limiter.consume(who));
  } catch (rejected) {
    if (!limiter || !(rejected instanceof RateLimiterRes)) throw rejected;
    throw tooMany(ctx, limiter, { what, leftMs: rejected.msBeforeNext });
  }
}

/** The error of a request beyond a limit; sets RateLimit-*. */
function tooMany(ctx: Context, limiter: Limiter, past: { what: string; leftMs: number }): AppError {
  const { points, duration } = limiter;
  setHeaders(ctx, limiter, { remainingPoints: 0, msBeforeNext: past.leftMs });
  const seconds = Math.max(1, Math.ceil(past.leftMs / 1000));
  const message = `At most ${points} ${past.what} are allowed in ${duration} s. Repeat the request in ${seconds} s.`;
  return new AppError('RATE_LIMITED', message, { headers: { 'Retry-After': String(seconds) } });
}

type LimiterState = Pick<RateLimiterRes, 'remainingPoints' | 'msBeforeNext'>;

function setHeaders(ctx: Context, { points }: Limiter, state: LimiterState): void {
  ctx.res.setHeader('RateLimit-Limit', points);
  ctx.res.setHeader('RateLimit-Remaining', Math.max(0, state.remainingPoints));
  ctx.res.setHeader('RateLimit-Reset', Math.ceil(state.msBeforeNext / 1000));
}

const ADDRESS_CHARACTERS_MAX = 64;

/** The network that requests of an address count for: of IPv6 the /64, which belongs to one machine. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, ADDRESS_CHARACTERS_MAX);
  const address = ipaddr.process(ip);
  if (address.kind() === 'ipv4') return address.toString();
  const groups = address.toNormalizedString().split(':');
  return `${groups.slice(0, 4).join(':')}::/64`;
}
