import { FONT_FACE } from '../../lib/ethiopic-font.ts';

/** The page's style sheet. Borders that are transparent appear where the system forces its colours. */
export const STYLE = `${FONT_FACE}
:root{color-scheme:light dark;--ground:#eef2f0;--card:#fff;--ink:#14211b;--quiet:#4a5a52;--line:#8a9992;--brand:#065f46;--on-brand:#fff;--soft:#e3f1ea;--bad:#9b1c1c;--bad-soft:#fdecec;font:1rem/1.45 "Noto Sans Ethiopic",system-ui,sans-serif}
@media (prefers-color-scheme:dark){:root{--ground:#0e1512;--card:#18221e;--ink:#edf5f1;--quiet:#b3c2bb;--line:#728279;--brand:#4ade9f;--on-brand:#04251a;--soft:#1c3529;--bad:#fda4a4;--bad-soft:#401a1c}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);overflow-wrap:anywhere}
header,footer,main{max-width:26rem;margin:0 auto;padding:0 1rem}
header{display:flex;align-items:center;gap:.75rem;min-height:3rem;padding-block:.375rem}
header a{margin-left:auto;padding:.375rem .25rem;white-space:nowrap}
footer{padding-block:1rem;font-size:.875rem;color:var(--quiet)}
footer p{margin:.25rem 0}
.ribbon{margin:0;padding:.25rem .625rem;border-radius:.375rem;border:1px solid transparent;background:#92400e;color:#fff;font-size:.875rem;font-weight:600}
main{background:var(--card);border:1px solid transparent;border-radius:1rem;padding:1rem 1.125rem 1.25rem;box-shadow:0 1px 2px #0002,0 8px 24px -12px #0003}
h1{font-size:1.25rem;line-height:1.3;margin:0 0 .25rem}
h2,legend,label.name{font-size:1rem;font-weight:600;padding:0;margin:0}
p{margin:.5rem 0}
a{color:var(--brand)}
.shop{display:flex;align-items:center;gap:.625rem}
.shop img{width:2.5rem;height:2.5rem;object-fit:contain;border-radius:.5rem;background:#fff}
.amount{font-size:1.875rem;line-height:1.2;font-weight:700;margin:0;font-variant-numeric:tabular-nums}
.sum{display:grid;grid-template-columns:1fr auto;align-items:center;column-gap:1rem;border:1px solid var(--line);border-radius:.625rem;padding:.625rem .75rem;margin:.75rem 0}
.sum p{margin:0}
.sum .amount{grid-column:2;grid-row:1/span 2;font-size:1.25rem}
.quiet{color:var(--quiet);font-size:.875rem}
.note{border-left:.25rem solid var(--brand);background:var(--soft);border-radius:.375rem;padding:.5rem .75rem}
.bad{border-left:.25rem solid var(--bad);background:var(--bad-soft);color:var(--bad);border-radius:.375rem;padding:.5rem .75rem}
.error{color:var(--bad);font-size:.875rem;font-weight:600;margin:.25rem 0}
fieldset{border:0;padding:0;margin:.625rem 0;min-width:0}
.choice{display:flex;gap:.625rem;align-items:center;min-height:2.75rem;border:1px solid var(--line);border-radius:.625rem;padding:.25rem .75rem;margin:.375rem 0;cursor:pointer}
.choice:has(:checked){border-color:var(--brand);background:var(--soft);box-shadow:inset 0 0 0 1px var(--brand)}
.choice.off{color:var(--quiet);border-style:dashed;min-height:2.25rem;cursor:default}
input{accent-color:var(--brand)}
input[type=radio]{width:1.125rem;height:1.125rem;margin:0;flex:none}
input[type=tel]{width:100%;min-height:2.875rem;font:inherit;font-size:1.125rem;color:inherit;background:var(--card);padding:.375rem .75rem;border:1px solid var(--line);border-radius:.625rem;margin-top:.25rem}
[aria-invalid=true]{border-color:var(--bad)!important}
button,.button{display:flex;align-items:center;justify-content:center;width:100%;min-height:2.875rem;font:inherit;font-weight:600;text-align:center;text-decoration:none;padding:.5rem 1rem;margin-top:.625rem;border:1px solid transparent;border-radius:.625rem;background:var(--brand);color:var(--on-brand);cursor:pointer}
.second{background:none;color:var(--brand);border-color:var(--line)}
.leave{display:block;text-align:center;color:var(--quiet);padding:.625rem;margin:.375rem 0 0}
button:disabled{background:var(--line);color:var(--card);cursor:default}
[aria-busy=true]{opacity:.6;cursor:progress}
:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
.unseen{position:absolute;width:1px;height:1px;margin:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
[hidden]{display:none!important}
details{margin-top:.75rem}
summary{padding:.375rem 0;cursor:pointer}
table{width:100%;font-size:.875rem;border-collapse:collapse}
td{padding:.25rem .75rem .25rem 0;vertical-align:top}
td:first-child{white-space:nowrap}
dl{display:grid;grid-template-columns:auto 1fr;gap:.375rem .875rem;margin:.875rem 0}
dt{color:var(--quiet)}
dd{margin:0;text-align:right;font-weight:600}
.qr{text-align:center;color:var(--quiet);font-size:.875rem}
.qr svg{display:block;width:100%;max-width:15rem;margin:.75rem auto .25rem;border-radius:.5rem;background:#fff;forced-color-adjust:none}
.wide{display:none}
.spinner{width:1.75rem;height:1.75rem;border:.25rem solid var(--soft);border-top-color:var(--brand);border-radius:50%;animation:turn 1s linear infinite;flex:none}
.tick{width:3rem;height:3rem;border-radius:50%;background:var(--brand);color:var(--on-brand);display:grid;place-content:center;font-size:1.75rem;line-height:1;margin:.25rem 0 .5rem;border:1px solid transparent}
.head{display:flex;align-items:center;gap:.75rem}
@keyframes turn{to{transform:rotate(1turn)}}
@media (prefers-reduced-motion:reduce){.spinner{animation:none}}
@media (min-width:48rem){body{padding-top:2rem}.columns{display:grid;grid-template-columns:1fr 15rem;gap:2rem}.wide{display:block}body:has(.columns) :is(header,main,footer){max-width:44rem}}
@media (forced-colors:active){.choice:has(:checked){border-width:3px}.spinner{border-top-color:Highlight}}
@media print{body,main{background:#fff;color:#000}main{box-shadow:none}header a,button,.button,.qr,[data-return],.leave{display:none!important}}
`;
