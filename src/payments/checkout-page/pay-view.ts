import type { Language } from '../../http/language.ts';
import { html, type Html } from '../../lib/html.ts';
import { normalisePhone } from '../../lib/phone.ts';
import { SANDBOX_PHONES } from '../../lib/sandbox-providers.ts';
import { amountLimitError } from '../../merchants/channels/limits.ts';
import type { MerchantChannel } from '../../merchants/channels/queries.ts';
import type { Session } from '../session.ts';
import { aboutPayer, amount, logo, pagePath, timeLeft, type SessionView, type View } from './parts.ts';
import { formatSpan, interpolate, textsOf, type TextName } from './translations.ts';

/** The form to pay: ways of paying, phone, and the page's address for another phone. */
export function payPage(view: SessionView): View {
  const { session, language, problem, qr } = view;
  const texts = textsOf(language);
  const heading = interpolate(texts.payTo, { merchant: session.merchantName });
  const form = html`<div>
    ${latestTry(view)}
    <form method="post" action="${pagePath(session)}/pay">${choices(view)} ${phoneField(view)} ${payButton(view)}</form>
    <a class="leave" href="${pagePath(session)}/cancel">${texts.cancel}</a>
    ${session.environment === 'sandbox' ? testNumbers(language, problem?.text) : null}
  </div>`;
  // On the phone itself it is of no use, except beside a till.
  const code =
    qr &&
    html`<div class="qr${session.type === 'QRCODE' ? null : html` wide`}">
      ${qr}
      <p>${texts.scan}</p>
    </div>`;
  const body = html`<h1 class="shop">${logo(view)}<span>${heading}</span></h1>
    ${amount(view, html` · ${timeLeft(view)}`)}
    <div class="columns">${form} ${code}</div>`;
  return { title: problem ? interpolate(texts.errorTitle, { title: heading }) : heading, body, follows: true };
}

/** While every channel is under maintenance or out of order, a link to load the page again: it is not refreshed by itself. */
function payButton(view: SessionView): Html {
  const texts = textsOf(view.language);
  if (payableOf(view).length > 0) return html`<button>${texts.pay}</button>`;
  if (returnsLater(view)) return html`<a class="button" href="${pagePath(view.session)}">${texts.lookAgain}</a>`;
  return html`<button disabled>${texts.pay}</button>`;
}

/** What became of the attempt before. */
function latestTry(view: SessionView): Html | null {
  const { session, language, problem } = view;
  const texts = textsOf(language);
  if (problem) return null;
  if (session.attemptStatus === 'ABANDONED') {
    return html`<p class="note" data-say>${aboutPayer(view, texts.takenBack)}</p>`;
  }
  if (session.attemptStatus !== 'DECLINED' || !session.attemptFailure) return null;
  const reason = interpolate(texts.lastTryFailed, { reason: texts[session.attemptFailure.code] });
  return html`<p class="bad" data-say>${reason} ${texts.tryAgain}</p>`;
}

/** Usable channels are listed; disabled those that return after maintenance or an outage, and announced ones. */
function isListed(one: MerchantChannel, session: Session): boolean {
  const { channel, platformState, payIn } = one;
  if (platformState === 'COMING_SOON') return true;
  if (!(one.usable || one.usableLater) || !session.channels.includes(channel)) return false;
  return !amountLimitError(channel, payIn, session.amountSantim);
}

function payableOf({ channels, session }: SessionView): MerchantChannel[] {
  return channels.filter((one) => one.usable && isListed(one, session));
}

const returnsLater = ({ channels, session }: SessionView): boolean =>
  channels.some((one) => one.usableLater && isListed(one, session));

function choices(view: SessionView): Html {
  const { session, language, channels, problem } = view;
  const texts = textsOf(language);
  const payable = payableOf(view);
  // After a decline another channel is the better guess; a phone that was mistyped is not the channel's fault.
  const other = session.attemptStatus === 'DECLINED' && payable.find((one) => one.channel !== session.attemptChannel);
  const chosen = view.typed?.channel ?? (other || null)?.channel ?? session.attemptChannel ?? payable[0]?.channel;
  const isWrong = problem?.field === 'channel';
  const error = isWrong ? html`aria-invalid="true" aria-describedby="channel-error"` : null;
  return html`<fieldset role="radiogroup" ${error}>
    <legend>${texts.howToPay}</legend>
    ${isWrong ? html`<p class="error" id="channel-error">${texts[problem.text]}</p>` : null}
    ${payable.length === 0 ? html`<p>${returnsLater(view) ? texts.noChannelNow : texts.noChannel}</p>` : null}
    ${channels.filter((one) => isListed(one, session)).map((one) => choice(one, one.channel === chosen, language))}
  </fieldset>`;
}

function choice({ channel, displayName, usable, ...why }: MerchantChannel, checked: boolean, language: Language): Html {
  const state = usable ? html`required ${checked ? html`checked` : null}` : html`disabled`;
  return html`<label class="choice${usable ? null : html` off`}">
    <input type="radio" name="channel" value="${channel}" ${state} />
    <span>${displayName} ${usable ? null : `(${whyOff(why, language)})`}</span>
  </label>`;
}

function whyOff({ reason, openMaintenance }: Pick<MerchantChannel, 'reason' | 'openMaintenance'>, language: Language) {
  const { comingSoon, maintenance, notNow } = textsOf(language);
  if (reason === 'UNAVAILABLE') return notNow;
  if (reason !== 'MAINTENANCE' || !openMaintenance) return comingSoon;
  return interpolate(maintenance, { span: formatSpan(language, openMaintenance.secondsLeft) });
}

/** With the typed number, else that of the latest attempt, else the session's customerPhone. */
function phoneField({ session, language, problem, typed }: SessionView): Html {
  const texts = textsOf(language);
  const known = normalisePhone(session.attemptPhone ?? session.customerPhone ?? '')?.replace(/^251/, '0');
  const isWrong = problem?.field === 'phone';
  const state = isWrong
    ? html`aria-invalid="true" aria-describedby="phone-error phone-hint" autofocus`
    : html`aria-describedby="phone-hint"`;
  return html`<label class="name" for="phone">${texts.phone}</label>
    <span class="quiet" id="phone-hint">${texts.phoneHint}</span>
    ${isWrong ? html`<p class="error" id="phone-error">${texts[problem.text]}</p>` : null}
    <input
      type="tel"
      id="phone"
      name="phone"
      autocomplete="tel"
      required
      maxlength="30"
      value="${typed?.phone ?? known ?? ''}"
      ${state}
    />`;
}

function testNumbers(language: Language, problem: TextName | undefined): Html {
  const texts = textsOf(language);
  const row = ({ phone, behaviour }: (typeof SANDBOX_PHONES)[number]) =>
    html`<tr>
      <td>${phone}</td>
      <td>${texts[behaviour]}</td>
    </tr>`;
  return html`<details ${problem === 'testPhoneWrong' ? html`open` : null}>
    <summary>${texts.testNumbers}</summary>
    <table>
      ${SANDBOX_PHONES.map(row)}
    </table>
  </details>`;
}
