import type Router from '@koa/router';
import type { Context } from 'koa';

import { acceptPasskey, passkeyOptions } from '../../access/users/passkeys.ts';
import { isPassword } from '../../access/users/passwords.ts';
import { createToken, findToken, useToken } from '../../access/users/tokens.ts';
import { acceptSecondFactor, checkLimited } from '../../access/users/totp.ts';
import { findUser, findUserByEmail, type User } from '../../access/users/users.ts';
import { readOwnForm, requireOwnPage } from '../../http/forms.ts';
import { html } from '../../lib/html.ts';
import { PasskeySignature } from '../schema.ts';
import { startEnrolment } from './enrolment.ts';
import { field, isConsole, problem, sendPage } from './layout.ts';
import { emailOf } from './parts.ts';
import {
  beginSession,
  localPath,
  mayEnter,
  seeOther,
  SIGN_IN_PATH,
  signInPath,
  startAgain,
  type PageDeps,
} from './session.ts';
import { textsFor } from './translations.ts';

const TWO_FACTOR_PATH = '/two-factor';
const PASSKEY_PATH = '/sign-in/passkey';
const PASSKEY_OPTIONS_PATH = `${PASSKEY_PATH}/options`;

/** Longer ones are wrong anyway, and would take long to hash. */
const PASSWORD_CHARACTERS_MAX = 256;

/** Sign-in with e-mail address and password. */
export function addSignIn(router: Router, deps: PageDeps): void {
  router.get(SIGN_IN_PATH, (ctx) =>
    sendSignIn(ctx, { next: localPath(ctx.query['next']), prefetched: deps.prefetched }),
  );

  router.post(SIGN_IN_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.site.url);
    const email = emailOf(form);
    const next = localPath(form.get('next'));
    const account = email.toLowerCase();
    await deps.limits.countSignIn(ctx, account);
    const user = await findUserByEmail(deps.db, email);
    const password = (form.get('password') ?? '').slice(0, PASSWORD_CHARACTERS_MAX);
    if (!(await isPassword(user?.passwordHash ?? null, password)) || !user || !(await mayEnter(deps, user))) {
      return sendSignIn(ctx, { next, email, status: 401, wrong: textsFor(ctx).wrongSignIn });
    }
    await deps.limits.undoSignIn(ctx, account);
    await continueSignIn(deps, ctx, { user, next });
  });
  addSecondStep(router, deps);
  addPasskeySignIn(router, deps);
}

/** Goes on with the sign-in of a person whose password was right. */
async function continueSignIn(
  deps: PageDeps,
  ctx: Context,
  { user, next }: { user: User; next: string },
): Promise<void> {
  if (user.totpEnabledAt !== null) {
    const second = { purpose: secondFactorOf(deps), userId: user.id };
    const { token } = await deps.runInTransaction(({ trx }) => createToken(trx, second, deps.clock()));
    return sendSecondStep(ctx, { token, next });
  }
  if (deps.site.audience === 'console') return startEnrolment(deps, ctx, { user, next });
  await beginSession(deps, ctx, user);
  seeOther(ctx, next);
}

/** The tokens between the two steps are valid at their own listener only, as sessions are. */
const secondFactorOf = ({ site }: PageDeps) =>
  site.audience === 'portal' ? ('second-factor' as const) : ('console-second-factor' as const);

/** The second step of a sign-in: a code. The token of the form shows that the password was right a short time ago. */
function addSecondStep(router: Router, deps: PageDeps): void {
  router.get(TWO_FACTOR_PATH, startAgain);

  router.post(TWO_FACTOR_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.site.url);
    const [token, code, next] = [form.get('token') ?? '', form.get('code') ?? '', localPath(form.get('next'))];
    const at = deps.clock();
    const presented = { purpose: secondFactorOf(deps), token, at };
    const found = await findToken(deps.db, presented);
    if (!found?.userId) return seeOther(ctx, signInPath(next));
    const { userId } = found;
    const isRight = await checkLimited(deps.runInTransaction, { userId, at }, async (trx, user) => {
      const accepted = await acceptSecondFactor(trx, deps.keyRing, { user, code, at });
      return accepted && (await useToken(trx, presented)) !== null;
    });
    if (!isRight) {
      return sendSecondStep(ctx, { token, next, status: 401, wrong: textsFor(ctx).wrongCode });
    }
    await beginSession(deps, ctx, { id: userId, stepUpAt: at });
    seeOther(ctx, next);
  });
}

