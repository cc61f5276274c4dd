import { isIP } from 'node:net';

import Router, { type RouterContext } from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';

import { parseBirr } from '../../lib/money.ts';
import type { SimulatedChannel } from './channels.ts';
import type { Direction, Faults, RequestKind } from './faults.ts';
import { type Statement, statementPage } from './movements.ts';
import type { OrderStore } from './order-store.ts';
import {
  type Callback,
  type Order,
  type OrderRequest,
  type Outage,
  type Transition,
  outageOf,
  refundsOf,
  visibleOrder,
} from './order.ts';

export type ProtocolDeps = {
  orders: OrderStore;
  faults: Faults;
  count: (request: string) => void;
  /** Where customers' browsers reach this server by a public name; null without one. */
  publicUrl: string | null;
  /** In the sandbox: not where it stands for live providers. */
  decidesForPayers: boolean;
};

export type Context = ParameterizedContext;
export type Fields = Record<string, unknown>;

type FieldName =
  | ('orderId' | 'amount' | 'currency' | 'callbackUrl' | 'phone' | 'title' | 'expiry' | 'returnUrl')
  | ('payee' | 'bankCode' | 'accountNumber' | 'accountName' | 'day' | 'cursor')
  | ('refundId' | 'refundOf' | 'refundAmount');

/** One provider's messages; what happens behind them is the same for all. */
export type Protocol = {
  channel: SimulatedChannel;
  prefix: string;
  /** Where each request is POSTed to. Without `queryRefund` a query of the payment has its refunds. */
  paths: Record<Exclude<RequestKind, 'queryRefund'>, string> & Partial<Record<RequestKind, string>>;
  /** Routes of this provider alone. */
  extraRoutes?: (routes: Router) => void;
  /** Expires the merchant's access tokens. */
  forgetTokens?: () => void;
  /** The error response, with its status, to a request that the merchant did not sign; null when it did. */
  authenticate: (ctx: Context) => Fields | null;
  /** Where a message has its fields: in the body unless given. */
  contentOf?: (body: Fields) => Fields;
  /** How the provider names the fields of its messages; a field without a name is empty. */
  names: Readonly<Partial<Record<FieldName, string>>>;
  /** Why the provider rejects a payment or payout, beyond what all of them require. */
  problemOf?: (content: Fields, kind: RequestKind) => string | null;
  /** Milliseconds, NaN for a malformed expiry; an ISO 8601 instant unless given. */
  expiresAtMs?: (expiry: string, nowMs: number) => number;
  /** YYYY-MM-DD; as it is unless given. */
  dayOf?: (day: string) => string;
  /** The provider's codes for a rejection. */
  codes: Readonly<Record<'invalid' | 'unknownPayer' | 'unknownPayee' | 'anotherOrder' | 'notFound', string>>;
  /** The bodies of responses. */
  rejected: (code: string, message: string) => Fields;
  pushed: (order: Order) => Fields;
  status: (order: Order) => Fields;
  statement: (day: string, page: Statement) => Fields;
  callback: (order: Order, callback: Callback) => Fields;
};

type Decided = Pick<Transition, 'state' | 'failure'>;

const DECISIONS = new Map<string, Decided>([
  ['approve', { state: 'PAID', failure: null }],
  ['decline', { state: 'DECLINED', failure: 'REFUSED_BY_PROVIDER' }],
]);

/**
 * A decision in place of the payer, which Meskot sends for developers of merchants. It takes no key: who knows an order's
 * id can decide about it. JSON only, which pages of other sites cannot send.
 */
function decideRoute(orders: OrderStore, channel: SimulatedChannel): Middleware {
  return async (ctx) => {
    const decision = DECISIONS.get(text(bodyOf(ctx), 'decision'));
    if (!ctx.is('application/json') || !decision) {
      return respond(ctx, 400, { problems: ['must be JSON, {"decision":"approve"} or {"decision":"decline"}'] });
    }
    const orderId = String((ctx as RouterContext).params['orderId']);
    const order = orders.find({ direction: 'payment', channel, orderId });
    if (order?.state !== 'WAITING') return respond(ctx, 409, { problems: ['no such order waits for its payer'] });
    await orders.decide(order, { ...decision, atMs: orders.nowMs() });
    respond(ctx, 200, { state: order.state });
  };
}

