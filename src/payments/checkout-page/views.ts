import { html, type Html } from '../../lib/html.ts';
import { pageState } from '../session-state.ts';
import { isHeld } from '../states.ts';
import { renderPage } from './layout.ts';
import { heldPage, outcomePage, receiptPage } from './outcome-views.ts';
import { pagePath, type SessionView, type View } from './parts.ts';
import { payPage } from './pay-view.ts';
import { interpolate, textsOf } from './translations.ts';
import { cancelPage, waitingPage } from './waiting-views.ts';

/** The page for a session's current status: to pay, to wait, or one for each end. A pending payment is never shown failed. */
export function renderSession(view: SessionView): string {
  const { session, language, now } = view;
  const { title, body, follows } = viewOf(view);
  const page = pagePath(session);
  const { version, secondsLeft } = pageState(session, now);
  const state = follows ? html` data-state="${page}/state"` : null;
  return renderPage({
    language,
    title,
    body,
    data: html`data-page="${page}" data-version="${version}" data-left="${secondsLeft}"${state}`,
    test: session.environment === 'sandbox',
    page,
    refreshes: follows && session.status !== 'OPEN',
    footer: footer(view),
  });
}

function viewOf(view: SessionView): View {
  const { session } = view;
  if (isHeld(session)) return heldPage(view);
  if (session.status === 'COMPLETED') return receiptPage(view);
  if (session.status !== 'OPEN' && session.status !== 'PROCESSING') return outcomePage(view);
  if (view.cancelling) return cancelPage(view);
  return session.status === 'OPEN' ? payPage(view) : waitingPage(view);
}

function footer({ language, business }: SessionView): Html {
  const texts = textsOf(language);
  const text = business ? interpolate(texts.paymentFor, { legalName: business.legalName }) : texts.paymentBy;
  const phone = business?.supportPhone ? `+${business.supportPhone}` : null;
  return html`<p>${text}</p>
    ${phone && html`<p>${texts.support} <a href="tel:${phone}">${phone}</a></p>`}`;
}
