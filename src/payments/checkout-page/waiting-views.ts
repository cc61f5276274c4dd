import { html } from '../../lib/html.ts';
import { confirmUrl } from '../hooks.ts';
import { ATTEMPTS_MAX } from '../states.ts';
import {
  aboutPayer,
  buttonForm,
  channelName,
  checkButton,
  pagePath,
  problemText,
  summary,
  timeLeft,
  type SessionView,
  type View,
} from './parts.ts';
import { interpolate, textsOf } from './translations.ts';

/** While an attempt is in flight: where to confirm it, and the ways out. */
export function waitingPage(view: SessionView): View {
  const { session, language, channels } = view;
  const texts = textsOf(language);
  const confirmPage = confirmUrl(session);
  const step = confirmPage !== null ? 'redirect' : session.attemptStatus === 'CREATED' ? 'sending' : 'push';
  const channel = channelName(channels, session.attemptChannel);
  const title = interpolate(texts[`${step}Title`], { channel });
  const body = html`<h1 class="head"><span class="spinner"></span>${title}</h1>
    ${problemText(view)}
    <p data-say>${aboutPayer(view, texts[step])}</p>
    ${confirmPage === null ? null : html`<a class="button" href="${confirmPage}">${interpolate(texts.goOn, { channel })}</a>`}
    ${summary(view)}
    <p class="quiet">${timeLeft(view)} · ${texts.resultHere}</p>
    ${checkButton(view)}
    ${
      session.attemptsCount < ATTEMPTS_MAX
        ? buttonForm(session, 'change', html`<button class="second">${texts.change}</button>`)
        : null
    }
    <a class="leave" href="${pagePath(session)}/cancel">${texts.cancel}</a>`;
  return { title, body, follows: true };
}

/** The question before a payment is cancelled. */
export function cancelPage(view: SessionView): View {
  const { session, language } = view;
  const texts = textsOf(language);
  const body = html`<h1>${texts.cancelTitle}</h1>
    ${problemText(view)} ${summary(view)}
    <p>${texts.cancelQuestion}</p>
    ${session.status === 'PROCESSING' ? html`<p class="note">${texts.cancelConfirmed}</p>` : null}
    <a class="button" href="${pagePath(session)}">${texts.noCancel}</a>
    ${buttonForm(session, 'cancel', html`<button class="second">${texts.yesCancel}</button>`)}`;
  return { title: texts.cancelTitle, body, follows: true };
}
