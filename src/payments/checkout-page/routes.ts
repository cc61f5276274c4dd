import Router from '@koa/router';
import type { Context } from 'koa';
import QRCode from 'qrcode';

import { readForm } from '../../http/forms.ts';
import { languageOf, rememberLanguage } from '../../http/language.ts';
import type { Limits } from '../../http/limits.ts';
import { hungUp, type RequestState } from '../../http/pipeline.ts';
import { AppError, notFound, type ErrorCode } from '../../lib/errors.ts';
import { FONT_PATH, sendFont } from '../../lib/ethiopic-font.ts';
import { withTimeout } from '../../lib/timeout.ts';
import { CHANNELS } from '../../merchants/channels/channel.ts';
import { listChannels } from '../../merchants/channels/queries.ts';
import { readDocument } from '../../merchants/kyc/documents.ts';
import { findBusiness } from '../../merchants/kyc/queries.ts';
import type { DocumentStore } from '../../merchants/kyc/store.ts';
import type { FindProvider } from '../../providers/provider.ts';
import { createWaitLimit, reportOutcome, type HookDeps } from '../hooks.ts';
import { awaitProviderResult, PROVIDER_WAIT_MS, startPayment } from '../pay.ts';
import { createReadState, waitForState } from '../session-state.ts';
import { checkoutPageUrl, readSession, type Session, type SessionKey, type TokenAuthenticator } from '../session.ts';
import { isHeld } from '../states.ts';
import { PAGE_HEADERS, renderNotice, type Notice } from './layout.ts';
import { named, type Problem, type SessionView } from './parts.ts';
import { textsOf } from './translations.ts';
import { renderSession } from './views.ts';
import { formVisitor, queryOf, setTokenCookie, visitorOf, type Visitor } from './visitor.ts';

export type PageDeps = HookDeps & {
  findProvider: FindProvider;
  baseUrl: string;
  limits: Limits;
  tokens: TokenAuthenticator;
  /** With the merchants' logos. */
  store: DocumentStore;
};

/** Pages without facts of any session, by the error that they show. */
const NOTICES: Partial<Record<ErrorCode, Notice>> = {
  NOT_FOUND: 'invalid',
  INSUFFICIENT_SCOPE: 'foreign',
  RATE_LIMITED: 'busy',
};

const LOGO_CACHED_SECONDS = 60 * 60;
const STATE_EVERY_MS = 500;
/** Below the time after which proxies close a silent connection. */
const WAIT_SECONDS_MAX = 25;
/** Open waits of all pages of this process. One statement reads 5,000 sessions in about 50 ms. */
const WAITS_OF_ALL_MAX = 5_000;

/**
 * The hosted checkout page: HTML and form posts, and a script that waits for the next state. The link's token becomes a
 * cookie of that page only, and leaves the address. Requests are counted by address, wrong tokens separately. Mounted
 * beside the API; it reads its own bodies.
 */
export function createCheckoutPages(deps: PageDeps): Router {
  const router = new Router({ sensitive: true });
  router.get(FONT_PATH, sendFont);
  router.use(async (ctx, next) => {
    try {
      await deps.limits.countPage(ctx);
      await next();
    } catch (error) {
      const notice = error instanceof AppError && NOTICES[error.code];
      if (!notice) throw error;
      ctx.set(error.headers);
      const { 'Retry-After': seconds } = error.headers;
      // What was only opened is opened again by itself.
      if (seconds !== undefined && ctx.method === 'GET') ctx.set('Refresh', seconds);
      sendPage(ctx, error.status, renderNotice(languageOf(ctx), notice, seconds));
    }
  });

  router.get('/checkout/:sessionId', async (ctx) => {
    const [linkToken, language] = [queryOf(ctx, 't'), queryOf(ctx, 'lang')];
    const visitor = await visitorOf(deps, ctx, linkToken);
    rememberLanguage(ctx, { path: '/checkout', baseUrl: deps.baseUrl });
    if (linkToken !== undefined) setTokenCookie(ctx, deps.baseUrl, visitor);
    if (linkToken !== undefined || language !== undefined) return seeOther(ctx);
    await sendSession(deps, ctx, { visitor, session: await readSession(deps, visitor.key) });
  });

  router.get('/checkout/:sessionId/state', createStateRoute(deps));

  router.get('/checkout/:sessionId/cancel', async (ctx) => {
    const visitor = await visitorOf(deps, ctx);
    await sendSession(deps, ctx, { visitor, session: await readSession(deps, visitor.key), cancelling: true });
  });

  router.get('/checkout/:sessionId/logo', async (ctx) => sendLogo(deps, ctx));

  // A rejected form is shown under these addresses; reloading them shows the page.
  router.get(
    ['pay', 'change', 'check'].map((verb) => `/checkout/:sessionId/${verb}`),
    seeOther,
  );

  router.post('/checkout/:sessionId/pay', async (ctx) => pay(deps, ctx, await formVisitor(deps, ctx)));

  router.post('/checkout/:sessionId/cancel', async (ctx) => {
    const visitor = await formVisitor(deps, ctx);
    const report = { claim: 'cancel', details: { reason: 'cancelled on the page' } } as const;
    const session = await reportOutcome(deps, visitor.key, report);
    await sendUnlessInFlight(deps, ctx, { visitor, session });
  });

  router.post('/checkout/:sessionId/change', async (ctx) => {
    const visitor = await formVisitor(deps, ctx);
    if (isHeld(await readSession(deps, visitor.key))) return seeOther(ctx);
    await withTimeout(deps.closeUnpaid(visitor.key.sessionId, 'OPEN'), PROVIDER_WAIT_MS);
    await sendUnlessInFlight(deps, ctx, { visitor, session: await readSession(deps, visitor.key) });
  });

  router.post('/checkout/:sessionId/check', async (ctx) => {
    const { key } = await formVisitor(deps, ctx);
    await reportOutcome(deps, key, { claim: 'success', details: { reason: 'checked on the page' } });
    seeOther(ctx);
  });

  return router;
}

