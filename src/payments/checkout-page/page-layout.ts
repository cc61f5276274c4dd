import { sha256 } from '../../lib/crypto.ts';
import { html, markup, type Html } from '../../lib/html.ts';
import { TEXTS, type Language } from './translations.ts';

const STYLE = `
:root{color-scheme:light dark;font:1rem/1.5 system-ui,sans-serif}
body{margin:0;background:#f3f4f6;color:#111827}
main{max-width:26rem;margin:0 auto;padding:1.5rem 1rem}
.card{background:#fff;border-radius:.75rem;padding:1.25rem;box-shadow:0 1px 3px #0003}
.ribbon{background:#92400e;color:#fff;text-align:center;padding:.4rem;font-weight:600}
.amount{font-size:2rem;font-weight:700;margin:.25rem 0}
.quiet{color:#4b5563;font-size:.9rem}
.alert{background:#fef2f2;color:#991b1b;border-radius:.5rem;padding:.75rem}
fieldset{border:0;padding:0;margin:1rem 0}
legend,.label{font-weight:600;padding:0}
.choice{display:flex;gap:.6rem;align-items:center;border:1px solid #9ca3af;border-radius:.5rem;padding:.7rem;margin:.5rem 0}
.choice.off{color:#6b7280;border-style:dashed}
input[type=tel]{width:100%;box-sizing:border-box;font:inherit;padding:.7rem;border:1px solid #6b7280;border-radius:.5rem}
button,.button{display:block;width:100%;box-sizing:border-box;text-align:center;font:inherit;font-weight:600;padding:.8rem;margin-top:1rem;border:0;border-radius:.5rem;background:#065f46;color:#fff;text-decoration:none;cursor:pointer}
button.plain{background:none;color:#374151;text-decoration:underline;font-weight:400}
table{width:100%;font-size:.85rem;border-collapse:collapse}td{padding:.2rem .4rem .2rem 0;vertical-align:top}
.qr{max-width:12rem;margin:1rem auto 0}
a{color:#065f46}
@media (prefers-color-scheme:dark){body{background:#111827;color:#f3f4f6}.card{background:#1f2937}.quiet{color:#d1d5db}button.plain{color:#e5e7eb}.choice.off{color:#9ca3af}a{color:#6ee7b7}a.button{color:#fff}.alert{background:#7f1d1d;color:#fee2e2}.qr{background:#fff;padding:.5rem}}
`;

/** No script, no foreign resources, no framing; the one style sheet is allowed by its hash. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${sha256(STYLE).toString('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

export type PageFrame = {
  language: Language;
  title: string;
  body: Html;
  /** Whether the ribbon about test payments is shown. */
  test?: boolean;
  /** When the page reloads. */
  refreshSeconds?: number;
  /** The address of the same page in the other language. */
  otherLanguageHref?: string;
};

/** A whole page as text. */
export function renderPage(frame: PageFrame): string {
  const texts = TEXTS[frame.language];
  const other = frame.language === 'en' ? 'am' : 'en';
  const page = html`<!doctype html>
    <html lang="${frame.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${frame.refreshSeconds === undefined ? null : html`<meta http-equiv="refresh" content="${frame.refreshSeconds}" />`}
        <title>${frame.title}</title>
        ${markup(`<style>${STYLE}</style>`)}
      </head>
      <body>
        ${frame.test ? html`<div class="ribbon">${texts.testRibbon}</div>` : null}
        <main>
          <div class="card">${frame.body}</div>
          ${
            frame.otherLanguageHref === undefined
              ? null
              : html`<p class="quiet">
                  <a href="${frame.otherLanguageHref}" lang="${other}">${texts.otherLanguage}</a>
                </p>`
          }
        </main>
      </body>
    </html>`;
  return page.text;
}
