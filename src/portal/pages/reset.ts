import type Router from '@koa/router';
import type { Context } from 'koa';

import { hashPassword } from '../../access/users/passwords.ts';
import { createToken, findToken, useToken } from '../../access/users/tokens.ts';
import { findUser, findUserByEmail } from '../../access/users/users.ts';
import { readOwnForm } from '../../http/forms.ts';
import { html } from '../../lib/html.ts';
import { enqueueMail } from '../../outbox/mail.ts';
import { resetMail } from '../mails.ts';
import { replacePassword } from '../replace-password.ts';
import { field, problem, sendPage } from './layout.ts';
import { emailOf, passwordField, passwordProblem, sendNotice, sendOutdated } from './parts.ts';
import { mayEnter, SIGN_IN_PATH, type PageDeps } from './session.ts';
import { textsFor } from './translations.ts';

const FORGOT_PATH = '/forgot';
const RESET_PATH = '/reset';

/** A new password by mail. */
export function addReset(router: Router, deps: PageDeps): void {
  router.get(FORGOT_PATH, (ctx) => {
    const texts = textsFor(ctx);
    const body = html`<form method="post" action="${FORGOT_PATH}">
      ${field(texts.email, 'email', html`type="email" autocomplete="username"`)}
      <button>${texts.sendLink}</button>
    </form>`;
    sendPage(ctx, { title: texts.forgot, body });
  });

  router.post(FORGOT_PATH, async (ctx) => {
    const email = emailOf(await readOwnForm(ctx, deps.site.url));
    await deps.limits.countSignIn(ctx, `forgot ${email.toLowerCase()}`);
    // Not awaited: the response takes as long for an address without an account.
    void sendReset(deps, email).catch((error: unknown) => deps.log.error({ err: error }, 'A reset was not sent'));
    sendNotice(ctx, 'linkSent');
  });

  router.get(RESET_PATH, async (ctx) => {
    const token = String(ctx.query['token'] ?? '');
    if (!(await findToken(deps.db, { purpose: 'reset', token, at: deps.clock() }))) return sendOutdated(ctx);
    sendResetForm(ctx, { token });
  });

  router.post(RESET_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.site.url);
    const [token, password, at] = [form.get('token') ?? '', form.get('password') ?? '', deps.clock()];
    const found = await findToken(deps.db, { purpose: 'reset', token, at });
    if (!found?.userId) return sendOutdated(ctx);
    const user = await findUser(deps.db, found.userId);
    const wrong = passwordProblem(ctx, password, [user.email, user.name]);
    if (wrong) return sendResetForm(ctx, { token, wrong });
    const passwordHash = await hashPassword(password);
    const isUsed = await deps.runInTransaction(async ({ trx }) => {
      if (!(await useToken(trx, { purpose: 'reset', token, at }))) return false;
      await replacePassword(trx, deps.keyRing, { user, passwordHash, at });
      return true;
    });
    if (!isUsed) return sendOutdated(ctx);
    const texts = textsFor(ctx);
    sendNotice(ctx, 'passwordChanged', html`<p><a href="${SIGN_IN_PATH}">${texts.signIn}</a></p>`);
  });
}

async function sendReset(deps: PageDeps, email: string): Promise<void> {
  const { db, runInTransaction, keyRing, site, clock } = deps;
  const user = await findUserByEmail(db, email);
  if (!user || !(await mayEnter(deps, user))) return;
  await runInTransaction(async ({ trx }) => {
    const { token } = await createToken(trx, { purpose: 'reset', userId: user.id }, clock());
    const link = `${site.url}${RESET_PATH}?${new URLSearchParams({ token }).toString()}`;
    await enqueueMail(trx, keyRing, { recipient: user.email, ...resetMail(user.language, link) });
  });
}

function sendResetForm(ctx: Context, { token, wrong }: { token: string; wrong?: string }): void {
  const texts = textsFor(ctx);
  const body = html`${problem(wrong)}
    <form method="post" action="${RESET_PATH}">
      <input type="hidden" name="token" value="${token}" />
      ${passwordField(ctx)}
      <button>${texts.setPassword}</button>
    </form>`;
  sendPage(ctx, { status: wrong === undefined ? 200 : 400, title: texts.newPassword, body, query: { token } });
}