/** The merchant's logo, which belongs to its verified business. */
async function sendLogo(deps: PageDeps, ctx: Context): Promise<void> {
  const { key } = await visitorOf(deps, ctx);
  const { logoId = null } = (await findBusiness(deps.db, key)) ?? {};
  if (logoId === null) throw notFound('logo');
  const { row, bytes } = await readDocument(deps, { ...key, documentId: logoId });
  ctx.set({ 'Cache-Control': `private, max-age=${LOGO_CACHED_SECONDS}`, 'X-Content-Type-Options': 'nosniff' });
  ctx.type = row.contentType;
  ctx.body = bytes;
}

/** `GET …/state?since=version&wait=25`: the state, as soon as it is another than `since`. */
function createStateRoute(deps: PageDeps) {
  const [readState, withinLimit] = [createReadState(deps, STATE_EVERY_MS), createWaitLimit(WAITS_OF_ALL_MAX)];
  return async (ctx: Context): Promise<void> => {
    const { caller, key } = await visitorOf(deps, ctx);
    const { draining } = ctx.state as Partial<RequestState>;
    const signal = AbortSignal.any([hungUp(ctx), ...(draining ? [draining] : [])]);
    const wait = Number(queryOf(ctx, 'wait') ?? 0);
    const waitSeconds = wait >= 0 ? Math.min(wait, WAIT_SECONDS_MAX) : 0;
    const since = queryOf(ctx, 'since') ?? '';
    ctx.body = await withinLimit(caller, async () =>
      waitForState(readState, key.sessionId, { waitSeconds, signal, until: ({ version }) => version !== since }),
    );
    ctx.set('Cache-Control', 'no-store');
  };
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
    const problem = channel
      ? problemOf(error.code, visitor.key)
      : ({ text: 'channelWrong', field: 'channel' } as const);
    // A form sent twice, or to a session that is over: the page shows the current status.
    if (!problem) return seeOther(ctx);
    ctx.status = error.status;
    ctx.set(error.headers);
    const session = await readSession(deps, visitor.key);
    return sendSession(deps, ctx, { visitor, session, problem, typed: { phone, channel: channel ?? '' } });
  }
  seeOther(ctx);
}

const PROBLEMS: Partial<Record<ErrorCode, Problem>> = {
  VALIDATION_ERROR: { text: 'phoneWrong', field: 'phone' },
  MERCHANT_SUSPENDED: { text: 'suspended' },
  CHANNEL_DISABLED: { text: 'channelUnavailable', field: 'channel' },
  CHANNEL_NOT_AVAILABLE: { text: 'channelUnavailable', field: 'channel' },
  AMOUNT_BELOW_MINIMUM: { text: 'amountOutside', field: 'channel' },
  AMOUNT_ABOVE_MAXIMUM: { text: 'amountOutside', field: 'channel' },
};

function problemOf(code: ErrorCode, { environment }: SessionKey): Problem | undefined {
  const problem = PROBLEMS[code];
  return problem?.field === 'phone' && environment === 'sandbox' ? { ...problem, text: 'testPhoneWrong' } : problem;
}

type Shown = Pick<SessionView, 'problem' | 'typed' | 'cancelling'> & { visitor: Visitor; session: Session };

/** The page after an attempt was to be ended: while it is in flight, why it is. */
async function sendUnlessInFlight(deps: PageDeps, ctx: Context, shown: Shown): Promise<void> {
  if (shown.session.status !== 'PROCESSING' || isHeld(shown.session)) return seeOther(ctx);
  ctx.status = 409;
  await sendSession(deps, ctx, { ...shown, problem: { text: 'notTakenBack' } });
}

async function sendSession(deps: PageDeps, ctx: Context, { visitor, session, ...shown }: Shown): Promise<void> {
  const language = languageOf(ctx, session.locale);
  // A payment in flight or over is always shown.
  if (session.merchantStatus !== 'ACTIVE' && session.status === 'OPEN') {
    return sendPage(ctx, 403, renderNotice(language, 'suspended'));
  }
  const { db, findProvider, clock, baseUrl } = deps;
  const [channels, business] = await Promise.all([listChannels(db, session, findProvider), findBusiness(db, session)]);
  const address = `${checkoutPageUrl(baseUrl, session.id)}?t=${visitor.token}`;
  const qr =
    session.status === 'OPEN' ? named(await QRCode.toString(address, { type: 'svg' }), textsOf(language).scan) : null;
  const page = renderSession({ session, language, now: clock(), channels, business, qr, ...shown });
  sendPage(ctx, shown.problem ? ctx.status : 200, page);
}

/** To the page itself. */
function seeOther(ctx: Context): void {
  ctx.set({ 'Referrer-Policy': 'same-origin', 'Cache-Control': 'no-store' });
  ctx.redirect(`/checkout/${encodeURIComponent(ctx['params'].sessionId)}`);
  ctx.status = 303;
}

function sendPage(ctx: Context, status: number, page: string): void {
  ctx.status = status;
  ctx.body = page;
  ctx.set(PAGE_HEADERS);
}
