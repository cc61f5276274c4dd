import type Router from '@koa/router';
import type { Context } from 'koa';

import { sessionCookie, sessionOf } from '../../access/users/identify.ts';
import { isPassword } from '../../access/users/passwords.ts';
import { createSession, endSession } from '../../access/users/sessions.ts';
import { createToken, findToken, useToken } from '../../access/users/tokens.ts';
import { acceptSecondFactor, checkLimited } from '../../access/users/totp.ts';
import { findUserByEmail } from '../../access/users/users.ts';
import { readOwnForm } from '../../http/forms.ts';
import type { Limits } from '../../http/limits.ts';
import type { Clock } from '../../lib/clock.ts';
import type { KeyRing } from '../../lib/crypto.ts';
import type { Database } from '../../lib/db.ts';
import { html } from '../../lib/html.ts';
import type { Logger } from '../../lib/log.ts';
import type { RunInTransaction } from '../../outbox/record.ts';
import { field, languageOf, problem, sendPage } from './layout.ts';
import { emailOf } from './parts.ts';
import { textsOf } from './translations.ts';

export type PageDeps = {
  db: Database;
  runInTransaction: RunInTransaction;
  clock: Clock;
  limits: Limits;
  keyRing: KeyRing;
  pepper: string;
  log: Logger;
  /** Whether everybody may read the mails: of a local installation. */
  showsMail: boolean;
  /** The address of the portal, without a slash at its end. */
  portalUrl: string;
};

export const SIGN_IN_PATH = '/sign-in';
const TWO_FACTOR_PATH = '/two-factor';

/** Longer ones are wrong anyway, and would take long to hash. */
const PASSWORD_CHARACTERS_MAX = 256;

/** Sign-in with e-mail address and password. */
export function addSignIn(router: Router, deps: PageDeps): void {
  router.get(SIGN_IN_PATH, (ctx) => sendSignIn(ctx, { next: localPath(ctx.query['next']) }));

  router.post(SIGN_IN_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.portalUrl);
    const email = emailOf(form);
    const next = localPath(form.get('next'));
    const undoCount = await deps.limits.countSignIn(ctx, email.toLowerCase());
    const user = await findUserByEmail(deps.db, email);
    const password = (form.get('password') ?? '').slice(0, PASSWORD_CHARACTERS_MAX);
    if (!(await isPassword(user?.passwordHash ?? null, password)) || !user) {
      return sendSignIn(ctx, { next, email, status: 401, wrong: textsOf(languageOf(ctx)).wrongSignIn });
    }
    await undoCount();
    if (user.totpEnabledAt !== null) {
      const at = deps.clock();
      const second = { purpose: 'second-factor', userId: user.id } as const;
      const { token } = await deps.runInTransaction(({ trx }) => createToken(trx, second, at));
      return sendSecondStep(ctx, { token, next });
    }
    await beginSession(deps, ctx, user);
    seeOther(ctx, next);
  });
  addSecondStep(router, deps);
}

/** The second step of a sign-in: a code. The token of the form shows that the password was right a short time ago. */
function addSecondStep(router: Router, deps: PageDeps): void {
  router.get(TWO_FACTOR_PATH, (ctx) => seeOther(ctx, SIGN_IN_PATH));

  router.post(TWO_FACTOR_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.portalUrl);
    const [token, code, next] = [form.get('token') ?? '', form.get('code') ?? '', localPath(form.get('next'))];
    const at = deps.clock();
    const found = await findToken(deps.db, { purpose: 'second-factor', token, at });
    if (!found?.userId) return seeOther(ctx, `${SIGN_IN_PATH}?${new URLSearchParams({ next }).toString()}`);
    const { userId } = found;
    const isRight = await checkLimited(deps.runInTransaction, { userId, at }, async (trx, user) => {
      const accepted = await acceptSecondFactor(trx, deps.keyRing, { user, code, at });
      return accepted && (await useToken(trx, { purpose: 'second-factor', token, at })) !== null;
    });
    if (!isRight) {
      return sendSecondStep(ctx, { token, next, status: 401, wrong: textsOf(languageOf(ctx)).wrongCode });
    }
    await beginSession(deps, ctx, { id: userId, stepUpAt: at });
    seeOther(ctx, next);
  });
}

type SecondStep = { token: string; next: string; status?: number; wrong?: string };

function sendSecondStep(ctx: Context, { token, next, status = 200, wrong }: SecondStep): void {
  const texts = textsOf(languageOf(ctx));
  const body = html`${problem(wrong)}
    <form method="post" action="${TWO_FACTOR_PATH}">
      <input type="hidden" name="token" value="${token}" />
      <input type="hidden" name="next" value="${next}" />
      ${field(texts.code, 'code', html`autocomplete="one-time-code" maxlength="40" autofocus`)}
      <p class="quiet">${texts.codeHint}</p>
      <button>${texts.signIn}</button>
    </form>`;
  sendPage(ctx, { status, title: texts.secondStep, body });
}

type SignIn = { next: string; email?: string; status?: number; wrong?: string };

function sendSignIn(ctx: Context, { next, email = '', status = 200, wrong }: SignIn): void {
  const texts = textsOf(languageOf(ctx));
  const body = html`${problem(wrong)}
    <form method="post" action="${SIGN_IN_PATH}">
      <input type="hidden" name="next" value="${next}" />
      ${field(texts.email, 'email', html`type="email" autocomplete="username" value="${email}"`)}
      ${field(texts.password, 'password', html`type="password" autocomplete="current-password"`)}
      <button>${texts.signIn}</button>
    </form>
    <p class="quiet"><a href="/forgot">${texts.forgot}</a> · <a href="/sign-up">${texts.signUp}</a></p>`;
  sendPage(ctx, { status, title: texts.signIn, body });
}

/** Begins a session with a new token, which ends the browser's previous one, and sets its cookie. */
export async function beginSession(
  deps: PageDeps,
  ctx: Context,
  { id: userId, stepUpAt = null }: { id: string; stepUpAt?: Date | null },
): Promise<void> {
  const at = deps.clock();
  const previous = await sessionOf(deps, ctx);
  const { token } = await deps.runInTransaction(async ({ trx }) => {
    if (previous) await endSession(trx, previous, at);
    return createSession(trx, { userId, address: ctx.ip, device: ctx.get('user-agent'), stepUpAt, at });
  });
  const secure = deps.portalUrl.startsWith('https:') ? '; Secure' : '';
  ctx.append('Set-Cookie', `${sessionCookie(deps.portalUrl)}=${token}; Path=/; HttpOnly; SameSite=Lax${secure}`);
}

const NOWHERE = 'http://nowhere.invalid';

/** A path of this site with its query, `/` for anything else: nobody is sent to another site after the sign-in. */
export function localPath(value: unknown): string {
  if (typeof value !== 'string' || !value.startsWith('/') || !URL.canParse(value, NOWHERE)) return '/';
  const { origin, pathname, search } = new URL(value, NOWHERE);
  return origin === NOWHERE && !pathname.startsWith('//') ? pathname + search : '/';
}

/** Redirects after a form, so that reloading sends nothing again. */
export function seeOther(ctx: Context, path: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(path);
  ctx.status = 303;
}
