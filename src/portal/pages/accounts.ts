import type Router from '@koa/router';
import type { Context } from 'koa';

import { createKey } from '../../access/api-keys.ts';
import { recordMerchantAudit } from '../../access/merchant-audit.ts';
import { sessionOf } from '../../access/users/identify.ts';
import { switchMerchant } from '../../access/users/sessions.ts';
import { createToken, findToken, useToken, type UserToken } from '../../access/users/tokens.ts';
import { createUser, findUserByEmail, setMembership } from '../../access/users/users.ts';
import { readOwnForm } from '../../http/forms.ts';
import { languageOf } from '../../http/language.ts';
import type { RequestState } from '../../http/pipeline.ts';
import { html, type Html } from '../../lib/html.ts';
import { onboardMerchant, readMerchant } from '../../merchants/operations.ts';
import { enqueueMail } from '../../outbox/mail.ts';
import { signUpMail } from '../mails.ts';
import { field, problem, sendPage, shownOnce } from './layout.ts';
import { emailOf, isEmail, passwordField, passwordProblem, sendNotice, sendOutdated } from './parts.ts';
import { beginSession, seeOther, SIGN_IN_PATH, signInPath, type PageDeps } from './session.ts';
import { textsFor } from './translations.ts';

const SIGN_UP_PATH = '/sign-up';
const CONFIRM_PATH = '/sign-up/confirm';
const INVITATION_PATH = '/invitation';
const NAME_CHARACTERS_MAX = 100;

/** Sign-up of a merchant: the address is confirmed by mail before an account exists, so nobody takes somebody else's. */
export function addSignUp(router: Router, deps: PageDeps): void {
  router.get(SIGN_UP_PATH, (ctx) => sendSignUp(ctx, { email: '', name: '', businessName: '' }));

  router.post(SIGN_UP_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.site.url);
    const email = emailOf(form);
    const [name, businessName] = [textOf(form, 'name'), textOf(form, 'businessName')];
    if (!isEmail(email) || name === '' || businessName === '') {
      return sendSignUp(ctx, { email, name, businessName, isIncomplete: true });
    }
    await deps.limits.countSignIn(ctx, `sign-up ${email.toLowerCase()}`);
    await deps.runInTransaction(async ({ trx }) => {
      const wanted = { purpose: 'sign-up', email, details: { name, businessName } } as const;
      const { token } = await createToken(trx, wanted, deps.clock());
      const link = `${deps.site.url}${CONFIRM_PATH}?${new URLSearchParams({ token }).toString()}`;
      const isKnown = (await findUserByEmail(trx, email)) !== undefined;
      const text = signUpMail(languageOf(ctx), isKnown ? null : link, `${deps.site.url}${SIGN_IN_PATH}`);
      await enqueueMail(trx, deps.keyRing, { recipient: email, ...text });
    });
    sendNotice(ctx, 'linkSent');
  });

  router.get(CONFIRM_PATH, async (ctx) => {
    const token = String(ctx.query['token'] ?? '');
    if (!(await findToken(deps.db, { purpose: 'sign-up', token, at: deps.clock() }))) return sendOutdated(ctx);
    sendNewAccount(ctx, { path: CONFIRM_PATH, token });
  });

  router.post(CONFIRM_PATH, async (ctx) => confirmSignUp(deps, ctx));
}

type SignUp = { email: string; name: string; businessName: string; isIncomplete?: boolean };

function sendSignUp(ctx: Context, { email, name, businessName, isIncomplete = false }: SignUp): void {
  const texts = textsFor(ctx);
  const body = html`${problem(isIncomplete ? texts.incomplete : undefined)}
    <form method="post" action="${SIGN_UP_PATH}">
      ${field(texts.businessName, 'businessName', html`autocomplete="organization" maxlength="${NAME_CHARACTERS_MAX}" value="${businessName}"`)}
      ${nameField(texts.name, name)}
      ${field(texts.email, 'email', html`type="email" autocomplete="username" value="${email}"`)}
      <button>${texts.sendLink}</button>
    </form>
    <p class="quiet"><a href="${SIGN_IN_PATH}">${texts.signIn}</a></p>`;
  sendPage(ctx, { status: isIncomplete ? 400 : 200, title: texts.signUp, body });
}

/** Who makes a change by a page, for the audit log. */
function requestOf(ctx: Context, { id: actor }: { id: string }, occurredAt: Date) {
  const { requestId } = ctx.state as RequestState;
  return { actor, address: ctx.ip, requestId, occurredAt };
}

type NewAccount = { path: string; token: string; wrong?: string | undefined; more?: Html | null };

/** Asks for the password of a new account. */
export function sendNewAccount(ctx: Context, { path, token, wrong, more = null }: NewAccount): void {
  const texts = textsFor(ctx);
  const body = html`${problem(wrong)}
    <form method="post" action="${path}">
      <input type="hidden" name="token" value="${token}" />
      ${more} ${passwordField(ctx)}
      <button>${texts.createAccount}</button>
    </form>`;
  sendPage(ctx, { status: wrong === undefined ? 200 : 400, title: texts.signUp, body, query: { token } });
}

