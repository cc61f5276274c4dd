import Router from '@koa/router';
import type { Context } from 'koa';
import { Counter } from 'prom-client';
import { RateLimiterMemory } from 'rate-limiter-flexible';

import type { GuessLimit } from '../http/limits.ts';
import type { Registry } from '../http/metrics.ts';
import { readBody } from '../lib/body.ts';
import { DAY_MS } from '../lib/dates.ts';
import { rows, type Queryable } from '../lib/db.ts';
import { isInRange } from '../lib/ip-range.ts';
import type { Logger } from '../lib/log.ts';
import type { Environment } from '../lib/scope.ts';
import { CHANNELS, LIVE_CHANNELS, type Channel } from '../merchants/channels/channel.ts';
import { findProviderOf, type FindProvider, type MerchantOrder, type Provider, type RawCallback } from './provider.ts';
import type { LiveProviders } from './settings.ts';

const BODY_BYTES_MAX = 65_536;
/** 24 random bytes, as they are made for attempts, withdrawals and refunds. */
const SECRET = /^[\w-]{32}$/;
/** Stored of one order, and by one process of one channel of an environment in a minute; verified ones are all stored. */
const UNVERIFIED_PER_ORDER_MAX = 20;
const UNVERIFIED_PER_MINUTE_MAX = 600;
const SEND_AGAIN = 'Not handled. Please send it again.';

type At = MerchantOrder & { channel: Channel; environment: Environment };
export type CallbackAttempt = At & { attemptId: string };
export type CallbackPayout = At & { payoutId: string; kind: 'withdrawal' | 'refund' };

/** Refused: from a wrong network, or signed with the keys of the other environment. It does not trigger a check. */
type CallbackResult = 'verified' | 'unverified' | 'refused';

/** Unstored: not verified, and beyond what is stored of them. */
const COUNTED_RESULTS = ['verified', 'unverified', 'refused', 'unstored'] as const;
type CountedResult = (typeof COUNTED_RESULTS)[number];

type CallbackOrder = CallbackAttempt | CallbackPayout;

export type CallbackDeps = {
  findOrderBySecret: (secret: string) => Promise<CallbackOrder | null>;
  findProvider: FindProvider;
  /** Returns whether it was stored: of one order only so many that are not verified. */
  storeCallback: (row: CallbackRow) => Promise<boolean>;
  /**
   * Queries the provider about the order: the content of a callback is never trusted. Returns whether the provider knows
   * the outcome, or the attempt is paid.
   */
  onCallback: (order: CallbackOrder, callback: { verified: boolean }) => Promise<boolean>;
  unknown: GuessLimit;
  /** The networks that a channel's provider calls from; none: any. */
  networksOf?: (at: At) => readonly string[];
  count?: ((callback: Omit<At, keyof MerchantOrder> & { result: CountedResult }) => void) | undefined;
  log: Pick<Logger, 'info' | 'error'>;
};

/** The callback address of an attempt, withdrawal or refund. */
export function callbackUrl(baseUrl: string, order: { channel: Channel; secret: string }): string {
  return `${baseUrl.replace(/\/{1,9}$/, '')}/api/providers/${order.channel}/callback/${order.secret}`;
}

/**
 * POST /api/providers/:channel/callback/:secret. It reads the body itself, as bytes, so mount it before any body
 * parser. The provider gets its acknowledgement only after the callback is stored and the check was made, for a verified
 * one only after a conclusive check; otherwise it gets a 500, and so calls again, as where our account has no usable
 * credentials. A refused one is stored, and gets a 403.
 */
export function createCallbackRouter(deps: CallbackDeps): Router {
  const router = new Router();
  const unverified = new RateLimiterMemory({ points: UNVERIFIED_PER_MINUTE_MAX, duration: 60 });
  router.post('/api/providers/:channel/callback/:secret', async (ctx) => {
    const { secret = '' } = ctx.params;
    const channel = CHANNELS.find((one) => one === ctx.params['channel']);
    // Any other path cannot be an address of ours: it is neither looked up nor logged.
    if (channel === undefined || !SECRET.test(secret)) return respondPlain(ctx, 404, 'Not found');
    await deps.unknown.reject(ctx);
    try {
      const order = await deps.findOrderBySecret(secret);
      if (order?.channel === channel) {
        const provider = await findProviderOf(deps.findProvider, order);
        if (provider) return await receive({ ...deps, unverified }, ctx, { order, provider });
        // An order of ours, so its provider must not be limited as a caller of unknown addresses.
        deps.log.error(order, 'callback not handled: its account has no usable credentials');
        return respondPlain(ctx, 500, SEND_AGAIN);
      }
    } catch (error) {
      deps.log.error({ err: error, channel }, 'callback not handled');
      return respondPlain(ctx, 500, SEND_AGAIN);
    }
    respondPlain(ctx, 404, 'Not found');
    await deps.unknown.count(ctx);
  });
  return router;
}