type Field = (name: FieldName) => string;

/** Returns the body of the response, or how it fails. */
type Handle = (request: { content: Fields; field: Field }) => Promise<Fields | Outage>;

/** The endpoints of a provider: payments, payouts, refunds and the statement of a day. */
export function protocolRoutes(deps: ProtocolDeps, protocol: Protocol): Router {
  const { orders, faults, count, decidesForPayers } = deps;
  const { channel, codes, names, contentOf = (body) => body } = protocol;
  const routes = new Router({ prefix: protocol.prefix });
  protocol.extraRoutes?.(routes);

  /** Counts the request and applies the next fault for it, if there is one. */
  const serve = (kind: RequestKind, handle: Handle): void =>
    void routes.post(protocol.paths[kind] ?? '', async (ctx) => {
      count(`${channel} ${kind}`);
      const fault = faults.takeForRequest(channel, kind);
      if (fault === 'tokenExpired') protocol.forgetTokens?.();
      if (fault === 'serverError' || fault === 'hang') return fail(ctx, fault);
      const content = contentOf(bodyOf(ctx));
      const field: Field = (name) => text(content, names[name] ?? '');
      const body = protocol.authenticate(ctx) ?? (await handle({ content, field }));
      if (fault === 'serverErrorAfter') fail(ctx, 'serverError');
      else if (fault === 'hangAfter') fail(ctx, 'hang');
      else if (typeof body === 'string') fail(ctx, body);
      else ctx.body = body;
    });
  const report = (order: Order): Fields | Outage => {
    const nowMs = orders.nowMs();
    const refunds = protocol.paths.queryRefund === undefined ? refundsOf(orders.all(), order) : [];
    const outage = [order, ...refunds].map((one) => outageOf(one, nowMs)).find((one) => one !== null);
    return outage ?? protocol.status(visibleOrder(order, nowMs));
  };
  const place = (kind: 'initiate' | 'payout', direction: Direction): void =>
    serve(kind, async ({ content, field }) => {
      const problem = protocol.problemOf?.(content, kind) ?? null;
      const request = readRequest(protocol, { direction, field, nowMs: orders.nowMs() });
      if (problem !== null || !request) return protocol.rejected(codes.invalid, problem ?? 'a field is wrong');
      const placed = await orders.place(request);
      if (typeof placed === 'object') return direction === 'payout' ? report(placed) : protocol.pushed(placed);
      const unknownParty = direction === 'payout' ? codes.unknownPayee : codes.unknownPayer;
      const code = placed === 'ANOTHER_ORDER' ? codes.anotherOrder : unknownParty;
      return protocol.rejected(code, `${code}: ${request.orderId}`);
    });
  const query = (kind: 'query' | 'queryPayout' | 'queryRefund', direction: Direction): void =>
    serve(kind, async ({ field }) => {
      const orderId = field(direction === 'refund' ? 'refundId' : 'orderId');
      const order = orders.find({ direction, channel, orderId });
      if (!order) return protocol.rejected(codes.notFound, `no order ${orderId}`);
      order.queries += 1;
      return report(order);
    });

  if (decidesForPayers) routes.post('/orders/:orderId/decision', decideRoute(orders, channel));
  place('initiate', 'payment');
  place('payout', 'payout');
  query('query', 'payment');
  query('queryPayout', 'payout');
  if (protocol.paths.queryRefund !== undefined) query('queryRefund', 'refund');
  serve('refund', async ({ content, field }) => {
    const problem = protocol.problemOf?.(content, 'refund') ?? null;
    const request = problem === null ? readRefund(orders, channel, field) : problem;
    if (typeof request === 'string') return protocol.rejected(codes.invalid, request);
    const placed = await orders.place(request);
    return typeof placed === 'object' ? report(placed) : protocol.rejected(codes.anotherOrder, request.orderId);
  });
  serve('statement', async ({ field }) => {
    const day = protocol.dayOf?.(field('day')) ?? field('day');
    const page = statementPage(orders.all(), { channel, day, cursor: field('cursor') });
    return page ? protocol.statement(day, page) : protocol.rejected(codes.invalid, 'day or cursor is wrong');
  });
  return routes;
}

