import { html, type Html } from '../../lib/html.ts';
import { returnUrl } from '../session.ts';
import {
  channelName,
  checkButton,
  formatAmount,
  logo,
  maskedPhone,
  summary,
  type SessionView,
  type View,
} from './parts.ts';
import { formatInstant, textsOf } from './translations.ts';

/** Money came that does not pay the session: an operator decides. */
export function heldPage(view: SessionView): View {
  const { session, language } = view;
  const texts = textsOf(language);
  const body = html`<h1>${texts.heldTitle}</h1>
    <p data-say>${session.holdReason && texts[session.holdReason]} <strong>${texts.held}</strong></p>
    ${summary(view)}
    <dl>${fact(texts.reference, session.providerReference ?? session.transactionId)}</dl>`;
  return { title: texts.heldTitle, body, follows: true };
}

/**
 * The end without money, as far as is known: an attempt without a definite decline may have been confirmed, which the
 * customer can have checked. The page also follows a declined one, should the provider report it paid after all.
 */
export function outcomePage(view: SessionView): View {
  const { session, language } = view;
  const texts = textsOf(language);
  const end = session.status.toLowerCase() as 'failed' | 'cancelled' | 'expired';
  const wasSent = session.attemptsCount > 0;
  const reason = end === 'failed' && session.attemptFailure ? texts[session.attemptFailure.code] : null;
  const title = texts[`${end}Title`];
  const body = html`<h1>${title}</h1>
    <p data-say>${reason} ${texts[end]}</p>
    ${session.mayBePaid ? html`<p class="note" data-say>${texts.perhapsPaid}</p>` : null} ${summary(view)}
    ${backButton(view)} ${session.mayBePaid ? checkButton(view) : null}`;
  return { title, body, follows: wasSent };
}

/** The receipt, from which the script leads back to the shop unless it is stopped. */
export function receiptPage(view: SessionView): View {
  const { session, language, channels, business } = view;
  const texts = textsOf(language);
  const { paidTwice, attemptStatus, attemptPhone, providerReference, completedAt } = session;
  const back = returnUrl(session);
  const shop = html`${logo(view)} ${business?.legalName ?? session.merchantName}`;
  const body = html`<p class="tick" aria-hidden="true">✓</p>
    <h1>${texts.completedTitle}</h1>
    <p data-say>${texts.completed}</p>
    ${paidTwice ? html`<p class="note" data-say>${texts.paidTwice}</p>` : null}
    <dl>
      ${fact(texts.amount, formatAmount(session, language))} ${fact(texts.paidTo, shop)}
      ${fact(texts.order, session.checkoutOrderNo)} ${fact(texts.paidWith, channelName(channels, session.paidChannel))}
      ${attemptStatus === 'SUCCEEDED' && attemptPhone ? fact(texts.paidFrom, maskedPhone(attemptPhone, language)) : null}
      ${providerReference && fact(texts.reference, providerReference)}
      ${completedAt && fact(texts.date, formatInstant(language, completedAt))}
    </dl>
    ${backButton(view)}
    ${
      back &&
      html`<div data-return="${texts.returning}" data-href="${back}" hidden>
        <p></p>
        <button type="button" class="second">${texts.stay}</button>
      </div>`
    }
    <button type="button" class="second" data-print hidden>${texts.print}</button>`;
  return { title: texts.completedTitle, body, follows: false };
}

function fact(name: string, value: string | Html): Html {
  return html`<dt>${name}</dt>
    <dd>${value}</dd>`;
}

function backButton({ session, language }: SessionView): Html | null {
  const back = returnUrl(session);
  return back === null ? null : html`<a class="button" href="${back}">${textsOf(language).backToShop}</a>`;
}
