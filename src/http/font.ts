import type { Context } from 'koa';

import { FONT } from '../lib/ethiopic-font.ts';

/** Responds with the font for Ethiopic letters, which browsers keep for a year. */
export function sendFont(ctx: Context): void {
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.type = 'font/woff2';
  ctx.body = FONT;
}
