import type Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';

import type { Callback } from './callback.ts';
import type { MovableClock } from './clock.ts';
import type { Faults, RequestKind, SimulatedChannel } from './faults.ts';
import type { OrderBook } from './order-store.ts';
import type { Order, OrderState } from './order.ts';
import type { PayoutBook } from './payout-store.ts';
import type { Payout, PayoutState } from './payout.ts';

export type WireDeps = {
  book: OrderBook;
  payouts: PayoutBook;
  clock: MovableClock;
  faults: Faults;
  count: (what: string) => void;
  /** Where customers' browsers reach this server by a name of the public's; null: nowhere. */
  publicUrl: string | null;
};

/** A callback as it goes over the wire. */
export type Rendered = { headers: Record<string, string>; body: string };

/** One provider's format: what it answers, and how it tells. */
export type Wire = {
  routes: Router;
  callback: (order: Order, callback: Callback<OrderState>) => Rendered;
  payoutCallback: (payout: Payout, callback: Callback<PayoutState>) => Rendered;
};

export type WireContext = ParameterizedContext;

/** Counts the request and lets it suffer the fault that waits for it, if one does. */
export function withFaults(
  deps: WireDeps & { forgetTokens?: () => void },
  request: { channel: SimulatedChannel; kind: RequestKind },
  handle: (ctx: WireContext) => Promise<void>,
): Middleware {
  return async (ctx) => {
    deps.count(`${request.channel} ${request.kind}`);
    const fault = deps.faults.takeForRequest(request.channel, request.kind);
    if (fault === 'tokenExpired') deps.forgetTokens?.();
    if (fault !== 'serverError' && fault !== 'hang') await handle(ctx);
    if (fault === 'serverError' || fault === 'serverErrorAfter') {
      ctx.status = 500;
      ctx.body = 'Internal Server Error';
    }
    // Koa leaves the answer to us, and we never give it.
    if (fault === 'hang' || fault === 'hangAfter') ctx.respond = false;
  };
}

/** The body as an object of whatever; empty when it is anything else. */
export function bodyOf(ctx: WireContext): Record<string, unknown> {
  const body: unknown = ctx.request.body;
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

/** The field as text; empty when it is missing or anything else. */
export function text(fields: Record<string, unknown>, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Answers with JSON. */
export function respond(ctx: WireContext, status: number, body: Record<string, unknown>): void {
  ctx.status = status;
  ctx.body = body;
}
