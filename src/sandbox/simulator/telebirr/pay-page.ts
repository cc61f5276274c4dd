import Router from '@koa/router';

import { html, markup, type Html } from '../../../lib/html.ts';
import { SANDBOX_PHONES } from '../../../lib/sandbox-providers.ts';
import type { Order } from '../order.ts';
import { type Context, type Fields, type ProtocolDeps, bodyOf, fromOwnPagesOnly, text } from '../protocol.ts';

const PAID = { state: 'PAID', failure: null } as const;
const CANCELLED = { state: 'DECLINED', failure: 'CANCELLED_BY_CUSTOMER' } as const;

const STYLE = markup(`<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 24rem; margin: 3rem auto; padding: 0 1rem; }
  .amount { font-size: 2rem; font-weight: 600; margin: 0; }
  button { font: inherit; padding: 0.6rem 1.2rem; border: 0; border-radius: 0.4rem; background: #0a6; color: #fff; }
  .quiet { background: #eee; color: #222; }
</style>`);

/** The page behind telebirr's pay link: what this phone will do, and two buttons that decide now. */
export function payPageRoutes({ orders, publicUrl }: ProtocolDeps, isSigned: (order: Fields) => boolean): Router {
  const routes = new Router();
  const find = (reference: string | undefined): Order | undefined =>
    orders.all().find((order) => order.direction === 'payment' && order.reference === reference);
  // On each route: a middleware of a nested router is also one of its parent's routes, which no browser calls.
  const own = fromOwnPagesOnly(publicUrl);

  routes.get('/payment/web/paygate', own, (ctx) => {
    const query = Object.fromEntries(new URLSearchParams(ctx.querystring));
    const { version: _version, trade_type: _tradeType, ...signed } = query;
    const order = isSigned(signed) ? find(query['prepay_id']) : undefined;
    if (order) return respondPage(ctx, contentOf(order));
    const content = html`<p>Its order or its signature is not known.</p>`;
    respondPage(ctx, content, { status: 400, title: 'This pay link is not valid' });
  });

  routes.post('/payment/web/:reference/decision', own, async (ctx) => {
    const order = find(ctx.params['reference']);
    if (!order) return respondPage(ctx, null, { status: 404, title: 'No such order' });
    const decision = text(bodyOf(ctx), 'decision') === 'pay' ? PAID : CANCELLED;
    if (order.state === 'WAITING') await orders.decide(order, { ...decision, atMs: orders.nowMs() });
    if (!order.returnUrl) return respondPage(ctx, contentOf(order));
    ctx.status = 303;
    ctx.set('Location', order.returnUrl);
  });

  return routes;
}

function contentOf(order: Order): Html {
  const outcome = SANDBOX_PHONES.find(({ behaviour }) => behaviour === order.behaviour)?.outcome ?? '';
  const choice =
    order.state === 'WAITING'
      ? html`<p>Without a decision here, the payment from ${order.phone}: ${outcome}.</p>
          <form method="post" action="./${order.reference}/decision">
            <button name="decision" value="pay">Pay now</button>
            <button name="decision" value="decline" class="quiet">Decline</button>
          </form>`
      : html`<p>This order is ${order.state.toLowerCase()}.</p>`;
  return html`<p class="amount">${order.amount} ${order.currency}</p>
    <p>${order.title}</p>
    ${choice}`;
}

function respondPage(ctx: Context, content: Html | null, { status = 200, title = 'telebirr sandbox' } = {}): void {
  ctx.status = status;
  ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
  ctx.body = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLE}
      </head>
      <body>
        <h1>${title}</h1>
        <p>TEST: no money moves.</p>
        ${content}
      </body>
    </html>`.text;
}
