import { createServer } from 'node:http';

import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';

import { readBody } from '../../lib/body.ts';
import { FONT_PATH, sendFont } from '../../lib/ethiopic-font.ts';
import type { Logger } from '../../lib/log.ts';
import { listen, stopListening } from '../../lib/ports.ts';
import { createCheckout, MENU, WALK_IN_PREFIX, type Checkout } from './checkout.ts';
import { BEHAVIOURS, createInbox, remember, type Delivery, type Inbox } from './inbox.ts';
import { deliveryList, orderText, problemPage, returnPage, shopPage } from './pages.ts';
import { SCRIPT } from './style.ts';
import type { Language } from './texts.ts';

export type DemoShopOptions = {
  /** 0 for any free port. */
  port: number;
  host: string;
  /** Where customers reach it and come back to; its own address unless given. */
  url?: string;
  apiUrl: string;
  /** A sandbox key with the scope checkout:write. */
  apiKey: string;
  webhookSecret: string;
  /** Receives a line for each webhook, except acknowledged ones about demo customers. */
  write: (line: string) => void;
  /** The interval between demo customers; none unless given. */
  customersEveryMs?: number;
  log?: Pick<Logger, 'error'>;
};

export type DemoShop = { url: string; close: () => Promise<void> };

const BODY_BYTES_MAX = 262_144;
const LANGUAGE_COOKIE = 'buna_bet_language';
const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'self'; connect-src 'self'; font-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  // With no-referrer, browsers would send our own forms with the origin "null".
  'Referrer-Policy': 'same-origin',
};

/**
 * A demo merchant: sells coffee through the API, receives webhooks at `/webhooks`, verifies them with the SDK and can be
 * set to fail, hang or recover. Bind it to loopback: it has no authentication.
 */
export async function startDemoShop(options: DemoShopOptions): Promise<DemoShop> {
  const inbox = createInbox(options.webhookSecret);
  const checkout = createCheckout({ ...options, shopUrl: () => options.url ?? url });
  const app = new Koa();
  app.on('error', (error: Error & { expose?: boolean }) => {
    if (!error.expose) options.log?.error({ err: error }, 'The demo shop failed');
  });
  app.use(async (ctx, next) => {
    ctx.set(SECURITY_HEADERS);
    await next();
  });
  app.use(webhookRoutes(inbox, options.write).routes());
  app.use(pageRoutes(inbox, checkout).routes());
  const server = createServer(app.callback());
  const url = await listen(server, options);
  const stopCustomers = startCustomers(checkout, options.customersEveryMs ?? 0);
  return {
    url,
    close: async () => {
      await stopCustomers();
      await stopListening(server);
    },
  };
}

/** Simulates a customer every `everyMs`, so that there is always new data. Failures are ignored; the next one tries again. */
function startCustomers({ walkIn }: Checkout, everyMs: number): () => Promise<void> {
  const active = new Set<Promise<void>>();
  let count = 0;
  const enter = (): void => {
    const customer = walkIn(count++)
      .catch(() => {})
      .finally(() => active.delete(customer));
    active.add(customer);
  };
  const timer = everyMs > 0 ? setInterval(enter, everyMs) : undefined;
  return async () => {
    clearInterval(timer);
    await Promise.all(active);
  };
}

function webhookRoutes(inbox: Inbox, write: (line: string) => void): Router {
  const routes = new Router();
  routes.post('/webhooks', async (ctx) => {
    const body = await readBody(ctx.req, BODY_BYTES_MAX);
    if (body === null) return ctx.throw(413, 'The body is too large');
    const delivery = inbox.receive(body, ctx.headers);
    // Demo customers are on the page only; on the terminal they would bury a person's own orders.
    if (!(delivery.orderNo.startsWith(WALK_IN_PREFIX) && delivery.status === 200)) write(lineOf(delivery));
    // Without a status the connection stays open until the sender times out.
    ctx.respond = delivery.status !== null;
    ctx.status = delivery.status ?? 200;
    ctx.body = delivery.verdict;
  });

  // A second receiver that fails each event's first delivery and accepts the next, to demonstrate retries and resends.
  // It verifies nothing.
  const seen = new Map<string, true>();
  routes.post('/flaky', (ctx) => {
    const eventId = ctx.get('x-service-event-id');
    ctx.status = seen.has(eventId) ? 204 : 503;
    remember(seen, eventId, true);
  });
  return routes;
}

