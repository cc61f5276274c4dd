import type { Context } from 'koa';

import type { Audience } from '../../access/users/sessions.ts';
import { languageOf } from '../../http/language.ts';
import { html, type Html } from '../../lib/html.ts';
import { SCRIPT_PATH } from './script.ts';
import { textsFor } from './translations.ts';

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
/** The headers of the console's own pages, which show documents of merchants in frames. */
export const CONSOLE_HEADERS = { ...PAGE_HEADERS, 'Content-Security-Policy': `${POLICY}; frame-src 'self'` };

export const STYLE_PATH = '/sign-in.css';

type Page = {
  status?: number;
  title: string;
  body: Html;
  isWide?: boolean;
  /** What the browser loads for the pages that follow, while this one is shown. */
  prefetched?: readonly string[];
  /** The parameters with which the page is read again in the other language; by default those of its address. */
  query?: Record<string, string>;
};

/** Whether a page is of the operators' console, as its router has noted. */
export const isConsole = ({ state }: Context): boolean => (state as { audience?: Audience }).audience === 'console';

/** Sends a page in the language of the visitor. */
export function sendPage(
  ctx: Context,
  { status = 200, title, body, isWide = false, prefetched = [], query }: Page,
): void {
  const language = languageOf(ctx);
  const other = language === 'en' ? 'am' : 'en';
  const inOther = new URLSearchParams({ ...ctx.query, ...query, lang: other });
  const texts = textsFor(ctx);
  // The address of a form's result does not lead to that result again, unless the page has given its parameters.
  const otherLanguage =
    ctx.method === 'POST' && query === undefined
      ? null
      : html`<a href="?${inOther.toString()}" lang="${other}" hreflang="${other}">${texts.otherLanguage}</a>`;
  const name = isConsole(ctx) ? `Meskot · ${texts.console}` : 'Meskot';
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
        <script src="${SCRIPT_PATH}" defer></script>
        ${prefetched.map((file) => html`<link rel="prefetch" href="${file}" />`)}
        <title>${title} – ${name}</title>
      </head>
      <body class="${isConsole(ctx) ? 'console' : ''}">
        <header>
          <span>${name}</span>
          ${otherLanguage}
        </header>
        <main class="${isWide ? 'wide' : ''}">
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html>`.text;
}

/** A labelled field of a form. */
export function field(label: string, name: string, attributes: Html = html``): Html {
  return html`<label for="${name}">${label}</label><input id="${name}" name="${name}" required ${attributes} />`;
}

/** What is shown once, with a button that copies it where scripts run. */
export function shownOnce(text: string, { copy, copied }: { copy: string; copied: string }): Html {
  return html`<pre data-copy="${copy}" data-copied="${copied}">${text}</pre>`;
}

/** The problem with what was sent, announced by screen readers. */
export const problem = (text: string | undefined): Html | null =>
  text === undefined ? null : html`<p class="bad" role="alert">${text}</p>`;
