import { html, markup, type Html } from '../../lib/html.ts';
import { MENU } from './checkout.ts';
import type { Behaviour, Delivery, Inbox, OrderState } from './inbox.ts';

const STYLE = markup(`<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
  form { display: inline; }
  button { font: inherit; padding: 0.3rem 0.8rem; margin: 0.2rem 0.2rem 0.2rem 0; }
  button[aria-pressed='true'] { background: #222; color: #fff; }
  table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
  th, td { text-align: left; padding: 0.2rem 0.6rem 0.2rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
</style>`);

const BEHAVIOUR_LABELS: Record<Behaviour, string> = { ok: 'Acknowledge', fail: 'Fail (500)', hang: 'Hang' };

const BACK = html`<p><a href="/">Back to the shop</a></p>`;

/** The shop: the menu, the behaviour towards webhooks, and the last deliveries. */
export function shopPage({ behaviour, deliveries }: Pick<Inbox, 'behaviour' | 'deliveries'>): string {
  const buttons = Object.entries(BEHAVIOUR_LABELS).map(
    ([mode, label]) =>
      html`<form method="post" action="/behaviour">
        <button name="mode" value="${mode}" aria-pressed="${String(mode === behaviour)}">${label}</button>
      </form>`,
  );
  const drinks = MENU.map(
    ({ id, name, birr }) =>
      html`<form method="post" action="/buy">
        <button name="item" value="${id}">${name}, ${birr.toFixed(2)} ETB</button>
      </form>`,
  );
  const body = html`<p>Buy something, pay it in the sandbox, and watch the webhooks come in.</p>
    <h2>Buy</h2>
    ${drinks}
    <h2>The shop's response to webhooks</h2>
    ${buttons}
    <p>Let it fail, buy, then let it acknowledge again: the retry comes 1 minute after the failure.</p>
    <h2>Last deliveries</h2>
    ${deliveries.length === 0 ? html`<p>None yet.</p>` : deliveryTable(deliveries)}`;
  return page('A demo shop', body, 5);
}

/** The page that the customer returns to. It displays only what webhooks have reported. */
export function returnPage(heading: string, orderNo: string, state: OrderState | undefined): string {
  const known = state
    ? html`<p>By the last webhook its payment is <strong>${state.status}</strong>.</p>`
    : html`<p>No webhook has reported this order yet, so the shop does not know whether it is paid.</p>`;
  const body = html`<p>Order <strong>${orderNo}</strong></p>
    ${known}
    <p>
      Redirects are not the truth: anybody can open this address, and a customer who closes the browser never does. The
      shop ships coffee only on a verified webhook.
    </p>
    ${BACK}`;
  return page(heading, body, state ? null : 2);
}

export function problemPage(problem: string): string {
  return page(
    'That did not work',
    html`<p>${problem}</p>
      ${BACK}`,
    null,
  );
}

function deliveryTable(deliveries: readonly Delivery[]): Html {
  const head = ['Received', 'Event', 'Order', 'Delivery', 'Signed', 'Verdict', 'Response'];
  const rows = deliveries.map(({ at, event, orderNo, number, signedAt, verdict, status }) => {
    const cells = [at.toISOString(), event, orderNo, number, signedAt, verdict, status ?? 'none'];
    return html`<tr>
      ${cells.map((cell) => html`<td>${cell}</td>`)}
    </tr>`;
  });
  return html`<table>
    <tr>
      ${head.map((name) => html`<th>${name}</th>`)}
    </tr>
    ${rows}
  </table>`;
}

function page(title: string, body: Html, refreshSeconds: number | null): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        ${refreshSeconds && html`<meta http-equiv="refresh" content="${refreshSeconds}" />`} ${STYLE}
      </head>
      <body>
        <h1>${title}</h1>
        ${body}
      </body>
    </html>`.text;
}