function pageRoutes(inbox: Inbox, checkout: Checkout): Router {
  const routes = new Router();
  routes.use(fromThisShopOnly, bodyParser({ enableTypes: ['json', 'form'] }));

  routes.get('/', (ctx) => {
    ctx.body = shopPage(inbox, languageOf(ctx));
  });
  routes.get(FONT_PATH, sendFont);
  routes.get('/shop.js', (ctx) => {
    ctx.type = 'text/javascript';
    ctx.body = SCRIPT;
  });
  routes.get('/deliveries', (ctx) => {
    ctx.body = deliveryList(inbox.deliveries, languageOf(ctx));
  });
  routes.get('/order', (ctx) => {
    ctx.body = orderText(inbox.orders.get(orderNoOf(ctx)), languageOf(ctx));
  });

  routes.post('/buy', async (ctx) => {
    const drink = MENU.find(({ id }) => id === fieldOf(ctx, 'item'));
    try {
      if (!drink) throw new Error('There is no such drink.');
      seeOther(ctx, (await checkout.start(drink, { locale: languageOf(ctx) })).checkoutUrl);
    } catch (error) {
      ctx.status = drink ? 502 : 400;
      ctx.body = problemPage((error as Error).message, languageOf(ctx));
    }
  });

  routes.post('/behaviour', (ctx) => {
    const behaviour = BEHAVIOURS.find((known) => known === fieldOf(ctx, 'mode'));
    if (behaviour === undefined) return ctx.throw(400, `mode must be ${BEHAVIOURS.join(', ')}`);
    inbox.behaviour = behaviour;
    if (ctx.is('json')) ctx.body = { mode: behaviour };
    else seeOther(ctx, '/');
  });

  for (const kind of ['thanks', 'sorry', 'cancelled'] as const) {
    routes.get(`/${kind}`, (ctx) => {
      const orderNo = orderNoOf(ctx);
      ctx.body = returnPage(kind, { orderNo, state: inbox.orders.get(orderNo), language: languageOf(ctx) });
    });
  }
  return routes;
}

const orderNoOf = (ctx: Context): string => String(ctx.query['checkoutOrderNo'] ?? 'unknown');

/** The language of the visitor's choice, which is remembered, else of the browser. */
function languageOf(ctx: Context): Language {
  const isLanguage = (text: unknown): text is Language => text === 'en' || text === 'am';
  const { lang } = ctx.query;
  if (isLanguage(lang)) ctx.cookies.set(LANGUAGE_COOKIE, lang, { sameSite: 'lax' });
  const wanted = [lang, ctx.cookies.get(LANGUAGE_COOKIE), ctx.acceptsLanguages('en', 'am')];
  return wanted.find(isLanguage) ?? 'en';
}

/** Rejects requests that pages of other sites make a browser send. */
const fromThisShopOnly: Middleware = async (ctx, next) => {
  const origin = ctx.get('origin');
  if (origin !== '' && origin !== `http://${ctx.host}`) ctx.throw(403, 'Only from this shop');
  await next();
};

/** A field of a form or a JSON object. */
function fieldOf(ctx: Context, name: string): unknown {
  return (ctx.request.body as Record<string, unknown> | undefined)?.[name];
}

function seeOther(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.set('Location', url);
}

function lineOf({ at, event, orderNo, number, signedAt, verdict, status }: Delivery): string {
  const order = orderNo === '' ? '' : `order ${orderNo}  `;
  const response = status === null ? 'no response' : `responded ${status}`;
  return `webhook ${at.toISOString()}  ${event}  ${order}delivery ${number}, signed ${signedAt}  ${verdict}  → ${response}`;
}
