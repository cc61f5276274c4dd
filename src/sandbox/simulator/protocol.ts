import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';

import type { Callback } from './callbacks.ts';
import type { TestClock } from './clock.ts';
import type { Faults, RequestKind, SimulatedChannel } from './faults.ts';
import type { Payments, Payouts, Placed } from './order-store.ts';
import {
  outageOf,
  visibleStatus,
  type Order,
  type OrderRequest,
  type OrderStatus,
  type Payout,
  type PayoutRequest,
} from './order.ts';
import { statementPage, type Statement } from './statement.ts';

export type ProtocolDeps = {
  payments: Payments;
  payouts: Payouts;
  clock: TestClock;
  faults: Faults;
  count: (request: string) => void;
  /** Where customers' browsers reach this server by a public name; null without one. */
  publicUrl: string | null;
};

export type Context = ParameterizedContext;
export type Fields = Record<string, unknown>;
export type Reply = { status?: number; body: Record<string, unknown> };

/** A callback as it is sent. */
export type Rendered = { headers: Record<string, string>; body: string };

/** What a request contains, or why the provider rejects it. */
export type Parsed<Request> = Omit<Request, 'channel'> | { problem: string };

/** A rejected or missing order. */
export type Rejected = { kind: RequestKind; orderId: string; reason: 'UNKNOWN_PARTY' | 'ANOTHER_ORDER' };

/** One provider's messages; what happens behind them is the same for all. */
export type Protocol = {
  channel: SimulatedChannel;
  prefix: string;
  endpoints: Record<RequestKind, { method: 'get' | 'post'; path: string }>;
  /** Routes of this provider alone. */
  extraRoutes?: (routes: Router) => void;
  /** Makes the merchant's access tokens expire. */
  forgetTokens?: () => void;
  /** The error response to a request that the merchant did not sign; null when it did. */
  authenticate: (ctx: Context) => Reply | null;
  /** Where a message has its fields: in the body, the path or the query unless given. */
  fieldsOf?: (body: Fields) => Fields;
  orderIdField: string;
  readPayment: (fields: Fields, nowMs: number) => Parsed<OrderRequest>;
  readPayout: (fields: Fields) => Parsed<PayoutRequest>;
  readStatement: (fields: Fields) => { day: string; cursor: string };
  invalid: (fields: Fields, problem: string) => Reply;
  rejected: (rejected: Rejected) => Reply;
  notFound: (orderId: string) => Reply;
  /** A payment that waits for its customer. */
  pushed: (order: Order) => Reply;
  status: (status: OrderStatus, kind: RequestKind) => Reply;
  statement: (day: string, page: Statement) => Reply;
  callback: (status: OrderStatus, callback: Callback) => Rendered;
};

/** The endpoints of a provider: payments, payouts and the statement of a day. */
export function protocolRoutes(deps: ProtocolDeps, protocol: Protocol): Router {
  const { payments, payouts, clock } = deps;
  const { channel, orderIdField } = protocol;
  const routes = new Router({ prefix: protocol.prefix });
  protocol.extraRoutes?.(routes);

  const serve = (kind: RequestKind, handle: (fields: Fields, ctx: Context) => Promise<Reply | null>): void => {
    const { method, path } = protocol.endpoints[kind];
    const middleware = withFaults({ ...deps, protocol, kind }, async (ctx) => {
      const fields = { ...ctx.query, ...ctx['params'], ...(protocol.fieldsOf ?? same)(bodyOf(ctx)) };
      const reply = protocol.authenticate(ctx) ?? (await handle(fields, ctx));
      if (reply) respond(ctx, reply.status ?? 200, reply.body);
    });
    routes[method](path, middleware);
  };
  const reject = (placed: Extract<Placed<unknown>, { kind: 'rejected' }>, kind: RequestKind, fields: Fields): Reply =>
    protocol.rejected({ kind, orderId: text(fields, orderIdField), reason: placed.reason });
  const report = (order: Order | Payout, kind: RequestKind, ctx: Context): Reply | null =>
    suffersOutage(order, ctx, clock.nowMs()) ? null : protocol.status(visibleStatus(order, clock.nowMs()), kind);
  const query = (store: Payments | Payouts, kind: RequestKind): void =>
    serve(kind, async (fields, ctx) => {
      const order = store.find(channel, text(fields, orderIdField));
      if (!order) return protocol.notFound(text(fields, orderIdField));
      order.queries += 1;
      return report(order, kind, ctx);
    });

  serve('initiate', async (fields) => {
    const request = protocol.readPayment(fields, clock.nowMs());
    if ('problem' in request) return protocol.invalid(fields, request.problem);
    const placed = await payments.place({ ...request, channel });
    return placed.kind === 'placed' ? protocol.pushed(placed.order) : reject(placed, 'initiate', fields);
  });
  serve('payout', async (fields, ctx) => {
    const request = protocol.readPayout(fields);
    if ('problem' in request) return protocol.invalid(fields, request.problem);
    const placed = await payouts.place({ ...request, channel });
    return placed.kind === 'placed' ? report(placed.order, 'payout', ctx) : reject(placed, 'payout', fields);
  });
  query(payments, 'query');
  query(payouts, 'queryPayout');
  serve('statement', async (fields) => {
    const request = protocol.readStatement(fields);
    const page = statementPage({ orders: payments.all(), payouts: payouts.all() }, { channel, ...request });
    return page ? protocol.statement(request.day, page) : protocol.invalid(fields, 'day or cursor is wrong');
  });
  return routes;
}

const same = (body: Fields): Fields => body;

type Faulted = ProtocolDeps & { protocol: Protocol; kind: RequestKind };

/** Counts the request and applies the next fault for it, if there is one. */
function withFaults({ faults, count, protocol, kind }: Faulted, handle: (ctx: Context) => Promise<void>): Middleware {
  return async (ctx) => {
    count(`${protocol.channel} ${kind}`);
    const fault = faults.takeForRequest(protocol.channel, kind);
    if (fault === 'tokenExpired') protocol.forgetTokens?.();
    if (fault !== 'serverError' && fault !== 'hang') await handle(ctx);
    if (fault === 'serverError' || fault === 'serverErrorAfter') fail(ctx, 'serverError');
    if (fault === 'hang' || fault === 'hangAfter') fail(ctx, 'hang');
  };
}

function suffersOutage(order: Order | Payout, ctx: Context, nowMs: number): boolean {
  const outage = outageOf(order, nowMs);
  if (outage) fail(ctx, outage);
  return outage !== null;
}

function fail(ctx: Context, how: 'serverError' | 'hang'): void {
  // Koa then leaves the response to us, and none is ever sent.
  if (how === 'hang') ctx.respond = false;
  else {
    ctx.status = 500;
    ctx.body = 'Internal Server Error';
  }
}

/** The parsed body; empty when it is no object. */
export function bodyOf(ctx: Context): Fields {
  return objectOf(ctx.request.body);
}

export function objectOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** The field as text; empty when it is missing or of another type. */
export function text(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}

/** Responds with JSON. */
export function respond(ctx: Context, status: number, body: Record<string, unknown>): void {
  ctx.status = status;
  ctx.body = body;
}
