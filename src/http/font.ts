import type { Context } from 'koa';

import { FONT, FONT_CACHED } from '../lib/ethiopic-font.ts';

/** Responds with the font for Ethiopic letters, which browsers keep for a year. */
export function sendFont(ctx: Context): void {
  ctx.set('Cache-Control', FONT_CACHED);
  ctx.type = 'font/woff2';
  ctx.body = FONT;
}
