import Router from '@koa/router';
import type { Context } from 'koa';
import QRCode from 'qrcode';

import { CLIENT_TOKEN_COOKIE } from '../../http/auth.ts';
import type { Limits } from '../../http/limits.ts';
import { readBody } from '../../lib/body.ts';
import { AppError, type ErrorCode } from '../../lib/errors.ts';
import { markup, type Html } from '../../lib/html.ts';
import { scopeOf } from '../../lib/scope.ts';
import { CHANNELS } from '../../merchants/channels/channel.ts';
import { listChannels } from '../../merchants/channels/queries.ts';
import type { FindProvider } from '../../providers/provider.ts';
import type { TokenAuthenticator } from '../client-token.ts';
import { reportOutcome, type HookDeps } from '../hooks.ts';
import { awaitProviderResult, startPayment } from '../pay.ts';
import { checkoutPageUrl, readSession, type Session, type SessionKey } from '../session.ts';
import { PAGE_HEADERS } from './page-layout.ts';
import { qrPayload } from './qr.ts';
import type { Language, TextName } from './translations.ts';
import { renderNotice, renderSession, type Notice, type SessionView } from './views.ts';

export type PageDeps = HookDeps & {
  findProvider: FindProvider;
  baseUrl: string;
  limits: Limits;
  tokens: TokenAuthenticator;
};

/** The authenticated browser: the session it may see, and the token it sent. */
type Visitor = { key: SessionKey; token: string };

/**
 * The hosted checkout page: plain HTML and form posts. The link's token becomes a cookie of that page only, and leaves the
 * address. Requests are counted by address, wrong tokens separately. Mounted beside the API; it reads its own bodies.
 */
export function createCheckoutPages(deps: PageDeps): Router {
  const router = new Router({ sensitive: true });
  router.use(async (ctx, next) => {
    try {
      await deps.limits.countPage(ctx);
      await next();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'RATE_LIMITED') throw error;
      ctx.set(error.headers);
      sendNotice(ctx, error.status, 'busy');
    }
  });

  const visitorOf = async (ctx: Context, token: string | undefined): Promise<Visitor | null> => {
    const sessionId: unknown = ctx['params']?.sessionId;
    if (typeof sessionId !== 'string' || !token) return null;
    await deps.limits.failedAuth.reject(ctx, () => deps.tokens.isOurToken(sessionId, token));
    const caller = await deps.tokens.readToken(sessionId, token);
    // A link that was valid once is not counted as a guess.
    if (caller === 'ended') return null;
    if (!caller) {
      await deps.limits.failedAuth.count(ctx);
      return null;
    }
    return { key: { ...scopeOf(caller), sessionId }, token };
  };

  router.get('/checkout/:sessionId', async (ctx) => {
    const linkToken = single(ctx.query['t']);
    const visitor = await visitorOf(ctx, linkToken ?? ctx.cookies.get(CLIENT_TOKEN_COOKIE));
    if (!visitor) return sendNotice(ctx, 404, 'invalid');
    if (linkToken !== undefined) {
      setTokenCookie(ctx, deps.baseUrl, visitor);
      return seeOther(ctx, visitor.key.sessionId);
    }
    await sendSession(deps, ctx, { visitor, session: await readSession(deps, visitor.key) });
  });

  // A rejected form is shown under these addresses; reloading them shows the page.
  router.get(['/checkout/:sessionId/pay', '/checkout/:sessionId/cancel'], (ctx) => {
    seeOther(ctx, encodeURIComponent(ctx.params['sessionId'] ?? ''));
  });

  router.post('/checkout/:sessionId/pay', async (ctx) => {
    const visitor = await formVisitor(ctx);
    if (visitor) await pay(deps, ctx, visitor);
  });

  router.post('/checkout/:sessionId/cancel', async (ctx) => {
    const visitor = await formVisitor(ctx);
    if (!visitor) return;
    await reportOutcome(deps, visitor.key, { claim: 'cancel', details: { reason: 'cancelled on the page' } });
    seeOther(ctx, visitor.key.sessionId);
  });

  /** The caller that posted one of our forms; null, with the response sent, when the form or the token is not valid. */
  async function formVisitor(ctx: Context): Promise<Visitor | null> {
    if (!isOwnForm(ctx, deps.baseUrl)) {
      sendNotice(ctx, 403, 'foreign');
      return null;
    }
    const visitor = await visitorOf(ctx, ctx.cookies.get(CLIENT_TOKEN_COOKIE));
    if (!visitor) sendNotice(ctx, 404, 'invalid');
    return visitor;
  }

  return router;
}

async function pay(deps: PageDeps, ctx: Context, visitor: Visitor): Promise<void> {
  const form = await readForm(ctx);
  const phone = form.get('phone') ?? '';
  const channel = CHANNELS.find((one) => one === form.get('channel'));
  try {
    if (!channel) throw new AppError('CHANNEL_NOT_AVAILABLE', 'Channel is required.');
    const payment = await deps.runInTransaction((tx) => startPayment({ ...deps, tx }, visitor.key, { channel, phone }));
    await awaitProviderResult(deps.checkAttempt, payment);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const text = PROBLEMS[error.code];
    // A form sent twice, or to a session that is over: the page shows the current status.
    if (!text) return seeOther(ctx, visitor.key.sessionId);
    const session = await readSession(deps, visitor.key);
    const ownText = problemText(text, { hasChannel: channel !== undefined, session });
    ctx.status = error.status;
    return sendSession(deps, ctx, { visitor, session, problem: { text: ownText, phone, channel: channel ?? '' } });
  }
  seeOther(ctx, visitor.key.sessionId);
}

