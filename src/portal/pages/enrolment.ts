import type Router from '@koa/router';
import type { Context } from 'koa';
import QRCode from 'qrcode';

import { findActiveOperator } from '../../access/operators.ts';
import { OPERATOR_INVITATION_PATH } from '../../access/users/operator-invitation.ts';
import { endSessions } from '../../access/users/sessions.ts';
import { createToken, findToken, useToken } from '../../access/users/tokens.ts';
import { beginTwoFactor, checkLimited, confirmTwoFactor } from '../../access/users/totp.ts';
import { createUser, findUserByEmail, type User } from '../../access/users/users.ts';
import { readOwnForm } from '../../http/forms.ts';
import { html, type Html } from '../../lib/html.ts';
import { sendNewAccount } from './accounts.ts';
import { field, problem, sendPage, shownOnce } from './layout.ts';
import { passwordProblem, sendOutdated } from './parts.ts';
import { beginSession, localPath, seeOther, SIGN_IN_PATH, signInPath, startAgain, type PageDeps } from './session.ts';
import { textsFor } from './translations.ts';

const SET_UP_PATH = '/two-factor/set-up';

/**
 * Leads an operator whose password was right, and who has no authenticator app yet, to set one up. The secret is a new one
 * each time: nobody who was signed in as this person before knows it.
 */
export async function startEnrolment(
  { runInTransaction, keyRing, clock }: PageDeps,
  ctx: Context,
  { user: { id: userId }, next }: { user: User; next: string },
): Promise<void> {
  const { secret, uri, token } = await runInTransaction(async ({ trx }) => ({
    ...(await beginTwoFactor(trx, keyRing, userId)),
    ...(await createToken(trx, { purpose: 'console-second-factor', userId }, clock())),
  }));
  const texts = textsFor(ctx);
  const picture = `data:image/svg+xml;utf8,${encodeURIComponent(await QRCode.toString(uri, { type: 'svg' }))}`;
  const app = html`<p>${texts.scan}</p>
    <p><img class="qr" src="${picture}" alt="${texts.qr}" width="220" height="220" /></p>
    <p class="quiet">${texts.orType}</p>
    <pre>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</pre>`;
  sendSetUp(ctx, { app, token, next });
}

/** The pages on which an operator sets up an authenticator app. */
export function addEnrolment(router: Router, deps: PageDeps): void {
  router.get(SET_UP_PATH, startAgain);

  router.post(SET_UP_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.site.url);
    const [token, code, next] = [form.get('token') ?? '', form.get('code') ?? '', localPath(form.get('next'))];
    const at = deps.clock();
    const presented = { purpose: 'console-second-factor', token, at } as const;
    const found = await findToken(deps.db, presented);
    if (!found?.userId) return seeOther(ctx, signInPath(next));
    const { userId } = found;
    let recoveryCodes: string[] = [];
    const isRight = await checkLimited(deps.runInTransaction, { userId, at }, async (trx, user) => {
      const codes = await confirmTwoFactor(trx, deps.keyRing, { user, code, at });
      if (codes === null) return false;
      recoveryCodes = codes;
      // Those of the portal began with a password alone, and would now be let into live.
      await endSessions(trx, userId, { at });
      return (await useToken(trx, presented)) !== null;
    });
    if (!isRight) return sendSetUp(ctx, { token, next, isWrong: true });
    await beginSession(deps, ctx, { id: userId, stepUpAt: at });
    const texts = textsFor(ctx);
    const body = html`<p>${texts.recoveryHint}</p>
      ${shownOnce(recoveryCodes.join('\n'), texts)}
      <p class="quiet">${texts.storeCodes}</p>
      <p><a href="${next}">${texts.goOnToConsole}</a></p>`;
    sendPage(ctx, { status: 201, title: texts.recoveryCodes, body });
  });
}

type SetUp = { app?: Html; token: string; next: string; isWrong?: boolean };

/** After a wrong code the secret is not shown again. */
function sendSetUp(ctx: Context, { app, token, next, isWrong = false }: SetUp): void {
  const texts = textsFor(ctx);
  const again = html`<p class="quiet"><a href="${SIGN_IN_PATH}">${texts.startAgain}</a></p>`;
  const body = html`${problem(isWrong ? texts.wrongCode : undefined)}${app ?? null}
    <form method="post" action="${SET_UP_PATH}">
      <input type="hidden" name="token" value="${token}" />
      <input type="hidden" name="next" value="${next}" />
      ${field(texts.code, 'code', html`autocomplete="one-time-code" inputmode="numeric" maxlength="7" autofocus`)}
      <button>${texts.turnOn}</button>
    </form>
    ${isWrong ? again : null}`;
  sendPage(ctx, { status: isWrong ? 401 : 200, title: texts.setUpApp, body, query: { next } });
}

/** The invitation of an operator without an account: sets the password, and leads on to the authenticator app. */
export function addOperatorInvitation(router: Router, deps: PageDeps): void {
  const read = async (token: string) => {
    const presented = { purpose: 'operator-invitation', token, at: deps.clock() } as const;
    const found = await findToken(deps.db, presented);
    const operator = found?.email && (await findActiveOperator(deps.db, found.email));
    return operator ? { operator, presented } : null;
  };

  router.get(OPERATOR_INVITATION_PATH, async (ctx) => {
    const token = String(ctx.query['token'] ?? '');
    if (!(await read(token))) return sendOutdated(ctx);
    sendNewAccount(ctx, { path: OPERATOR_INVITATION_PATH, token });
  });

  router.post(OPERATOR_INVITATION_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.site.url);
    const [token, password] = [form.get('token') ?? '', form.get('password') ?? ''];
    const found = await read(token);
    if (!found) return sendOutdated(ctx);
    const { name, email } = found.operator;
    const wrong = passwordProblem(ctx, password, [email, name]);
    if (wrong !== undefined) return sendNewAccount(ctx, { path: OPERATOR_INVITATION_PATH, token, wrong });
    const user = await deps.runInTransaction(async ({ trx }) => {
      if (!(await useToken(trx, found.presented)) || (await findUserByEmail(trx, email))) return null;
      return createUser(trx, { email, name, password });
    });
    if (!user) return sendOutdated(ctx);
    await startEnrolment(deps, ctx, { user, next: '/' });
  });
}