/** The sign-in with a passkey, which is password and code at once. The script of the page asks the browser for it. */
function addPasskeySignIn(router: Router, deps: PageDeps): void {
  const { site, clock, runInTransaction, limits } = deps;
  router.get(PASSKEY_PATH, startAgain);

  router.post(PASSKEY_OPTIONS_PATH, async (ctx) => {
    requireOwnPage(ctx, site.url);
    // Each challenge is a row.
    await limits.countSignIn(ctx, null);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = await runInTransaction(({ trx }) => passkeyOptions(trx, site.url, { userId: null, at: clock() }));
  });

  router.post(PASSKEY_PATH, async (ctx) => {
    const form = Object.fromEntries(await readOwnForm(ctx, site.url));
    const { next, ...fields } = form;
    const at = clock();
    const signed = PasskeySignature.safeParse(fields).data;
    const userId = signed
      ? await runInTransaction(({ trx }) => acceptPasskey(trx, site.url, { userId: null, signed, at }))
      : null;
    const user = userId === null ? null : await findUser(deps.db, userId);
    if (!user || !(await mayEnter(deps, user))) {
      return sendSignIn(ctx, { next: localPath(next), status: 401, wrong: textsFor(ctx).wrongPasskey });
    }
    await limits.undoSignIn(ctx, null);
    await beginSession(deps, ctx, { id: user.id, stepUpAt: at });
    seeOther(ctx, localPath(next));
  });
}

type SecondStep = { token: string; next: string; status?: number; wrong?: string };

function sendSecondStep(ctx: Context, { token, next, status = 200, wrong }: SecondStep): void {
  const texts = textsFor(ctx);
  const body = html`${problem(wrong)}
    <form method="post" action="${TWO_FACTOR_PATH}">
      <input type="hidden" name="token" value="${token}" />
      <input type="hidden" name="next" value="${next}" />
      ${field(texts.code, 'code', html`autocomplete="one-time-code" maxlength="40" autofocus`)}
      <p class="quiet">${texts.codeHint}</p>
      <button>${texts.signIn}</button>
    </form>`;
  sendPage(ctx, { status, title: texts.secondStep, body, query: { next } });
}

type SignIn = { next: string; email?: string; status?: number; wrong?: string; prefetched?: readonly string[] };

function sendSignIn(ctx: Context, { next, email = '', wrong, ...page }: SignIn): void {
  const texts = textsFor(ctx);
  const signUp = html` · <a href="/sign-up">${texts.signUp}</a>`;
  const ended = ctx.query['ended'] === undefined ? null : html`<p role="status">${texts.sessionEnded}</p>`;
  const [ofEmail, ofPassword] = email === '' ? [html`autofocus`, null] : [null, html`autofocus`];
  const body = html`${ended}${problem(wrong)}
    <form method="post" action="${SIGN_IN_PATH}">
      <input type="hidden" name="next" value="${next}" />
      ${field(texts.email, 'email', html`type="email" autocomplete="username" value="${email}" ${ofEmail}`)}
      ${field(texts.password, 'password', html`type="password" autocomplete="current-password" ${ofPassword}`)}
      <button>${texts.signIn}</button>
    </form>
    <form method="post" action="${PASSKEY_PATH}" id="passkey" data-options="${PASSKEY_OPTIONS_PATH}" hidden>
      <input type="hidden" name="next" value="${next}" />
      <button class="second">${texts.signInWithPasskey}</button>
      <p class="bad" role="alert" hidden>${texts.noPasskey}</p>
    </form>
    <p class="quiet"><a href="/forgot">${texts.forgot}</a>${isConsole(ctx) ? null : signUp}</p>`;
  sendPage(ctx, { ...page, title: texts.signIn, body, query: { next } });
}
