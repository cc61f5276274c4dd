import type { Context } from 'koa';

import { PASSWORD_CHARACTERS, passwordIssue } from '../../access/users/passwords.ts';
import { emailText } from '../../lib/fields.ts';
import { html, type Html } from '../../lib/html.ts';
import { field, sendPage } from './layout.ts';
import { SIGN_IN_PATH } from './session.ts';
import { textsFor } from './translations.ts';

const EMAIL_CHARACTERS_MAX = 254;

/** The e-mail address of a form. */
export function emailOf(form: URLSearchParams): string {
  return (form.get('email') ?? '').trim().slice(0, EMAIL_CHARACTERS_MAX);
}

/** Whether a text can be an e-mail address. */
export const isEmail = (text: string): boolean => emailText().safeParse(text).success;

/** The field for a new password. */
export function passwordField(ctx: Context): Html {
  const texts = textsFor(ctx);
  const { min, max } = PASSWORD_CHARACTERS;
  return html`${field(
      texts.newPassword,
      'password',
      html`type="password" autocomplete="new-password" minlength="${min}" maxlength="${max}"`,
    )}
    <p class="quiet">${texts.passwordHint}</p>`;
}

/** Why a new password cannot be taken, in words. */
export function passwordProblem(ctx: Context, password: string, about: readonly string[]): string | undefined {
  const issue = passwordIssue(password, about);
  return issue === null ? undefined : textsFor(ctx)[issue === 'common' ? 'passwordCommon' : 'passwordLength'];
}

/** A page with one sentence. */
export function sendNotice(ctx: Context, text: 'linkSent' | 'passwordChanged', more: Html | null = null): void {
  const texts = textsFor(ctx);
  sendPage(ctx, {
    title: texts[`${text}Title`],
    body: html`<p>${texts[text]}</p>
      ${more}`,
  });
}

/** For a link that was used, has expired or never existed. */
export function sendOutdated(ctx: Context): void {
  const texts = textsFor(ctx);
  const body = html`<p>${texts.outdated}</p>
    <p><a href="${SIGN_IN_PATH}">${texts.signIn}</a></p>`;
  sendPage(ctx, { status: 404, title: texts.outdatedTitle, body });
}
