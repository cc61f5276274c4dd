import { sha256 } from '../../lib/crypto.ts';
import { inAddis } from '../../lib/dates.ts';
import { html, markup, type Html } from '../../lib/html.ts';
import { formatBirr } from '../../lib/money.ts';
import { SANDBOX_PHONES } from '../../lib/sandbox-providers.ts';
import { amountLimitError } from '../../merchants/channels/limits.ts';
import type { MerchantChannel } from '../../merchants/channels/queries.ts';
import { confirmUrl } from '../hooks.ts';
import { returnUrl, type Session } from '../session.ts';
import { isHeld } from '../states.ts';
import { interpolate, TEXTS, type Language, type TextName } from './translations.ts';

const STYLE = `
:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{margin:0;background:#f3f4f6;color:#111827}
main{max-width:26rem;margin:0 auto;padding:1.5rem 1rem}
.card{background:#fff;border-radius:.75rem;padding:1.25rem;box-shadow:0 1px 3px #0003}
.ribbon{background:#92400e;color:#fff;text-align:center;padding:.4rem;font-weight:600}
.amount{font-size:2rem;font-weight:700;margin:.25rem 0}
.quiet{color:#4b5563;font-size:.9rem}
.alert{background:#fef2f2;color:#991b1b;border-radius:.5rem;padding:.75rem}
fieldset{border:0;padding:0;margin:1rem 0}
legend,.label{font-weight:600;padding:0}
.choice{display:flex;gap:.6rem;align-items:center;border:1px solid #9ca3af;border-radius:.5rem;padding:.7rem;margin:.5rem 0}
.choice.off{color:#6b7280;border-style:dashed}
input[type=tel]{width:100%;box-sizing:border-box;font:inherit;padding:.7rem;border:1px solid #6b7280;border-radius:.5rem}
button,.button{display:block;width:100%;box-sizing:border-box;text-align:center;font:inherit;font-weight:600;padding:.8rem;margin-top:1rem;border:0;border-radius:.5rem;background:#065f46;color:#fff;text-decoration:none;cursor:pointer}
button.plain{background:none;color:#374151;text-decoration:underline;font-weight:400}
table{width:100%;font-size:.85rem;border-collapse:collapse}td{padding:.2rem .4rem .2rem 0;vertical-align:top}
.qr{max-width:12rem;margin:1rem auto 0}
a{color:#065f46}
@media (prefers-color-scheme:dark){body{background:#111827;color:#f3f4f6}.card{background:#1f2937}.quiet{color:#d1d5db}button.plain{color:#e5e7eb}.choice.off{color:#9ca3af}a{color:#6ee7b7}a.button{color:#fff}.alert{background:#7f1d1d;color:#fee2e2}.qr{background:#fff;padding:.5rem}}
`;

/** No script, no foreign resources, no framing; the one style sheet is allowed by its hash. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${sha256(STYLE).toString('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

type PageFrame = {
  language: Language;
  title: string;
  body: Html;
  /** Whether the ribbon about test payments is shown. */
  test?: boolean;
  /** When the page reloads. */
  refreshSeconds?: number;
  /** The address of the same page in the other language. */
  otherLanguageHref?: string;
};

/** A whole page as text. */
function renderPage(frame: PageFrame): string {
  const texts = TEXTS[frame.language];
  const other = frame.language === 'en' ? 'am' : 'en';
  const page = html`<!doctype html>
    <html lang="${frame.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${frame.refreshSeconds === undefined ? null : html`<meta http-equiv="refresh" content="${frame.refreshSeconds}" />`}
        <title>${frame.title}</title>
        ${markup(`<style>${STYLE}</style>`)}
      </head>
      <body>
        ${frame.test ? html`<div class="ribbon">${texts.testRibbon}</div>` : null}
        <main>
          <div class="card">
            <h1>${frame.title}</h1>
            ${frame.body}
          </div>
          ${
            frame.otherLanguageHref === undefined
              ? null
              : html`<p class="quiet">
                  <a href="${frame.otherLanguageHref}" lang="${other}">${texts.otherLanguage}</a>
                </p>`
          }
        </main>
      </body>
    </html>`;
  return page.text;
}

const REFRESH_SECONDS = 3;

/** The data of a session's page. `channels`, `qr` and the typed input matter only while it can be paid. */
export type SessionView = {
  session: Session;
  language: Language;
  channels: MerchantChannel[];
  /** The page's address as an image, for sessions of type QRCODE. */
  qr: Html | null;
  /** Why the form was rejected, and its input. */
  problem?: { text: TextName; phone: string; channel: string };
};

/** The page for a session's current status: to pay, to wait, or one for each end. A pending payment is never shown failed. */
export function renderSession(view: SessionView): string {
  const { session, language } = view;
  return renderPage({
    language,
    test: session.environment === 'sandbox',
    otherLanguageHref: `/checkout/${session.id}?lang=${language === 'en' ? 'am' : 'en'}`,
    ...pageOf(view),
  });
}

function pageOf(view: SessionView): Pick<PageFrame, 'title' | 'body' | 'refreshSeconds'> {
  const { session, language } = view;
  const texts = TEXTS[language];
  if (!isHeld(session) && session.status === 'OPEN') {
    return { title: interpolate(texts.payTo, { merchant: session.merchantName }), body: payForm(view) };
  }
  if (!isHeld(session) && session.status === 'PROCESSING') {
    return { title: texts.waitingTitle, body: waiting(view), refreshSeconds: REFRESH_SECONDS };
  }
  const end = isHeld(session)
    ? 'held'
    : (session.status.toLowerCase() as 'completed' | 'failed' | 'cancelled' | 'expired');
  const back = returnUrl(session);
  const body = html`${summary(view)}
    <p role="status">${texts[end]}</p>
    ${back === null ? null : html`<a class="button" href="${back}">${texts.backToShop}</a>`}`;
  return { title: texts[`${end}Title`], body, ...(end === 'held' && { refreshSeconds: REFRESH_SECONDS * 10 }) };
}

