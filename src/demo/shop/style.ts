import { FONT_FACE } from '../../lib/ethiopic-font.ts';

export const STYLE = `${FONT_FACE}
:root{color-scheme:light dark;--ground:#fbf5ec;--card:#fff;--ink:#2b1b12;--quiet:#6a5547;--line:#b39d8b;--brand:#7a3b12;--on-brand:#fff;--soft:#f3e4d2;font:1rem/1.5 "Noto Sans Ethiopic",system-ui,sans-serif}
@media (prefers-color-scheme:dark){:root{--ground:#18110c;--card:#241a13;--ink:#f7ede3;--quiet:#cbb7a6;--line:#8b7564;--brand:#f0a868;--on-brand:#2b1503;--soft:#3a291c}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);overflow-wrap:anywhere}
header,main{max-width:64rem;margin:0 auto;padding:0 1rem}
header{display:flex;align-items:center;justify-content:space-between;gap:1rem;padding-block:.75rem}
.name{font-size:1.25rem;font-weight:700;color:inherit;text-decoration:none}
a{color:var(--brand)}
header a{padding:.375rem 0}
main{padding-bottom:3rem}
h1{font-size:1.75rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.25rem;margin:2rem 0 .75rem}
.lead,.quiet{color:var(--quiet)}
.lead{max-width:40rem;margin:0}
.quiet{font-size:.875rem}
.menu{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,15rem),1fr));gap:1rem;list-style:none;margin:0;padding:0}
.item,.box{background:var(--card);border:1px solid transparent;border-radius:1rem;box-shadow:0 1px 2px #0002,0 8px 24px -14px #0004;overflow:hidden}
.item svg{display:block;width:100%;height:8.5rem;background:var(--soft);color:var(--brand)}
.item div,.box{padding:1rem}
.item h3{margin:0;font-size:1rem}
.price{font-size:1.25rem;font-weight:700;margin:.25rem 0 .75rem;font-variant-numeric:tabular-nums}
button,.button{display:inline-flex;align-items:center;justify-content:center;min-height:2.75rem;padding:.375rem 1.25rem;font:inherit;font-weight:600;text-decoration:none;border:1px solid transparent;border-radius:.625rem;background:var(--brand);color:var(--on-brand);cursor:pointer}
.item button{width:100%}
.modes{display:flex;flex-wrap:wrap;gap:.5rem}
.modes button{background:none;color:var(--ink);border-color:var(--line)}
.modes button[aria-pressed=true]{background:var(--ink);color:var(--ground)}
:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
.log{list-style:none;margin:0;padding:0}
.log li{padding:.625rem 0;border-top:1px solid var(--line)}
.log li:first-child{border-top:0}
.log p{margin:0}
@media (forced-colors:active){.modes button[aria-pressed=true]{border-width:3px}}
`;

/** Drawings of the goods, in the colour of the text around them. */
export const DRAWINGS = {
  macchiato:
    '<path d="M70 45h60v35a30 30 0 0 1-60 0zM130 52h8a14 14 0 0 1 0 28h-10M60 118h80M84 34c-6-8 6-12 0-20M104 34c-6-8 6-12 0-20"/>',
  buna: '<path d="M88 62c-28 10-34 52-4 56h32c30-4 24-46-4-56V34H88zM112 44l26-14M88 70c-26-8-36 16-14 26M92 34c0-12 16-12 16 0"/>',
  beans:
    '<path d="M72 36h56l6 82H66zM72 36l6-14h44l6 14M100 62c-18 8-18 32 0 40 18-8 18-32 0-40zM100 62c-6 14 6 26 0 40"/>',
} as const;

/** Refreshes the parts of the page that change, while it is seen. */
export const SCRIPT = `setInterval(async () => {
  if (document.hidden) return;
  for (const part of document.querySelectorAll('[data-live]')) {
    const answer = await fetch(part.dataset.live).catch(() => null);
    const text = answer?.ok ? await answer.text() : null;
    if (text === null || text === part.dataset.text) continue;
    part.dataset.text = text;
    part.replaceChildren(...new DOMParser().parseFromString(text, 'text/html').body.childNodes);
  }
}, 2000);`;
