import { html, markup, type Html } from '../../lib/html.ts';
import { MENU, type Drink } from './checkout.ts';
import type { Behaviour, Delivery, OrderState } from './inbox.ts';

const STYLE = markup(`<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
  form { display: inline; }
  button { font: inherit; padding: 0.3rem 0.8rem; margin: 0.2rem 0.2rem 0.2rem 0; }
  button[aria-pressed='true'] { background: #222; color: #fff; }
  table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
  th, td { text-align: left; padding: 0.2rem 0.6rem 0.2rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
</style>`);

const BUTTONS: readonly { mode: Behaviour; label: string }[] = [
  { mode: 'ok', label: 'Acknowledge' },
  { mode: 'fail', label: 'Fail (500)' },
  { mode: 'hang', label: 'Hang' },
];

/** The shop: the menu, the behaviour towards webhooks, and the last deliveries. */
export function shopPage({ behaviour, deliveries }: { behaviour: Behaviour; deliveries: readonly Delivery[] }): string {
  return page(
    'A demo shop',
    html`<p>Buy something, pay it in the sandbox, and watch the webhooks come in.</p>
      <h2>Buy</h2>
      ${MENU.map(buyButton)}
      <h2>The shop's response to webhooks</h2>
      ${BUTTONS.map(
        ({ mode, label }) =>
          html`<form method="post" action="/behaviour">
            <button name="mode" value="${mode}" aria-pressed="${String(mode === behaviour)}">${label}</button>
          </form>`,
      )}
      <p>Let it fail, buy, then let it acknowledge again: the retry comes 1 minute after the failure.</p>
      <h2>Last deliveries</h2>
      ${deliveryTable(deliveries)}`,
    5,
  );
}

/** The page that the customer returns to. It displays only what webhooks have reported. */
export function returnPage(heading: string, orderNo: string, state: OrderState | undefined): string {
  const known =
    state === undefined
      ? html`<p>No webhook has reported this order yet, so the shop does not know whether it is paid.</p>`
      : html`<p>By the last webhook its payment is <strong>${state.status}</strong>.</p>`;
  return page(
    heading,
    html`<p>Order <strong>${orderNo}</strong></p>
      ${known}
      <p>
        Redirects are not the truth: anybody can open this address, and a customer who closes the browser never does.
        The shop ships coffee only on a verified webhook.
      </p>
      <p><a href="/">Back to the shop</a></p>`,
    state === undefined ? 2 : null,
  );
}

export function problemPage(problem: string): string {
  return page(
    'That did not work',
    html`<p>${problem}</p>
      <p><a href="/">Back to the shop</a></p>`,
    null,
  );
}

function buyButton({ id, name, birr }: Drink): Html {
  return html`<form method="post" action="/buy">
    <button name="item" value="${id}">${name}, ${birr.toFixed(2)} ETB</button>
  </form>`;
}

function deliveryTable(deliveries: readonly Delivery[]): Html {
  if (deliveries.length === 0) return html`<p>None yet.</p>`;
  const rows = deliveries.map((one) => {
    const cells = [one.at.toISOString(), one.event, one.orderNo, one.number, one.signedAt, one.verdict];
    return html`<tr>
      ${[...cells, one.status ?? 'none'].map((cell) => html`<td>${cell}</td>`)}
    </tr>`;
  });
  const head = ['Received', 'Event', 'Order', 'Delivery', 'Signed', 'Verdict', 'Response'];
  return html`<table>
    <thead>
      <tr>
        ${head.map((name) => html`<th>${name}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function page(title: string, body: Html, refreshSeconds: number | null): string {
  const refresh = refreshSeconds === null ? null : html`<meta http-equiv="refresh" content="${refreshSeconds}" />`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${refresh} ${STYLE}
      </head>
      <body>
        <h1>${title}</h1>
        ${body}
      </body>
    </html>`.text;
}
