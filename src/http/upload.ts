import { createHash } from 'node:crypto';

import type { Context } from 'koa';
import { z } from 'zod';

import { readBody } from '../lib/body.ts';
import { AppError, invalid } from '../lib/errors.ts';

/** The content types and the size of the one file that a route takes in place of JSON. */
export type UploadRule = { types: readonly string[]; bytesMax: number };

const CONTENT_TYPE_CHARACTERS_MAX = 200;

/** The body of such a route. */
export const UploadedFile = z.strictObject({
  contentType: z.string().max(CONTENT_TYPE_CHARACTERS_MAX),
  bytes: z.instanceof(Buffer),
});
export type UploadedFile = z.output<typeof UploadedFile>;

/**
 * The file of a request, and a digest of it to compare repeats by. Checks its size only, and reads no more than is
 * allowed. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, and VALIDATION_ERROR for an empty one.
 */
export async function readUpload(ctx: Context, rule: UploadRule): Promise<{ body: UploadedFile; raw: string }> {
  const contentType = requireType(ctx, rule);
  if (Number(ctx.req.headers['content-length'] ?? 0) > rule.bytesMax) throw fileTooLarge(rule);
  const bytes = await readBody(ctx.req, rule.bytesMax).catch(() => {
    throw new AppError('VALIDATION_ERROR', 'The file is incomplete. Send it again.', CLOSE);
  });
  if (bytes === null) throw fileTooLarge(rule);
  if (bytes.length === 0) {
    const issue = 'must be the file itself, got nothing';
    throw invalid('body', issue, { message: `The body ${issue}.` });
  }
  return { body: { contentType, bytes }, raw: `${contentType} ${createHash('sha256').update(bytes).digest('hex')}` };
}

const CLOSE = { headers: { Connection: 'close' } };

function requireType(ctx: Context, rule: UploadRule): string {
  const given = ctx.get('content-type');
  const type = given.split(';')[0]?.trim().toLowerCase() ?? '';
  const encoding = ctx.get('content-encoding');
  if (encoding !== '' && encoding !== 'identity') {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the file without Content-Encoding.', CLOSE);
  }
  if (!rule.types.includes(type)) throw wrongFileType(rule, given);
  return type;
}

function wrongFileType({ types }: UploadRule, given: string): AppError {
  const got = given === '' ? 'none' : `"${given.slice(0, 100)}"`;
  return new AppError('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be one of ${types.join(', ')}, got ${got}.`, CLOSE);
}

function fileTooLarge({ bytesMax }: UploadRule): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The file must be at most ${bytesMax} bytes.`, CLOSE);
}
