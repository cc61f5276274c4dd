import { inAddis } from '../../lib/dates.ts';
import { html, type Html } from '../../lib/html.ts';
import { formatBirr } from '../../lib/money.ts';
import { SANDBOX_PHONES } from '../../lib/sandbox-providers.ts';
import { amountLimitError } from '../../merchants/channels/limits.ts';
import type { MerchantChannel } from '../../merchants/channels/queries.ts';
import { confirmUrl } from '../hooks.ts';
import { returnUrl, type Session } from '../session.ts';
import { isHeld } from '../states.ts';
import { renderPage, type PageFrame } from './page-layout.ts';
import { interpolate, TEXTS, type Language, type TextName } from './translations.ts';

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
  const { session } = view;
  const texts = TEXTS[view.language];
  if (isHeld(session)) return { ...endPage(view, 'held'), refreshSeconds: REFRESH_SECONDS * 10 };
  if (session.status === 'OPEN') {
    return { title: interpolate(texts.payTo, { merchant: session.merchantName }), body: payForm(view) };
  }
  if (session.status === 'PROCESSING') {
    return { title: texts.waitingTitle, body: waiting(view), refreshSeconds: REFRESH_SECONDS };
  }
  return endPage(view, session.status.toLowerCase() as Lowercase<typeof session.status>);
}

export type Notice = 'invalid' | 'foreign' | 'busy' | 'suspended';

/** A page without facts of any session. */
export function renderNotice(language: Language, notice: Notice): string {
  const texts = TEXTS[language];
  const title = texts[`${notice}Title`];
  return renderPage({
    language,
    title,
    body: html`<h1>${title}</h1>
      <p>${texts[notice]}</p>`,
  });
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
  return html`<h1>${interpolate(texts.payTo, { merchant: session.merchantName })}</h1>
    ${summary(view)} ${alert(view)}
    <form method="post" action="${action('pay')}">
      <fieldset>
        <legend>${texts.howToPay}</legend>
        ${payable.length === 0 ? html`<p>${texts.noChannel}</p>` : null}
        ${listed.map((one) => choice(one, one.channel === chosen, texts.comingSoon))}
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

/** Only usable channels and announced ones are listed. */
function isListed(channel: MerchantChannel, session: Session): boolean {
  if (channel.platformState === 'COMING_SOON') return true;
  return (
    channel.usable &&
    session.channels.includes(channel.channel) &&
    !amountLimitError(channel.channel, channel.payIn, session.amountSantim)
  );
}

function choice({ channel, displayName, usable }: MerchantChannel, checked: boolean, comingSoon: string): Html {
  const state = usable ? html`required ${checked ? html`checked` : null}` : html`disabled`;
  return html`<label class="choice${usable ? null : html` off`}">
    <input type="radio" name="channel" value="${channel}" ${state} /> ${displayName}
    ${usable ? null : `(${comingSoon})`}
  </label>`;
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
  return html`<h1>${texts.waitingTitle}</h1>
    ${summary(view)}
    <p role="status">${texts.waiting}</p>
    <p>${texts.safeToClose}</p>
    ${confirmPage === null ? null : html`<a class="button" href="${confirmPage}">${interpolate(texts.confirmThere, { channel })}</a>`}
    <p><a href="/checkout/${session.id}?lang=${language}">${texts.lookAgain}</a></p>
    <form method="post" action="/checkout/${session.id}/cancel?lang=${language}">
      <button class="plain">${texts.cancel}</button>
    </form>`;
}

function endPage(view: SessionView, end: 'completed' | 'failed' | 'cancelled' | 'expired' | 'held') {
  const texts = TEXTS[view.language];
  const title = texts[`${end}Title`];
  const back = returnUrl(view.session);
  const body = html`<h1>${title}</h1>
    ${summary(view)}
    <p role="status">${texts[end]}</p>
    ${back === null ? null : html`<a class="button" href="${back}">${texts.backToShop}</a>`}`;
  return { title, body };
}

/** "100,000.00 ETB" */
function formatAmount({ amountSantim, currency }: Session): string {
  return `${formatBirr(amountSantim).replace(/\B(?=(\d{3})+\.)/g, ',')} ${currency}`;
}
