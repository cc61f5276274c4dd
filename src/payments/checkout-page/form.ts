import type { Context } from 'koa';

import { readBody } from '../../lib/body.ts';
import { AppError } from '../../lib/errors.ts';

const FORM_BYTES_MAX = 4_096;
const CONTENT_TYPE_CHARACTERS_MAX = 200;

/** A posted form. Throws UNSUPPORTED_MEDIA_TYPE and PAYLOAD_TOO_LARGE. */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  const isShort = ctx.get('content-type').length <= CONTENT_TYPE_CHARACTERS_MAX;
  if (!isShort || !ctx.is('application/x-www-form-urlencoded')) {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'This page takes forms: application/x-www-form-urlencoded');
  }
  const body = await readBody(ctx.req.iterator({ destroyOnReturn: false }), FORM_BYTES_MAX);
  if (body === null) {
    // What is left unread of it would be taken for the next request.
    ctx.set('Connection', 'close');
    throw new AppError('PAYLOAD_TOO_LARGE', `A form may have at most ${FORM_BYTES_MAX} bytes`);
  }
  return new URLSearchParams(body.toString());
}
