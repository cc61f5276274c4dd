import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import type { Context } from 'koa';

import { sha256 } from './crypto.ts';

const file = '@fontsource/noto-sans-ethiopic/files/noto-sans-ethiopic-ethiopic-400-normal.woff2';
const FONT = readFileSync(createRequire(import.meta.url).resolve(file));

/** Responds with the font for Ethiopic letters as WOFF2, which browsers keep for a year. */
export function sendFont(ctx: Context): void {
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.type = 'font/woff2';
  ctx.body = FONT;
}

/** The address of the font, below the root of each listener that has pages; it changes with the file. */
export const FONT_PATH = `/fonts/noto-sans-ethiopic-${sha256(FONT).toString('hex').slice(0, 8)}.woff2`;

/**
 * The rule for style sheets. Browsers load the file only for a page with Ethiopic characters, and only where the system has
 * no such font; the text is shown meanwhile. Headings get the same file, emboldened by the browser.
 */
export const FONT_FACE =
  '@font-face{font-family:"Noto Sans Ethiopic";font-display:swap;unicode-range:U+1200-139F,U+2D80-2DDF,U+AB00-AB2F;' +
  'src:local("Noto Sans Ethiopic"),local("NotoSansEthiopic-Regular"),local("Nyala"),local("Kefa"),local("Abyssinica SIL"),' +
  `url("${FONT_PATH}") format("woff2")}`;
