import type { Language } from '../../http/language.ts';
import { html, markup, type Html } from '../../lib/html.ts';
import { maskDigits } from '../../lib/mask.ts';
import { formatBirr } from '../../lib/money.ts';
import type { MerchantChannel } from '../../merchants/channels/queries.ts';
import type { Business } from '../../merchants/kyc/queries.ts';
import { pageState } from '../session-state.ts';
import type { Session } from '../session.ts';
import { formatSpan, interpolate, textsOf, type TextName } from './translations.ts';

/** A text about a form or a button that did not do what it was to. */
export type Problem = { text: TextName; field?: 'phone' | 'channel' };

/** The data of a session's page. `channels`, `qr` and the typed input matter only while it can be paid. */
export type SessionView = {
  session: Session;
  language: Language;
  now: Date;
  channels: MerchantChannel[];
  /** The merchant's verified business; null before its verification. */
  business: Business | null;
  /** The page's address as an image. */
  qr: Html | null;
  problem?: Problem;
  /** The rejected form's input. */
  typed?: { phone: string; channel: string };
  /** Whether the customer has pressed cancel and is to confirm it. */
  cancelling?: boolean;
};

/** One view of a page: its heading, `main`, and whether it follows the session's state. */
export type View = { title: string; body: Html; follows: boolean };

/** The page's path, below which its forms post. */
export const pagePath = ({ id }: Session): string => `/checkout/${id}`;

/** A form of one button. */
export function buttonForm(session: Session, verb: string, button: Html): Html {
  return html`<form method="post" action="${pagePath(session)}/${verb}">${button}</form>`;
}

/** Queries the provider now. */
export function checkButton({ session, language }: SessionView): Html {
  return buttonForm(session, 'check', html`<button class="second">${textsOf(language).check}</button>`);
}

/** Merchant, amount and order: once on each page. */
export function summary(view: SessionView): Html {
  return html`<div class="sum">
    <p class="shop">${logo(view)}<span>${view.session.merchantName}</span></p>
    ${amount(view)}
  </div>`;
}

/** The amount, and the order's number with what else is known of it. */
export function amount({ session, language }: SessionView, more: Html | null = null): Html {
  return html`<p class="amount">${formatAmount(session, language)}</p>
    <p class="quiet">${textsOf(language).order} ${session.checkoutOrderNo}${more}</p>`;
}

/** The merchant's logo once its verification included one; its name stands beside it. */
export function logo({ session, business }: SessionView): Html | null {
  return business?.logoId ? html`<img src="${pagePath(session)}/logo" alt="" width="40" height="40" />` : null;
}

/** The minutes left by the server's clock, which the script counts down. */
export function timeLeft({ session, language, now }: SessionView): Html {
  const { payWithin, minutes, hours } = textsOf(language);
  const pattern = (unit: string) => interpolate(payWithin, { span: interpolate(unit, { count: '#' }) });
  const span = formatSpan(language, pageState(session, now).secondsLeft);
  return html`<span data-minutes="${pattern(minutes)}" data-hours="${pattern(hours)}"
    >${interpolate(payWithin, { span })}</span
  >`;
}

/** A text that did not succeed, as an error of the page. */
export function problemText({ problem, language, channels, session }: SessionView): Html | null {
  if (!problem) return null;
  const text = interpolate(textsOf(language)[problem.text], { channel: channelName(channels, session.attemptChannel) });
  return html`<p class="bad">${text}</p>`;
}

export function channelName(channels: MerchantChannel[], channel: string | null): string {
  return channels.find((one) => one.channel === channel)?.displayName ?? '';
}

/** A text with `{phone}` and `{channel}` filled in; of the phone only the last four digits are read out. */
export function aboutPayer({ session, channels, language }: SessionView, text: string): Html {
  const [before = '', after = ''] = interpolate(text, {
    phone: '\n',
    channel: channelName(channels, session.attemptChannel),
  }).split('\n');
  return html`${before}${maskedPhone(session.attemptPhone ?? '', language)}${after}`;
}

/** 09•• •••• 0001 to the eye, "the number ending in 0001" to a screen reader. */
export function maskedPhone(phone: string, language: Language): Html {
  const digits = phone.slice(-4);
  const seen = maskDigits(phone.replace(/^251/, '0')).replaceAll('*', '•');
  const spoken = interpolate(textsOf(language).endingIn, { digits });
  return html`<span aria-hidden="true" translate="no">${seen}</span><span class="unseen">${spoken}</span>`;
}

/** "100,000.00 ETB" */
export function formatAmount(
  { amountSantim, receivedSantim }: Pick<Session, 'amountSantim' | 'receivedSantim'>,
  language: Language,
): string {
  const birr = formatBirr(receivedSantim ?? amountSantim).replace(/\B(?=(\d{3})+\.)/g, ',');
  return `${birr} ${textsOf(language).birr}`;
}

/** The image of the QR code, with a name. */
export function named(svg: string, name: string): Html {
  return html`${markup('<svg role="img" aria-label="')}${name}${markup(`"${svg.slice('<svg'.length)}`)}`;
}
