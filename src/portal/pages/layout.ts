import type { Context } from 'koa';

import type { Audience } from '../../access/users/sessions.ts';
import { html, type Html } from '../../lib/html.ts';
import { isLanguage, textsOf, type Language } from './translations.ts';

/** The policy of all pages of people. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The headers of every page; pages are not stored. */
export const PAGE_HEADERS = { 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-store' };

export const STYLE_PATH = '/sign-in.css';

type Page = { status?: number; title: string; body: Html; isWide?: boolean };

/** Whether a page is of the operators' console, as its router has noted. */
export const isConsole = ({ state }: Context): boolean => (state as { audience?: Audience }).audience === 'console';

/** Sends a page in the language of the visitor. */
export function sendPage(ctx: Context, { status = 200, title, body, isWide = false }: Page): void {
  const language = languageOf(ctx);
  const other = language === 'en' ? 'am' : 'en';
  const query = new URLSearchParams({ ...ctx.query, lang: other });
  const name = isConsole(ctx) ? `Meskot · ${textsOf(language).console}` : 'Meskot';
  ctx.status = status;
  ctx.set(PAGE_HEADERS);
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${STYLE_PATH}" />
        <title>${title} – ${name}</title>
      </head>
      <body class="${isConsole(ctx) ? 'console' : ''}">
        <header>
          <span>${name}</span>
          <a href="?${query.toString()}" lang="${other}" hreflang="${other}">${textsOf(language).otherLanguage}</a>
        </header>
        <main class="${isWide ? 'wide' : ''}">
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.text;
}

const LANGUAGE_COOKIE = 'meskot_language';
const LANGUAGE_MS = 365 * 24 * 60 * 60 * 1_000;

/** The language that the visitor has chosen, now or earlier; else the best that the browser accepts. */
export function languageOf(ctx: Context): Language {
  const chosen = [ctx.query['lang'], ctx.cookies.get(LANGUAGE_COOKIE)].find(isLanguage);
  const accepted = ctx.acceptsLanguages('en', 'am');
  return chosen ?? (isLanguage(accepted) ? accepted : 'en');
}

/** Remembers the language of `?lang=`. */
export function rememberLanguage(ctx: Context, isSecure: boolean): void {
  const { lang } = ctx.query;
  if (!isLanguage(lang)) return;
  const lifetime = `Max-Age=${LANGUAGE_MS / 1_000}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  ctx.append('Set-Cookie', `${LANGUAGE_COOKIE}=${lang}; Path=/; ${lifetime}`);
}

/** A labelled field of a form. */
export function field(label: string, name: string, attributes: Html = html``): Html {
  return html`<label for="${name}">${label}</label><input id="${name}" name="${name}" required ${attributes} />`;
}

/** The problem with what was sent, announced by screen readers. */
export const problem = (text: string | undefined): Html | null =>
  text === undefined ? null : html`<p class="bad" role="alert">${text}</p>`;
