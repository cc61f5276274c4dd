import type { Language } from '../../http/language.ts';
import { sha256 } from '../../lib/crypto.ts';
import { html, markup, type Html } from '../../lib/html.ts';
import { SCRIPT } from './script.ts';
import { STYLE } from './style.ts';
import { interpolate, textsOf } from './translations.ts';

const hashOf = (text: string): string => `'sha256-${sha256(text).toString('base64')}'`;

/** No foreign resources, no framing; the one style sheet and the one script are allowed by their hashes. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src ${hashOf(STYLE)}`,
    `script-src ${hashOf(SCRIPT)}`,
    "font-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export type PageFrame = {
  language: Language;
  title: string;
  /** The content of `main`. */
  body: Html;
  /** Attributes of `main`, which the script reads. */
  data?: Html | null;
  /** Whether the ribbon about test payments is shown. */
  test?: boolean;
  /** The address of the page, for the link to the other language. */
  page?: string;
  /** Whether the page reloads itself where there is no script. */
  refreshes?: boolean;
  footer?: Html;
};

const REFRESH_SECONDS = 10;

/** A whole page as text. */
export function renderPage({ language, title, body, data, test, page, refreshes, footer }: PageFrame): string {
  const texts = textsOf(language);
  const other = language === 'en' ? 'am' : 'en';
  const refresh = html`<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}" /></noscript>`;
  const choice = html`<a href="${page ?? ''}?lang=${other}" lang="${other}" hreflang="${other}"
    >${texts.otherLanguage}</a
  >`;
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        <meta name="color-scheme" content="light dark" />
        ${refreshes ? refresh : null}
        <title>${title}</title>
        ${markup(`<style>${STYLE}</style>`)}
      </head>
      <body>
        <header>
          ${test ? html`<p class="ribbon">${texts.testRibbon}</p>` : null} ${page === undefined ? null : choice}
        </header>
        <p id="live" role="status" class="unseen"></p>
        <main ${data ?? null}>${body}</main>
        ${footer ? html`<footer>${footer}</footer>` : null} ${markup(`<script>${SCRIPT}</script>`)}
      </body>
    </html>`.text;
}

export type Notice = 'invalid' | 'foreign' | 'busy' | 'suspended';

/** A page without facts of any session. `seconds`: after which the request may be repeated. */
export function renderNotice(language: Language, notice: Notice, seconds = ''): string {
  const texts = textsOf(language);
  const title = texts[`${notice}Title`];
  const body = html`<h1>${title}</h1>
    <p>${interpolate(texts[notice], { seconds })}</p>`;
  return renderPage({ language, title, body });
}
