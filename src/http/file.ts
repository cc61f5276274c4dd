import type { Context } from 'koa';

import type { FileResponse } from './route.ts';

/** Sends a file to be saved under its name, or 304 to who has it. Names are ours: letters, digits, dots and dashes. */
export async function sendFile(ctx: Context, { file }: FileResponse): Promise<void> {
  ctx.status = 200;
  ctx.set({
    'Content-Type': file.contentType,
    'Content-Disposition': `attachment; filename="${file.name}"`,
    ETag: `"${file.sha256}"`,
    // RFC 9530
    'Repr-Digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
    'Cache-Control': 'private, no-cache',
  });
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (ctx.method === 'HEAD') ctx.body = '';
  else ctx.body = await file.open();
  ctx.type = file.contentType;
  ctx.length = file.bytes;
}
