import { createServer } from 'node:http';

import { bodyParser } from '@koa/bodyparser';
import Router from '@koa/router';
import Koa, { type Context, type Middleware } from 'koa';

import { readBody } from '../../lib/body.ts';
import { listen, stopListening } from '../../lib/listen.ts';
import type { Logger } from '../../lib/log.ts';
import { createShopApi, createStartCheckout, MENU, type StartCheckout } from './checkout.ts';
import { startCustomers, WALK_IN_PREFIX } from './customers.ts';
import { createInbox, createMemory, type Behaviour, type Delivery, type Inbox } from './inbox.ts';
import { problemPage, returnPage, shopPage } from './pages.ts';

export type DemoShopOptions = {
  /** 0 for any free port. */
  port: number;
  host: string;
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
const BEHAVIOURS: readonly Behaviour[] = ['ok', 'fail', 'hang'];
const SECURITY_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
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
  const shop = { url: '' };
  const api = createShopApi(options);
  const startCheckout = createStartCheckout({ api, shopUrl: () => shop.url });

  const app = new Koa();
  app.on('error', (error: Error & { expose?: boolean }) => {
    if (!error.expose) options.log?.error({ err: error }, 'The demo shop failed');
  });
  app.use(async (ctx, next) => {
    ctx.set(SECURITY_HEADERS);
    await next();
  });
  app.use(webhookRoutes(inbox, options.write).routes());
  app.use(pageRoutes(inbox, startCheckout).routes());

  const server = createServer(app.callback());
  shop.url = await listen(server, options);
  const everyMs = options.customersEveryMs ?? 0;
  const customers = everyMs > 0 ? startCustomers({ api, startCheckout, everyMs }) : null;
  return {
    url: shop.url,
    close: async () => {
      await customers?.stop();
      await stopListening(server);
    },
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
    if (delivery.status === null) {
      // The connection stays open until the sender times out.
      ctx.respond = false;
      return;
    }
    ctx.status = delivery.status;
    ctx.body = delivery.verdict;
  });

  // A second receiver that fails each event's first delivery and accepts the next, to demonstrate retries and resends.
  // It verifies nothing.
  const isRepeated = createMemory();
  routes.post('/flaky', (ctx) => {
    ctx.status = isRepeated(ctx.get('x-service-event-id')) ? 204 : 503;
  });
  return routes;
}

function pageRoutes(inbox: Inbox, startCheckout: StartCheckout): Router {
  const routes = new Router();
  routes.use(fromThisShopOnly, bodyParser({ enableTypes: ['json', 'form'] }));

  routes.get('/', (ctx) => {
    ctx.body = shopPage({ behaviour: inbox.behaviour(), deliveries: inbox.deliveries() });
  });

  routes.post('/buy', async (ctx) => {
    const drink = MENU.find(({ id }) => id === fieldOf(ctx, 'item'));
    const started = drink === undefined ? { problem: 'There is no such drink.' } : await startCheckout(drink);
    if ('checkoutUrl' in started) return seeOther(ctx, started.checkoutUrl);
    ctx.status = drink === undefined ? 400 : 502;
    ctx.body = problemPage(started.problem);
  });

  routes.post('/behaviour', (ctx) => {
    const behaviour = BEHAVIOURS.find((known) => known === fieldOf(ctx, 'mode'));
    if (behaviour === undefined) return ctx.throw(400, `mode must be ${BEHAVIOURS.join(', ')}`);
    inbox.behave(behaviour);
    if (ctx.is('json')) ctx.body = { mode: behaviour };
    else seeOther(ctx, '/');
  });

  const returnPages = { '/thanks': 'Thank you', '/sorry': 'The payment did not work', '/cancelled': 'You cancelled' };
  for (const [path, heading] of Object.entries(returnPages)) {
    routes.get(path, (ctx) => {
      const orderNo = String(ctx.query['checkoutOrderNo'] ?? 'unknown');
      ctx.body = returnPage(heading, orderNo, inbox.orderState(orderNo));
    });
  }
  return routes;
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
