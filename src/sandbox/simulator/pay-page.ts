import { createPublicKey } from 'node:crypto';

import Router from '@koa/router';

import { html, type Html } from '../../lib/html.ts';
import { verifyTelebirr } from '../../lib/provider-signing.ts';
import { SANDBOX_PHONES, SANDBOX_TELEBIRR } from '../../lib/sandbox-providers.ts';
import { fromOwnPagesOnly } from './browsers.ts';
import type { Order } from './order.ts';
import { declined, paid } from './payment-lifecycle.ts';
import { bodyOf, text, type Context, type ProtocolDeps } from './protocol.ts';

const merchantKey = {
  key: createPublicKey(SANDBOX_TELEBIRR.merchantPublicKey),
  scheme: SANDBOX_TELEBIRR.signatureScheme,
};

/** The page behind telebirr's pay link: what this phone will do, and two buttons that decide now. */
export function payPageRoutes({ payments, clock, publicUrl }: ProtocolDeps): Router {
  const routes = new Router();
  const findByReference = (reference = ''): Order | null =>
    payments.all().find((order) => order.reference === reference) ?? null;
  routes.use(fromOwnPagesOnly(publicUrl));

  routes.get('/payment/web/paygate', (ctx) => {
    const query = Object.fromEntries(new URLSearchParams(ctx.querystring));
    const { version: _version, trade_type: _tradeType, ...signed } = query;
    const order = verifyTelebirr(signed, merchantKey) ? findByReference(query['prepay_id']) : null;
    if (!order)
      return showPage(ctx, {
        status: 400,
        title: 'This pay link is not valid',
        content: html`<p>Its order or its signature is not known.</p>`,
      });
    showPage(ctx, { content: orderHtml(order) });
  });

  routes.post('/payment/web/:reference/decision', (ctx) => {
    const order = findByReference(ctx.params['reference']);
    if (!order) return showPage(ctx, { status: 404, title: 'No such order' });
    const now = clock.nowMs();
    const isPaid = text(bodyOf(ctx), 'decision') === 'pay';
    if (order.state === 'WAITING')
      payments.decide(order, isPaid ? paid(order, now) : declined(now, 'CANCELLED_BY_CUSTOMER'));
    if (order.returnUrl) {
      ctx.status = 303;
      ctx.set('Location', order.returnUrl);
    } else showPage(ctx, { content: orderHtml(order) });
  });

  return routes;
}

function orderHtml(order: Order): Html {
  const outcome = SANDBOX_PHONES.find(({ behaviour }) => behaviour === order.behaviour)?.outcome ?? '';
  const what = html`<p class="amount">${order.amount} ${order.currency}</p>
    <p>${order.title}</p>`;
  if (order.state !== 'WAITING')
    return html`${what}
      <p>This order is ${order.state.toLowerCase()}.</p>`;
  return html`${what}
    <p>What becomes of a payment from ${order.phone} left alone: ${outcome}.</p>
    <form method="post" action="./${order.reference}/decision">
      <button name="decision" value="pay">Pay now</button>
      <button name="decision" value="decline" class="quiet">Decline</button>
    </form>`;
}

type Page = { status?: number; title?: string; content?: Html | null };

function showPage(ctx: Context, { status = 200, title = 'telebirr sandbox', content = null }: Page): void {
  ctx.status = status;
  ctx.type = 'text/html';
  ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
  ctx.body = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          body {
            font:
              16px/1.5 system-ui,
              sans-serif;
            max-width: 24rem;
            margin: 3rem auto;
            padding: 0 1rem;
          }
          .amount {
            font-size: 2rem;
            font-weight: 600;
            margin: 0;
          }
          button {
            font: inherit;
            padding: 0.6rem 1.2rem;
            border: 0;
            border-radius: 0.4rem;
            background: #0a6;
            color: #fff;
          }
          .quiet {
            background: #eee;
            color: #222;
          }
        </style>
      </head>
      <body>
        <h1>${title}</h1>
        <p>TEST: no money moves.</p>
        ${content}
      </body>
    </html>`.text;
}