type Target = { order: CallbackOrder; provider: Provider };

type ReceiveDeps = CallbackDeps & { unverified: RateLimiterMemory };

async function receive(deps: ReceiveDeps, ctx: Context, { order, provider }: Target): Promise<void> {
  const body = await readBody(ctx.req.iterator({ destroyOnReturn: false }), BODY_BYTES_MAX);
  if (body === null) {
    // The unread rest of the body would be parsed as the next request.
    ctx.set('Connection', 'close');
    return respondPlain(ctx, 413, `More than ${BODY_BYTES_MAX} bytes`);
  }
  const { environment, merchantId: _merchantId, sentAt: _sentAt, ...labels } = order;
  const raw = { headers: ctx.headers, body };
  const { result, problem } = await verifyCallback(deps, { order, provider, raw, ip: ctx.ip });
  const verified = result === 'verified';
  const place = `${environment} ${order.channel}`;
  const isWithin = verified || (await deps.unverified.consume(place).catch(() => null)) !== null;
  const isStored = isWithin && (await deps.storeCallback({ ...labels, body, verified, rejectionReason: problem }));
  if (isStored) deps.log.info({ ...labels, environment, result, problem }, 'callback stored');
  deps.count?.({ channel: order.channel, environment, result: isStored ? result : 'unstored' });
  if (result === 'refused') return respondPlain(ctx, 403, 'Not accepted');
  const isConclusive = await deps.onCallback(order, { verified });
  if (!isConclusive && verified) {
    deps.log.info(labels, 'check of a verified callback was not conclusive');
    return respondPlain(ctx, 500, SEND_AGAIN);
  }
  ctx.status = 200;
  ctx.type = provider.callbackResponse.contentType;
  ctx.body = provider.callbackResponse.body;
}

type Verification = { result: CallbackResult; problem: string | null };

/** Whether a callback is acted on, and otherwise the reason. */
async function verifyCallback(
  deps: CallbackDeps,
  { order, provider, raw, ip }: Target & { raw: RawCallback; ip: string },
): Promise<Verification> {
  const networks = deps.networksOf?.(order) ?? [];
  if (networks.length > 0 && !networks.some((network) => isInRange(ip, network))) {
    const setting = `${order.channel}_CALLBACK_CIDRS`;
    const problem = `it came from ${ip}, which is not in ${setting}; if that is a proxy of yours, check TRUSTED_PROXY_COUNT`;
    return { result: 'refused', problem };
  }
  const parsed = provider.parseCallback(raw);
  if (!parsed.verified) {
    const other = order.environment === 'live' ? 'sandbox' : 'live';
    const otherProvider = await findProviderOf(deps.findProvider, { ...order, environment: other });
    const isOfOther = otherProvider?.parseCallback(raw).verified === true;
    if (!isOfOther) return { result: 'unverified', problem: parsed.problem };
    const whose = other === 'live' ? "live's keys" : "the sandbox's keys";
    return { result: 'refused', problem: `it is signed with ${whose}, and the order is ${PLACES[order.environment]}` };
  }
  const isOurs = parsed.orderId === ('attemptId' in order ? order.attemptId : order.payoutId);
  return isOurs ? { result: 'verified', problem: null } : { result: 'unverified', problem: 'it names another order' };
}

const PLACES: Record<Environment, string> = { sandbox: 'of the sandbox', live: 'live' };

/** The networks of live providers' callbacks, from their settings. Callbacks of the simulator come from anywhere. */
export function callbackNetworks(providers: LiveProviders): NonNullable<CallbackDeps['networksOf']> {
  return ({ channel, environment }) => {
    const live = LIVE_CHANNELS.find((one) => one === channel);
    return environment === 'live' && live ? providers[live].connection.callbackCidrs : [];
  };
}

