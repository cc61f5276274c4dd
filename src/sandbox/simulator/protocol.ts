import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';

import { parseBirr } from '../../lib/money.ts';
import type { Callback } from './callbacks.ts';
import type { TestClock } from './clock.ts';
import { outageOf, type Direction, type Faults, type RequestKind, type SimulatedChannel } from './faults.ts';
import type { OrderStore } from './order-store.ts';
import {
  visibleStatus,
  type Order,
  type OrderStatus,
  type Payee,
  type PaymentRequest,
  type PayoutRequest,
} from './order.ts';
import { statementPage, type Statement } from './statement.ts';

export type ProtocolDeps = {
  orders: OrderStore;
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

/** A rejected or missing order. */
type Rejected = { kind: RequestKind; orderId: string; reason: 'UNKNOWN_PARTY' | 'ANOTHER_ORDER' };

type FieldName =
  | ('orderId' | 'amount' | 'currency' | 'callbackUrl' | 'phone' | 'title' | 'expiry' | 'payee' | 'accountName')
  | ('day' | 'cursor');

/** One provider's messages; what happens behind them is the same for all. */
export type Protocol = {
  channel: SimulatedChannel;
  prefix: string;
  endpoints: Record<RequestKind, { method: 'get' | 'post'; path: string }>;
  /** Routes of this provider alone. */
  extraRoutes?: (routes: Router) => void;
  /** Expires the merchant's access tokens. */
  forgetTokens?: () => void;
  /** The error response to a request that the merchant did not sign; null when it did. */
  authenticate: (ctx: Context) => Reply | null;
  /** Where a message has its fields: in the body, the path or the query unless given. */
  fieldsOf?: (body: Fields) => Fields;
  /** How a provider names the fields of its messages; its payments may have a return address. */
  names: Readonly<Record<FieldName, string> & { returnUrl?: string }>;
  /** Why the provider rejects these fields of a payment or payout, beyond what all of them require. */
  problemOf?: (fields: Fields, kind: RequestKind) => string | null;
  /** Milliseconds, NaN for a malformed expiry; an ISO 8601 instant unless given. */
  expiresAtMs?: (expiry: string, nowMs: number) => number;
  /** A phone unless given; null for an incomplete payee. */
  payeeOf?: (fields: Fields) => Payee | null;
  /** YYYY-MM-DD; as it is unless given. */
  dayOf?: (day: string) => string;
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
  const { orders, clock } = deps;
  const { channel, names } = protocol;
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
  const report = (order: Order, kind: RequestKind, ctx: Context): Reply | null => {
    const outage = outageOf(order, clock.nowMs());
    if (!outage) return protocol.status(visibleStatus(order, clock.nowMs()), kind);
    fail(ctx, outage);
    return null;
  };
  const place = (kind: 'initiate' | 'payout', reply: (order: Order, ctx: Context) => Reply | null): void =>
    serve(kind, async (fields, ctx) => {
      const problem = protocol.problemOf?.(fields, kind) ?? null;
      const request = problem === null ? readRequest(protocol, { kind, fields, nowMs: clock.nowMs() }) : null;
      if (!request) return protocol.invalid(fields, problem ?? 'a field is wrong');
      const placed = await orders.place(request);
      if (placed.kind === 'placed') return reply(placed.order, ctx);
      return protocol.rejected({ kind, orderId: text(fields, names.orderId), reason: placed.reason });
    });
  const query = (kind: RequestKind, direction: Direction): void =>
    serve(kind, async (fields, ctx) => {
      const order = orders.find(direction, channel, text(fields, names.orderId));
      if (!order) return protocol.notFound(text(fields, names.orderId));
      order.queries += 1;
      return report(order, kind, ctx);
    });

  place('initiate', protocol.pushed);
  place('payout', (order, ctx) => report(order, 'payout', ctx));
  query('query', 'payment');
  query('queryPayout', 'payout');
  serve('statement', async (fields) => {
    const given = text(fields, names.day);
    const day = protocol.dayOf?.(given) ?? given;
    const page = statementPage(orders.all(), { channel, day, cursor: text(fields, names.cursor) });
    return page ? protocol.statement(day, page) : protocol.invalid(fields, 'day or cursor is wrong');
  });
  return routes;
}

const same = (body: Fields): Fields => body;

/** Null when a required field is missing or malformed. */
function readRequest(
  protocol: Protocol,
  { kind, fields, nowMs }: { kind: 'initiate' | 'payout'; fields: Fields; nowMs: number },
): PaymentRequest | PayoutRequest | null {
  const { channel, names, expiresAtMs: parseExpiry = Date.parse } = protocol;
  const read = (name: FieldName): string => text(fields, names[name]);
  const [orderId, amount, callbackUrl] = [read('orderId'), read('amount'), read('callbackUrl')];
  if (!orderId || !callbackUrl || !parseBirr(amount)) return null;
  const requested = { channel, orderId, amount, callbackUrl, currency: read('currency') };
  if (kind === 'payout') {
    const payee = protocol.payeeOf ? protocol.payeeOf(fields) : { phone: read('payee') };
    const isComplete = payee !== null && !('phone' in payee && payee.phone === '');
    return isComplete ? { ...requested, payee, accountName: read('accountName') } : null;
  }
  const expiresAtMs = parseExpiry(read('expiry'), nowMs);
  const returnUrl = names.returnUrl === undefined ? null : text(fields, names.returnUrl) || null;
  return Number.isNaN(expiresAtMs)
    ? null
    : { ...requested, phone: read('phone'), title: read('title'), returnUrl, expiresAtMs };
}

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

export function respond(ctx: Context, status: number, body: Record<string, unknown>): void {
  ctx.status = status;
  ctx.body = body;
}
