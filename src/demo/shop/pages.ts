import { html, markup, type Html } from '../../lib/html.ts';
import { MENU, type Drink } from './checkout.ts';
import { BEHAVIOURS, type Delivery, type Inbox, type OrderState } from './inbox.ts';
import { DRAWINGS, STYLE } from './style.ts';
import { TEXTS, type Language, type ShopTexts } from './texts.ts';

const STYLE_SHEET = markup(`<style>${STYLE}</style>`);

/** The shop: the menu, the behaviour towards webhooks, and the last deliveries. */
export function shopPage({ behaviour, deliveries }: Pick<Inbox, 'behaviour' | 'deliveries'>, language: Language) {
  const texts = TEXTS[language];
  const modes = BEHAVIOURS.map(
    (mode) =>
      html`<button name="mode" value="${mode}" aria-pressed="${String(mode === behaviour)}">${texts[mode]}</button>`,
  );
  const body = html`<h1>${texts.shop}</h1>
    <p class="lead">${texts.lead}</p>
    <h2>${texts.menu}</h2>
    <ul class="menu">
      ${MENU.map((drink) => item(drink, texts))}
    </ul>
    <h2>${texts.behind}</h2>
    <div class="box">
      <h3>${texts.response}</h3>
      <form method="post" action="/behaviour" class="modes">${modes}</form>
      <p class="quiet">${texts.hint}</p>
      <h3>${texts.deliveries}</h3>
      <div data-live="/deliveries">${markup(deliveryList(deliveries, language))}</div>
    </div>`;
  return page({ language, title: texts.shop, body });
}

function item({ id, birr }: Drink, texts: ShopTexts): Html {
  const drawing = markup(
    `<svg viewBox="0 0 200 136" fill="none" stroke="currentColor" stroke-width="5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${DRAWINGS[id]}</svg>`,
  );
  return html`<li class="item">
    ${drawing}
    <div>
      <h3>${texts[id]}</h3>
      <p class="price">${birr.toFixed(2)} ${texts.birr}</p>
      <form method="post" action="/buy">
        <button name="item" value="${id}" aria-label="${texts.buy}: ${texts[id]}">${texts.buy}</button>
      </form>
    </div>
  </li>`;
}

/** The last deliveries, which the page fetches again and again. */
export function deliveryList(deliveries: readonly Delivery[], language: Language): string {
  const texts = TEXTS[language];
  const rows = deliveries.map(({ at, event, orderNo, number, signedAt, verdict, status }) => {
    const response = status === null ? texts.noResponse : texts.responded.replace('{status}', String(status));
    const delivery = texts.delivery.replace('{number}', String(number)).replace('{signedAt}', signedAt);
    return html`<li>
      <p><strong>${event}</strong> ${orderNo} → ${response}</p>
      <p>${verdict}</p>
      <p class="quiet">${at.toISOString()}, ${delivery}</p>
    </li>`;
  });
  return deliveries.length === 0
    ? html`<p>${texts.none}</p>`.text
    : html`<ul class="log">
        ${rows}
      </ul>`.text;
}

export type Return = 'thanks' | 'sorry' | 'cancelled';

/** The page that the customer returns to. It displays only what webhooks have reported. */
export function returnPage(kind: Return, { orderNo, state, language }: ReturnView): string {
  const texts = TEXTS[language];
  const body = html`<h1>${texts[kind]}</h1>
    <div class="box">
      <p>${texts.order} <strong>${orderNo}</strong></p>
      <div data-live="/order?checkoutOrderNo=${encodeURIComponent(orderNo)}">${markup(orderText(state, language))}</div>
      <p class="quiet">${texts.truth}</p>
      <a class="button" href="/">${texts.back}</a>
    </div>`;
  return page({ language, title: texts[kind], body, query: { checkoutOrderNo: orderNo } });
}

type ReturnView = { orderNo: string; state: OrderState | undefined; language: Language };

/** The payment of an order, as far as the shop has learned of it. */
export function orderText(state: OrderState | undefined, language: Language): string {
  const { known, unknown } = TEXTS[language];
  const [before = '', after = ''] = known.split('{status}');
  if (!state) return html`<p>${unknown}</p>`.text;
  return html`<p>${before}<strong>${state.status}</strong>${after}</p>`.text;
}

export function problemPage(problem: string, language: Language): string {
  const texts = TEXTS[language];
  const body = html`<h1>${texts.problem}</h1>
    <p>${problem}</p>
    <a class="button" href="/">${texts.back}</a>`;
  return page({ language, title: texts.problem, body, path: '/' });
}

type Page = { language: Language; title: string; body: Html; path?: string; query?: Record<string, string> };

/** `path`, its own unless given, and `query` are those of the link to the other language. */
function page({ language, title, body, path = '', query = {} }: Page): string {
  const [texts, other] = [TEXTS[language], language === 'en' ? 'am' : 'en'];
  const inOther = new URLSearchParams({ ...query, lang: other }).toString();
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <link rel="icon" href="data:," />
        <title>${title}</title>
        ${STYLE_SHEET}
        <script src="/shop.js" defer></script>
      </head>
      <body>
        <header>
          <a class="name" href="/">${texts.shop}</a>
          <a href="${path}?${inOther}" lang="${other}" hreflang="${other}">${texts.otherLanguage}</a>
        </header>
        <main>${body}</main>
      </body>
    </html>`.text;
}