const PROBLEMS: Partial<Record<ErrorCode, TextName>> = {
  VALIDATION_ERROR: 'phoneWrong',
  MERCHANT_SUSPENDED: 'suspended',
  CHANNEL_DISABLED: 'channelUnavailable',
  CHANNEL_NOT_AVAILABLE: 'channelUnavailable',
  AMOUNT_BELOW_MINIMUM: 'amountOutside',
  AMOUNT_ABOVE_MAXIMUM: 'amountOutside',
};

function problemText(text: TextName, { hasChannel, session }: { hasChannel: boolean; session: Session }): TextName {
  if (!hasChannel) return 'channelWrong';
  return text === 'phoneWrong' && session.environment === 'sandbox' ? 'testPhoneWrong' : text;
}

type PageState = { visitor: Visitor; session: Session; problem?: SessionView['problem'] };

async function sendSession(deps: PageDeps, ctx: Context, { visitor, session, problem }: PageState): Promise<void> {
  const language = languageOf(ctx) ?? session.locale;
  // A payment in flight or over is always shown.
  if (session.merchantStatus !== 'ACTIVE' && session.status === 'OPEN') {
    return sendPage(ctx, 403, renderNotice(language, 'suspended'));
  }
  const hasQr = session.type === 'QRCODE' && session.status === 'OPEN';
  const qr = hasQr ? await drawQr(deps.baseUrl, session, visitor) : null;
  const channels = await listChannels(deps.db, session, deps.findProvider);
  const view = { session, language, channels, qr, ...(problem && { problem }) };
  sendPage(ctx, problem ? ctx.status : 200, renderSession(view));
}

async function drawQr(baseUrl: string, session: Session, visitor: Visitor): Promise<Html> {
  const checkoutUrl = `${checkoutPageUrl(baseUrl, session.id)}?t=${visitor.token}`;
  const { checkoutOrderNo, amountSantim } = session;
  return markup(await QRCode.toString(qrPayload({ checkoutUrl, checkoutOrderNo, amountSantim }), { type: 'svg' }));
}

/**
 * Whether one of our own pages sent this form. Under `Referrer-Policy: no-referrer` browsers send `Origin: null`, so
 * `Sec-Fetch-Site`, which a page cannot forge, is checked first.
 */
function isOwnForm(ctx: Context, baseUrl: string): boolean {
  const site = ctx.get('sec-fetch-site');
  if (site !== '') return site === 'same-origin';
  const origin = ctx.get('origin');
  return origin === new URL(baseUrl).origin || (URL.canParse(origin) && new URL(origin).host === ctx.host);
}

function languageOf(ctx: Context): Language | null {
  const wanted = single(ctx.query['lang']);
  return wanted === 'en' || wanted === 'am' ? wanted : null;
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function setTokenCookie(ctx: Context, baseUrl: string, { key, token }: Visitor): void {
  const secure = baseUrl.startsWith('https:') ? '; Secure' : '';
  // One cookie for the page, one for the calls below /api/checkout/sessions/{id}; no other path gets it.
  for (const path of [`/checkout/${key.sessionId}`, `/api/checkout/sessions/${key.sessionId}`]) {
    ctx.append('Set-Cookie', `${CLIENT_TOKEN_COOKIE}=${token}; Path=${path}; HttpOnly; SameSite=Lax${secure}`);
  }
}

function seeOther(ctx: Context, sessionId: string): void {
  const language = languageOf(ctx);
  ctx.set({ 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store' });
  ctx.redirect(`/checkout/${sessionId}${language ? `?lang=${language}` : ''}`);
  ctx.status = 303;
}

function sendNotice(ctx: Context, status: number, notice: Notice): void {
  sendPage(ctx, status, renderNotice(languageOf(ctx) ?? 'en', notice));
}

function sendPage(ctx: Context, status: number, page: string): void {
  ctx.status = status;
  ctx.body = page;
  ctx.set(PAGE_HEADERS);
}

const FORM_BYTES_MAX = 4_096;
const CONTENT_TYPE_CHARACTERS_MAX = 200;

/** A posted form. Throws UNSUPPORTED_MEDIA_TYPE and PAYLOAD_TOO_LARGE. */
async function readForm(ctx: Context): Promise<URLSearchParams> {
  const isShort = ctx.get('content-type').length <= CONTENT_TYPE_CHARACTERS_MAX;
  if (!isShort || !ctx.is('application/x-www-form-urlencoded')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/x-www-form-urlencoded.');
  }
  const body = await readBody(ctx.req.iterator({ destroyOnReturn: false }), FORM_BYTES_MAX);
  if (body === null) {
    // The unread rest of the body would be parsed as the next request.
    ctx.set('Connection', 'close');
    throw new AppError('PAYLOAD_TOO_LARGE', `A form may have at most ${FORM_BYTES_MAX} bytes.`);
  }
  return new URLSearchParams(body.toString());
}
