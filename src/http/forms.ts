import type { Context } from 'koa';

import { readBody } from '../lib/body.ts';
import { AppError } from '../lib/errors.ts';

/**
 * Whether a page of ours has sent the request. Browsers without `Sec-Fetch-Site` (Safari before 16.4) send an `Origin`,
 * which would be `null` under `Referrer-Policy: no-referrer`.
 */
export function isFromOwnPage(ctx: Context, baseUrl: string): boolean {
  const [site, origin] = [ctx.get('sec-fetch-site'), ctx.get('origin')];
  if (site !== '') return site === 'same-origin';
  return origin === new URL(baseUrl).origin || (URL.canParse(origin) && new URL(origin).host === ctx.host);
}

const FORM_BYTES_MAX = 4_096;
const CONTENT_TYPE_CHARACTERS_MAX = 200;

/** A form that a page of ours has sent. Throws INSUFFICIENT_SCOPE, UNSUPPORTED_MEDIA_TYPE and PAYLOAD_TOO_LARGE. */
export async function readOwnForm(ctx: Context, baseUrl: string): Promise<URLSearchParams> {
  requireOwnPage(ctx, baseUrl);
  return readForm(ctx);
}

/** Throws INSUFFICIENT_SCOPE where another site has sent the form. */
export function requireOwnPage(ctx: Context, baseUrl: string): void {
  if (!isFromOwnPage(ctx, baseUrl)) throw new AppError('INSUFFICIENT_SCOPE', 'The form was sent from another site.');
}

/** A posted form. Throws UNSUPPORTED_MEDIA_TYPE and PAYLOAD_TOO_LARGE. */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  const isShort = ctx.get('content-type').length <= CONTENT_TYPE_CHARACTERS_MAX;
  if (!isShort || !ctx.is('application/x-www-form-urlencoded')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The content type must be application/x-www-form-urlencoded.');
  }
  const body = await readBody(ctx.req.iterator({ destroyOnReturn: false }), FORM_BYTES_MAX);
  if (body === null) {
    // The unread rest of the body would be parsed as the next request.
    const headers = { Connection: 'close' };
    throw new AppError('PAYLOAD_TOO_LARGE', `A form may have at most ${FORM_BYTES_MAX} bytes.`, { headers });
  }
  return new URLSearchParams(body.toString());
}