/** Counts callbacks of orders by their result. */
export function countCallbacks(registry: Registry): NonNullable<CallbackDeps['count']> {
  const counter = new Counter({
    name: 'meskot_provider_callbacks_total',
    help: 'Callbacks of providers by result; refused: of a wrong network or with keys of the other environment; unstored: beyond the limit',
    labelNames: ['channel', 'environment', 'result'],
    registers: [registry],
  });
  // A result that has not occurred is 0, not absent.
  for (const channel of LIVE_CHANNELS) {
    for (const environment of ['sandbox', 'live']) {
      for (const result of COUNTED_RESULTS) counter.inc({ channel, environment, result }, 0);
    }
  }
  return ({ channel, environment, result }) => counter.inc({ channel, environment, result });
}

function respondPlain(ctx: Context, status: number, text: string): void {
  ctx.status = status;
  ctx.type = 'text/plain';
  ctx.body = text;
}

/** A callback byte for byte, and whether its signature is valid. */
export type CallbackRow = ({ attemptId: string } | { payoutId: string }) & {
  channel: Channel;
  body: Buffer;
  verified: boolean;
  rejectionReason: string | null;
};

/** Stores a callback as it was received; false: it is not verified, and its order has enough of those. */
export async function storeCallback(db: Queryable, row: CallbackRow): Promise<boolean> {
  const stored = await rows(
    db,
    `INSERT INTO provider_callback (attempt_id, payout_id, channel, body, verified, rejection_reason)
     SELECT CAST(:attemptId AS text), CAST(:payoutId AS text), :channel, :body, CAST(:verified AS boolean), :rejectionReason
     WHERE CAST(:verified AS boolean) OR (
       SELECT count(*) FROM provider_callback
       WHERE NOT verified AND (attempt_id = :attemptId OR payout_id = :payoutId)) < ${UNVERIFIED_PER_ORDER_MAX}
     RETURNING 1`,
    { attemptId: null, payoutId: null, ...row },
  );
  return stored.length > 0;
}

/** How long a verified callback is a reason to keep querying an order. */
const RECHECK_FOR_MS = DAY_MS;
export const RECHECK_INTERVAL_MIN_MS = 60_000;
/** The interval grows: this fraction of the time since the callback arrived. */
const RECHECK_AGE_PART = 10;

/** In SQL: a table of orders `o`, and the condition on them and on `callback.received_at`, the last verified callback. */
type Rechecked = {
  table: 'payment_attempt' | 'payout';
  where: string;
  values?: Record<string, unknown>;
  now: Date;
  limit: number;
  check: (id: string) => Promise<unknown>;
};

/**
 * Checks orders again that had a verified callback in the last 24 h, so that no callback is lost: at most `limit` of them,
 * each at most once a minute, at growing intervals. Random order, so that orders that keep failing do not block the others.
 * @returns how many were checked. Throws when a check failed, after all were made.
 */
export async function recheckOrders(db: Queryable, orders: Rechecked): Promise<number> {
  const { table, where, values, now, limit, check } = orders;
  const idColumn = `${table.replace('payment_', '')}_id`;
  const due = await rows<{ id: string }>(
    db,
    `SELECT o.id
     FROM (
       SELECT ${idColumn}, max(created_at) FROM provider_callback
       WHERE verified AND created_at > :validFrom AND ${idColumn} IS NOT NULL GROUP BY ${idColumn}
     ) callback (id, received_at) JOIN ${table} o ON o.id = callback.id
     WHERE (${where}) AND coalesce(o.last_checked_at, o.created_at) <= least(
       CAST(:queriedBefore AS timestamptz),
       CAST(:now AS timestamptz) - (CAST(:now AS timestamptz) - callback.received_at) / ${RECHECK_AGE_PART})
     ORDER BY random() LIMIT :limit`,
    {
      ...values,
      now,
      validFrom: new Date(now.getTime() - RECHECK_FOR_MS),
      queriedBefore: new Date(now.getTime() - RECHECK_INTERVAL_MIN_MS),
      limit,
    },
  );
  const checks = await Promise.allSettled(due.map(async ({ id }) => check(id)));
  const failed = checks.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
  return due.length;
}
