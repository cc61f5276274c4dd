import { FONT_FACE } from '../../lib/ethiopic-font.ts';

export const STYLE = `${FONT_FACE}
:root{color-scheme:light dark;--ground:#eef2f0;--card:#fff;--ink:#14211b;--quiet:#4a5a52;--line:#76857d;--brand:#065f46;--on-brand:#fff;--ops:#6d28d9;--bad:#9b1c1c;--bad-soft:#fdecec;font:1rem/1.45 "Noto Sans Ethiopic",system-ui,sans-serif}
@media (prefers-color-scheme:dark){:root{--ground:#0e1512;--card:#18221e;--ink:#edf5f1;--quiet:#b3c2bb;--line:#8a9992;--brand:#4ade9f;--on-brand:#04251a;--ops:#a78bfa;--bad:#fda4a4;--bad-soft:#401a1c}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);overflow-wrap:anywhere}
header,main{max-width:26rem;margin:0 auto;padding:1rem}
header{display:flex;justify-content:space-between;font-weight:700}
header a{font-weight:400}
.console{border-top:.5rem solid var(--ops)}
.qr{background:#fff;border-radius:.625rem;display:block}
main{background:var(--card);border:1px solid transparent;border-radius:1rem;padding:1.25rem}
main.wide{max-width:60rem}
h1{font-size:1.25rem;margin:0 0 .75rem}
p{margin:.5rem 0}
a{color:var(--brand)}
.quiet{color:var(--quiet);font-size:.875rem}
.bad{border-left:.25rem solid var(--bad);background:var(--bad-soft);color:var(--bad);border-radius:.375rem;padding:.5rem .75rem}
label{display:block;font-weight:600;margin-top:.75rem}
input{width:100%;min-height:2.75rem;font:inherit;color:inherit;background:var(--card);padding:.375rem .75rem;border:1px solid var(--line);border-radius:.625rem;margin-top:.25rem}
button{width:100%;min-height:2.75rem;font:inherit;font-weight:600;margin-top:1rem;border:1px solid transparent;border-radius:.625rem;background:var(--brand);color:var(--on-brand);cursor:pointer}
button.second{background:none;color:var(--brand);border-color:var(--line)}
[hidden]{display:none}
:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
pre{white-space:pre-wrap;background:var(--ground);padding:.75rem;border-radius:.625rem}
@media (min-width:48rem){body{padding-top:3rem}}
`;