/** Null when a required field is missing or malformed. */
function readRequest(
  { channel, expiresAtMs: parseExpiry = Date.parse }: Protocol,
  { direction, field, nowMs }: { direction: Direction; field: Field; nowMs: number },
): OrderRequest | null {
  const isPayout = direction === 'payout';
  const request: OrderRequest = {
    direction,
    channel,
    orderId: field('orderId'),
    amount: field('amount'),
    currency: field('currency'),
    callbackUrl: field('callbackUrl'),
    phone: field(isPayout ? 'payee' : 'phone'),
    bankCode: field('bankCode'),
    accountNumber: field('accountNumber'),
    title: field(isPayout ? 'accountName' : 'title'),
    returnUrl: field('returnUrl') || null,
    expiresAtMs: isPayout ? null : parseExpiry(field('expiry'), nowMs),
  };
  const isComplete = request.orderId !== '' && request.callbackUrl !== '' && parseBirr(request.amount);
  return isComplete && !Number.isNaN(request.expiresAtMs) ? request : null;
}

/** The refund that is requested, or what is wrong with it: a part of what its payment has left at most. */
function readRefund(orders: OrderStore, channel: SimulatedChannel, field: Field): OrderRequest | string {
  const [orderId, refundOf, amount] = [field('refundId'), field('refundOf'), field('refundAmount')];
  const paid = orders.find({ direction: 'payment', channel, orderId: refundOf });
  const santim = parseBirr(amount);
  if (orderId === '' || !santim) return 'the id or the amount of the refund is wrong';
  if (!paid?.paidAmount) return `no paid order ${refundOf}`;
  const others = refundsOf(orders.all(), paid).filter((one) => one.orderId !== orderId && one.state !== 'FAILED');
  const refunded = others.reduce((sum, one) => sum + (parseBirr(one.amount) ?? 0n), santim);
  if (refunded > (parseBirr(paid.paidAmount) ?? 0n)) return 'more than what is left of the payment';
  const [currency, callbackUrl] = [field('currency'), field('callbackUrl')];
  const none = { bankCode: '', accountNumber: '', title: '', returnUrl: null, expiresAtMs: null };
  return { ...none, direction: 'refund', channel, orderId, refundOf, amount, currency, callbackUrl, phone: paid.phone };
}

function fail(ctx: Context, how: Outage): void {
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

export function respond(ctx: Context, status: number, body: Fields): void {
  ctx.status = status;
  ctx.body = body;
}

/**
 * Admits requests from this machine only: rejects requests that another site's page makes a browser send, and host
 * names that such a page could have pointed at this machine (DNS rebinding).
 */
export const fromThisMachineOnly: Middleware = async (ctx, next) => {
  const { hostname } = ctx;
  if (!isLoopback(hostname)) return reject(ctx, `Use the name localhost or 127.0.0.1, not ${hostname}.`);
  if (isCrossSite(ctx)) return reject(ctx, 'Pages of other sites cannot call this.');
  if (ctx.method === 'POST' && !ctx.is('application/json')) {
    return respond(ctx, 415, { problems: ['Content-Type must be application/json'] });
  }
  await next();
};

/** The same for customers' browsers, which may also use the public name and names that no page can take over. */
export function fromOwnPagesOnly(publicUrl: string | null): Middleware {
  const publicName = publicUrl === null ? null : new URL(publicUrl).hostname;
  return async (ctx, next) => {
    const { hostname } = ctx;
    const isKnown = hostname === publicName || isLoopback(hostname) || isIP(bare(hostname)) !== 0;
    if (!isKnown && hostname.includes('.')) return reject(ctx, `${hostname} is not the name of this server.`);
    if (ctx.method !== 'GET' && isCrossSite(ctx)) return reject(ctx, 'Pages of other sites cannot call this.');
    await next();
  };
}

function reject(ctx: Context, problem: string): void {
  respond(ctx, 403, { problems: [problem] });
}

/** Browsers name the requesting page's site in headers; other programs send none. */
function isCrossSite(ctx: Context): boolean {
  const site = ctx.get('sec-fetch-site');
  if (site !== '') return site !== 'same-origin' && site !== 'none';
  const origin = ctx.get('origin');
  return origin !== '' && (!URL.canParse(origin) || new URL(origin).host !== ctx.host);
}

function isLoopback(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || bare(name) === '::1' || /^127\.\d+\.\d+\.\d+$/.test(name)
  );
}

/** IPv6 addresses are in brackets. */
function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}
