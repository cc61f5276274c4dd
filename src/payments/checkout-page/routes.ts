import Router from '@koa/router';
import type { Context } from 'koa';
import QRCode from 'qrcode';

import { CLIENT_TOKEN_COOKIE } from '../../http/auth.ts';
import type { Limits } from '../../http/limits.ts';
import { readBody } from '../../lib/body.ts';
import { AppError, notFound, type ErrorCode } from '../../lib/errors.ts';
import { markup, type Html } from '../../lib/html.ts';
import { scopeOf } from '../../lib/scope.ts';
import { CHANNELS } from '../../merchants/channels/channel.ts';
import { listChannels } from '../../merchants/channels/queries.ts';
import type { FindProvider } from '../../providers/provider.ts';
import { reportOutcome, type HookDeps } from '../hooks.ts';
import { awaitProviderResult, startPayment } from '../pay.ts';
import { checkoutPageUrl, readSession, type TokenAuthenticator, type Session, type SessionKey } from '../session.ts';
import { qrPayload } from './qr.ts';
import type { Language, TextName } from './translations.ts';
import { PAGE_HEADERS, renderNotice, renderSession, type Notice, type SessionView } from './views.ts';

export type PageDeps = HookDeps & {
  findProvider: FindProvider;
  baseUrl: string;
  limits: Limits;
  tokens: TokenAuthenticator;
};

/** The authenticated browser: the session it may see, and the token it sent. */
type Visitor = { key: SessionKey; token: string };

/** Pages without facts of any session, by the error that they show. */
const NOTICES: Partial<Record<ErrorCode, Notice>> = {
  NOT_FOUND: 'invalid',
  INSUFFICIENT_SCOPE: 'foreign',
  RATE_LIMITED: 'busy',
};

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
      const notice = error instanceof AppError && NOTICES[error.code];
      if (!notice) throw error;
      ctx.set(error.headers);
      sendPage(ctx, error.status, renderNotice(languageOf(ctx) ?? 'en', notice));
    }
  });

  router.get('/checkout/:sessionId', async (ctx) => {
    const linkToken = single(ctx.query['t']);
    const visitor = await visitorOf(deps, ctx, linkToken);
    if (linkToken === undefined) {
      return sendSession(deps, ctx, { visitor, session: await readSession(deps, visitor.key) });
    }
    setTokenCookie(ctx, deps.baseUrl, visitor);
    seeOther(ctx);
  });

  // A rejected form is shown under these addresses; reloading them shows the page.
  router.get(['/checkout/:sessionId/pay', '/checkout/:sessionId/cancel'], seeOther);

  router.post('/checkout/:sessionId/pay', async (ctx) => pay(deps, ctx, await formVisitor(deps, ctx)));

  router.post('/checkout/:sessionId/cancel', async (ctx) => {
    const { key } = await formVisitor(deps, ctx);
    await reportOutcome(deps, key, { claim: 'cancel', details: { reason: 'cancelled on the page' } });
    seeOther(ctx);
  });

  return router;
}

/** The visitor with the link's token, or the cookie's. Throws NOT_FOUND, and RATE_LIMITED after too many guesses. */
async function visitorOf({ limits, tokens }: PageDeps, ctx: Context, linkToken?: string): Promise<Visitor> {
  const sessionId = String(ctx['params'].sessionId);
  const token = linkToken ?? ctx.cookies.get(CLIENT_TOKEN_COOKIE);
  if (!token) throw notFound('checkout page');
  // A link that was valid once is not a guess.
  const isOurs = () => tokens.isOurToken(sessionId, token);
  await limits.failedAuth.reject(ctx, isOurs);
  const caller = await tokens.authenticateClientToken(sessionId, token);
  if (caller) return { key: { ...scopeOf(caller), sessionId }, token };
  if (!isOurs()) await limits.failedAuth.count(ctx);
  throw notFound('checkout page');
}

/**
 * The visitor who posted one of our own forms. Under `Referrer-Policy: no-referrer` browsers send `Origin: null`, so
 * `Sec-Fetch-Site`, which a page cannot forge, is checked first. Throws also INSUFFICIENT_SCOPE.
 */
async function formVisitor(deps: PageDeps, ctx: Context): Promise<Visitor> {
  const [site, origin] = [ctx.get('sec-fetch-site'), ctx.get('origin')];
  const isOwnOrigin =
    origin === new URL(deps.baseUrl).origin || (URL.canParse(origin) && new URL(origin).host === ctx.host);
  if (site === '' ? isOwnOrigin : site === 'same-origin') return visitorOf(deps, ctx);
  throw new AppError('INSUFFICIENT_SCOPE', 'The form was sent from another site.');
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
    const text = channel ? problemOf(error.code, visitor.key) : 'channelWrong';
    // A form sent twice, or to a session that is over: the page shows the current status.
    if (!text) return seeOther(ctx);
    ctx.status = error.status;
    ctx.set(error.headers);
    const session = await readSession(deps, visitor.key);
    return sendSession(deps, ctx, { visitor, session, problem: { text, phone, channel: channel ?? '' } });
  }
  seeOther(ctx);
}

const PROBLEMS: Partial<Record<ErrorCode, TextName>> = {
  VALIDATION_ERROR: 'phoneWrong',
  MERCHANT_SUSPENDED: 'suspended',
  CHANNEL_DISABLED: 'channelUnavailable',
  CHANNEL_NOT_AVAILABLE: 'channelUnavailable',
  AMOUNT_BELOW_MINIMUM: 'amountOutside',
  AMOUNT_ABOVE_MAXIMUM: 'amountOutside',
};

function problemOf(code: ErrorCode, { environment }: SessionKey): TextName | undefined {
  return code === 'VALIDATION_ERROR' && environment === 'sandbox' ? 'testPhoneWrong' : PROBLEMS[code];
}

type PageState = { visitor: Visitor; session: Session; problem?: SessionView['problem'] };

async function sendSession(deps: PageDeps, ctx: Context, { visitor, session, problem }: PageState): Promise<void> {
  const language = languageOf(ctx) ?? session.locale;
  // A payment in flight or over is always shown.
  if (session.merchantStatus !== 'ACTIVE' && session.status === 'OPEN') {
    return sendPage(ctx, 403, renderNotice(language, 'suspended'));
  }
  let qr: Html | null = null;
  if (session.type === 'QRCODE' && session.status === 'OPEN') {
    const checkoutUrl = `${checkoutPageUrl(deps.baseUrl, session.id)}?t=${visitor.token}`;
    qr = markup(await QRCode.toString(qrPayload({ ...session, checkoutUrl }), { type: 'svg' }));
  }
  const channels = await listChannels(deps.db, session, deps.findProvider);
  const page = renderSession({ session, language, channels, qr, ...(problem && { problem }) });
  sendPage(ctx, problem ? ctx.status : 200, page);
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

/** To the page itself, in the language of the request. */
function seeOther(ctx: Context): void {
  const language = languageOf(ctx);
  ctx.set({ 'Referrer-Policy': 'no-referrer', 'Cache-Control': 'no-store' });
  const sessionId = encodeURIComponent(ctx['params'].sessionId);
  ctx.redirect(`/checkout/${sessionId}${language ? `?lang=${language}` : ''}`);
  ctx.status = 303;
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
    const headers = { Connection: 'close' };
    throw new AppError('PAYLOAD_TOO_LARGE', `A form may have at most ${FORM_BYTES_MAX} bytes.`, { headers });
  }
  return new URLSearchParams(body.toString());
}
