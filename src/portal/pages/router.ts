import Router from '@koa/router';
import type { Context, Middleware } from 'koa';

import { sessionOf } from '../../access/users/identify.ts';
import { rememberLanguage } from '../../http/language.ts';
import { AppError, type ErrorCode } from '../../lib/errors.ts';
import { FONT_PATH, sendFont } from '../../lib/ethiopic-font.ts';
import { html } from '../../lib/html.ts';
import { listMails } from '../../outbox/mail.ts';
import { createNoticeWriter } from '../notices.ts';
import { addInvitation, addSignUp } from './accounts.ts';
import { addEnrolment, addOperatorInvitation } from './enrolment.ts';
import { CONSOLE_HEADERS, PAGE_HEADERS, problem, sendPage, STYLE_PATH } from './layout.ts';
import { addReset } from './reset.ts';
import { SCRIPT, SCRIPT_PATH } from './script.ts';
import { seeOther, SIGN_IN_PATH, signInPath, type PageDeps } from './session.ts';
import { addSignIn } from './sign-in.ts';
import { STYLE } from './style.ts';
import { textsFor } from './translations.ts';

const SHOWN: readonly ErrorCode[] = ['INSUFFICIENT_SCOPE', 'RATE_LIMITED'];
const SECONDS_SHOWN_MAX = 90;

/** Why a request was rejected, and how long to wait. */
function noticeOf(ctx: Context, { headers }: AppError): string {
  const texts = textsFor(ctx);
  const { 'Retry-After': given } = headers;
  if (given === undefined) return texts.foreign;
  const seconds = Number(given);
  const [text, count] =
    seconds <= SECONDS_SHOWN_MAX ? [texts.tooManySeconds, seconds] : [texts.tooManyMinutes, Math.ceil(seconds / 60)];
  return text.replace('{count}', String(count));
}

/** The pages with which people sign in: HTML and forms, which need no script. */
export function createSignInPages(deps: PageDeps): Router {
  const router = new Router({ sensitive: true });
  const { audience } = deps.site;
  router.use(async (ctx, next) => {
    Object.assign(ctx.state, { audience });
    try {
      await deps.limits.countPage(ctx);
      rememberLanguage(ctx, { path: '/', baseUrl: deps.site.url });
      await next();
    } catch (error) {
      if (!(error instanceof AppError) || !SHOWN.includes(error.code)) throw error;
      ctx.set(error.headers);
      const texts = textsFor(ctx);
      const body = html`${problem(noticeOf(ctx, error))}
        <p><a href="${SIGN_IN_PATH}">${texts.signIn}</a></p>`;
      sendPage(ctx, { status: error.status, title: texts.signIn, body });
    }
  });
  const file = (type: string, text: string) => (ctx: Context) => {
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.type = type;
    ctx.body = text;
  };
  router.get(STYLE_PATH, file('text/css', STYLE));
  router.get(SCRIPT_PATH, file('text/javascript', SCRIPT));
  router.get(FONT_PATH, sendFont);
  addSignIn(router, deps);
  addReset(router, deps);
  if (audience === 'portal') {
    addSignUp(router, deps);
    addInvitation(router, deps);
  } else {
    addEnrolment(router, deps);
    addOperatorInvitation(router, deps);
  }
  if (deps.showsMail) addMailbox(router, deps);
  return router;
}

/** The newest mails, which a local installation does not send. */
function addMailbox(router: Router, { db, keyRing, site }: PageDeps): void {
  const write = createNoticeWriter(site.url);
  router.get('/dev/mail', async (ctx) => {
    const mails = await listMails({ db, keyRing, write });
    const body = html`${mails.map(
      ({ recipient, subject, text, createdAt }) =>
        html`<article>
          <h2>${subject}</h2>
          <p class="quiet">${recipient} · ${createdAt.toISOString()}</p>
          <pre>
${text.split(/(https?:[/][/]\S+)/).map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : html`${part}`))}</pre>
        </article>`,
    )}`;
    sendPage(ctx, { title: `${textsFor(ctx).mails} (${mails.length})`, body, isWide: true });
  });
}

/** Where the pages are not built. */
const noPages: Middleware = async (ctx, next) => {
  if (ctx.path !== '/') return next();
  const texts = textsFor(ctx);
  sendPage(ctx, { title: texts.signedIn, body: html`<p>${texts.notBuilt}</p>` });
};

/** Files of pages; a browser that loads them in advance asks for them as for a page. */
const FILE = /^[/]assets[/]/;
const NOT_OF_THE_API = /^[/](?!api(?:[/]|$))/;

/**
 * Serves everything that is no path of the API and no sign-in page: `pages`, to people who are signed in. Others who open a
 * page get the sign-in, which leads back to it; files that a page loads are not redirected.
 */
export function createPages(deps: PageDeps, pages: Middleware = noPages): Router {
  const router = new Router({ sensitive: true });
  router.get(NOT_OF_THE_API, async (ctx) => {
    if (!FILE.test(ctx.path) && ctx.get('accept').includes('text/html') && !(await sessionOf(deps, ctx))) {
      return seeOther(ctx, signInPath(ctx.url));
    }
    const { audience } = deps.site;
    Object.assign(ctx.state, { audience });
    ctx.set(audience === 'console' ? CONSOLE_HEADERS : PAGE_HEADERS);
    await pages(ctx, async () => {
      const texts = textsFor(ctx);
      const home = audience === 'console' ? texts.goOnToConsole : texts.goOn;
      sendPage(ctx, { status: 404, title: texts.notFound, body: html`<p><a href="/">${home}</a></p>` });
    });
  });
  return router;
}