export type Notice = 'invalid' | 'foreign' | 'busy' | 'suspended';

/** A page without facts of any session. */
export function renderNotice(language: Language, notice: Notice): string {
  const texts = TEXTS[language];
  return renderPage({ language, title: texts[`${notice}Title`], body: html`<p>${texts[notice]}</p>` });
}

function summary({ session, language }: SessionView): Html {
  return html`<p class="quiet">${session.merchantName}</p>
    <p class="amount">${formatAmount(session)}</p>
    <p class="quiet">${TEXTS[language].order} ${session.checkoutOrderNo}</p>`;
}

function payForm(view: SessionView): Html {
  const { session, language } = view;
  const texts = TEXTS[language];
  const listed = view.channels.filter((one) => isListed(one, session));
  const payable = listed.filter((one) => one.usable);
  const chosen = view.problem?.channel ?? session.attemptChannel ?? payable[0]?.channel;
  const action = (verb: string) => `/checkout/${session.id}/${verb}?lang=${language}`;
  return html`${summary(view)} ${alert(view)}
    <form method="post" action="${action('pay')}">
      <fieldset>
        <legend>${texts.howToPay}</legend>
        ${payable.length === 0 ? html`<p>${texts.noChannel}</p>` : null}
        ${listed.map((one) => choice(one, one.channel === chosen, language))}
      </fieldset>
      <label class="label" for="phone">${texts.phone}</label>
      <input
        type="tel"
        id="phone"
        name="phone"
        autocomplete="tel"
        required
        maxlength="30"
        placeholder="${texts.phoneHint}"
        value="${view.problem?.phone ?? ''}"
      />
      <button ${payable.length === 0 ? html`disabled` : null}>${texts.pay} ${formatAmount(session)}</button>
    </form>
    <form method="post" action="${action('cancel')}"><button class="plain">${texts.cancel}</button></form>
    <p class="quiet">
      ${interpolate(texts.payBefore, { time: inAddis(session.expiresAt).toISOString().slice(11, 16) })}
    </p>
    ${
      view.qr
        ? html`<div class="qr">${view.qr}</div>
            <p class="quiet">${texts.scan}</p>`
        : null
    }
    ${session.environment === 'sandbox' ? testNumbers(language) : null}`;
}

/** Usable channels are listed; disabled those that return after maintenance or an outage, and announced ones. */
function isListed(one: MerchantChannel, session: Session): boolean {
  const { channel, platformState, payIn } = one;
  if (platformState === 'COMING_SOON') return true;
  if (!(one.usable || one.usableLater) || !session.channels.includes(channel)) return false;
  return !amountLimitError(channel, payIn, session.amountSantim);
}

function choice(one: MerchantChannel, checked: boolean, language: Language): Html {
  const { channel, displayName, usable } = one;
  const state = usable ? html`required ${checked ? html`checked` : null}` : html`disabled`;
  return html`<label class="choice${usable ? null : html` off`}">
    <input type="radio" name="channel" value="${channel}" ${state} /> ${displayName}
    ${usable ? null : `(${whyOff(one, language)})`}
  </label>`;
}

function whyOff({ reason, openMaintenance }: MerchantChannel, language: Language): string {
  const { comingSoon, maintenance, notNow } = TEXTS[language];
  if (reason === 'UNAVAILABLE') return notNow;
  if (reason !== 'MAINTENANCE' || !openMaintenance) return comingSoon;
  const time = inAddis(new Date(openMaintenance.endsAt)).toISOString().slice(0, 16).replace('T', ' ');
  return interpolate(maintenance, { time });
}

function alert({ session, language, problem }: SessionView): Html | null {
  const texts = TEXTS[language];
  if (problem) return html`<p class="alert" role="alert">${texts[problem.text]}</p>`;
  if (session.attemptStatus !== 'DECLINED' || !session.attemptFailure) return null;
  const reason = interpolate(texts.lastTryFailed, { reason: texts[session.attemptFailure.code] });
  return html`<p class="alert" role="alert">${reason} ${texts.tryAgain}</p>`;
}

function testNumbers(language: Language): Html {
  const row = (one: (typeof SANDBOX_PHONES)[number]) =>
    html`<tr>
      <td>${one.phone}</td>
      <td lang="en">${one.outcome}</td>
    </tr>`;
  return html`<h2 class="label">${TEXTS[language].testNumbers}</h2>
    <table>
      ${SANDBOX_PHONES.map(row)}
    </table>`;
}

function waiting(view: SessionView): Html {
  const { session, language } = view;
  const texts = TEXTS[language];
  const confirmPage = confirmUrl(session);
  const channel = view.channels.find((one) => one.channel === session.attemptChannel)?.displayName ?? '';
  return html`${summary(view)}
    <p role="status">${texts.waiting}</p>
    <p>${texts.safeToClose}</p>
    ${confirmPage === null ? null : html`<a class="button" href="${confirmPage}">${interpolate(texts.confirmThere, { channel })}</a>`}
    <p><a href="/checkout/${session.id}?lang=${language}">${texts.lookAgain}</a></p>
    <form method="post" action="/checkout/${session.id}/cancel?lang=${language}">
      <button class="plain">${texts.cancel}</button>
    </form>`;
}

/** "100,000.00 ETB" */
function formatAmount({ amountSantim, currency }: Session): string {
  return `${formatBirr(amountSantim).replace(/\B(?=(\d{3})+\.)/g, ',')} ${currency}`;
}