async function confirmSignUp(deps: PageDeps, ctx: Context): Promise<void> {
  const form = await readOwnForm(ctx, deps.site.url);
  const [token, password, at] = [form.get('token') ?? '', form.get('password') ?? '', deps.clock()];
  const presented = { purpose: 'sign-up', token, at } as const;
  const found = await findToken(deps.db, presented);
  if (!found?.email || !found.details) return sendOutdated(ctx);
  const { email, details } = found;
  const wrong = passwordProblem(ctx, password, [email, details.name]);
  if (wrong) return sendNewAccount(ctx, { path: CONFIRM_PATH, token, wrong });
  const created = await deps.runInTransaction(async (tx) => {
    const { trx } = tx;
    if (!(await useToken(trx, presented)) || (await findUserByEmail(trx, email))) return null;
    const user = await createUser(trx, { email, name: details.name, password });
    const { id: merchantId } = await onboardMerchant(trx, { name: details.businessName });
    await setMembership(trx, { userId: user.id, merchantId, role: 'owner' });
    const key = { merchantId, environment: 'sandbox', kind: 'secret', createdBy: user.id } as const;
    const made = await createKey({ trx, pepper: deps.pepper, clock: () => at }, key);
    const after = { name: made.key.name, kind: made.key.kind };
    const change = { action: 'key.create', resourceId: made.key.id, before: null, after } as const;
    await recordMerchantAudit(tx, { ...requestOf(ctx, user, at), ...change, merchantId, environment: 'sandbox' });
    return { user, ...made };
  });
  if (!created) return sendOutdated(ctx);
  await beginSession(deps, ctx, created.user);
  const texts = textsFor(ctx);
  const call = `curl -H "x-api-key: ${created.secret}" "${new URL('/api/checkout/channels', deps.apiUrl).href}"`;
  const body = html`<p>${texts.firstKey}</p>
    ${shownOnce(created.secret, texts)}
    <p class="quiet">${texts.shownOnce}</p>
    <p>${texts.tryIt}</p>
    ${shownOnce(call, texts)}
    <p><a href="/test/get-started">${texts.goOn}</a></p>`;
  sendPage(ctx, { status: 201, title: details.businessName, body });
}

/** An invitation to a merchant: for a new account, or for the account of the address, which has to be signed in. */
export function addInvitation(router: Router, deps: PageDeps): void {
  const find = (token: string) => findToken(deps.db, { purpose: 'invitation', token, at: deps.clock() });

  router.get(INVITATION_PATH, async (ctx) => {
    const found = await find(String(ctx.query['token'] ?? ''));
    if (!found) return sendOutdated(ctx);
    await sendInvitation(deps, ctx, { found, token: String(ctx.query['token']) });
  });

  router.post(INVITATION_PATH, async (ctx) => {
    const form = await readOwnForm(ctx, deps.site.url);
    const token = form.get('token') ?? '';
    const found = await find(token);
    if (!found?.email || !found.merchantId || !found.role) return sendOutdated(ctx);
    const { email, merchantId, role, createdBy: invitedBy } = found;
    const existing = await findUserByEmail(deps.db, email);
    const session = await sessionOf(deps, ctx);
    if (existing && session?.userId !== existing.id) return sendInvitation(deps, ctx, { found, token });
    const [name, password] = [textOf(form, 'name'), form.get('password') ?? ''];
    const texts = textsFor(ctx);
    const wrong = existing ? undefined : name === '' ? texts.incomplete : passwordProblem(ctx, password, [email, name]);
    if (wrong !== undefined) return sendInvitation(deps, ctx, { found, token, wrong, name });
    const accepted = await deps.runInTransaction(async (tx) => {
      const { trx } = tx;
      if (!(await useToken(trx, { purpose: 'invitation', token, at: deps.clock() }))) return null;
      const user = existing ?? (await createUser(trx, { email, name, password }));
      await setMembership(trx, { userId: user.id, merchantId, role, invitedBy });
      const change = { action: 'member.join', resourceId: user.id, before: null, after: { email, role } } as const;
      const by = requestOf(ctx, user, deps.clock());
      await recordMerchantAudit(tx, { ...by, ...change, merchantId, environment: null });
      if (session && existing) await switchMerchant(trx, { sessionId: session.id, userId: user.id, merchantId });
      return user;
    });
    if (!accepted) return sendOutdated(ctx);
    if (!existing) await beginSession(deps, ctx, accepted);
    seeOther(ctx, '/');
  });
}

type Invitation = { found: UserToken; token: string; wrong?: string; name?: string };

async function sendInvitation(deps: PageDeps, ctx: Context, { found, token, wrong, name = '' }: Invitation) {
  const texts = textsFor(ctx);
  const merchant = await readMerchant(deps.db, found.merchantId ?? '');
  const existing = await findUserByEmail(deps.db, found.email ?? '');
  const session = existing && (await sessionOf(deps, ctx));
  const about = html`<p>${merchant.name} · ${found.role ?? ''} · ${found.email ?? ''}</p>`;
  const next = `${INVITATION_PATH}?${new URLSearchParams({ token }).toString()}`;
  const isSignedIn = existing !== undefined && session?.userId === existing.id;
  const fields = existing ? null : html`${nameField(texts.name, name)} ${passwordField(ctx)}`;
  const form = html`<form method="post" action="${INVITATION_PATH}">
    <input type="hidden" name="token" value="${token}" />
    ${fields}
    <button>${texts.accept}</button>
  </form>`;
  const signIn = html`<p>${texts.signInToAccept}</p>
    <p><a href="${signInPath(next)}">${texts.signIn}</a></p>`;
  const body = html`${problem(wrong)}${about}${existing && !isSignedIn ? signIn : form}`;
  sendPage(ctx, { status: wrong === undefined ? 200 : 400, title: texts.invitation, body, query: { token } });
}

/** The field of a person's name, which keeps what was typed. */
const nameField = (label: string, name: string): Html =>
  field(label, 'name', html`autocomplete="name" maxlength="${NAME_CHARACTERS_MAX}" value="${name}"`);

const textOf = (form: URLSearchParams, name: string): string =>
  (form.get(name) ?? '')
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, NAME_CHARACTERS_MAX);
