import { bodyParser } from '@koa/bodyparser';
import type { Context } from 'koa';
import { z } from 'zod';

import { readBody } from '../lib/body.ts';
import { sha256 } from '../lib/crypto.ts';
import { AppError, invalid } from '../lib/errors.ts';

/** Largest request body, in bytes, after decompression. */
export const BODY_BYTES_MAX = 256 * 1024;
const JSON_DEPTH_MAX = 20;

// No strict mode: the route's schema rejects values other than objects, with a better message.
const parseJson = bodyParser({
  enableTypes: ['json'],
  parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  jsonLimit: BODY_BYTES_MAX,
  jsonStrict: false,
  onError: (error) => {
    throw bodyError(error);
  },
});

const noop = async (): Promise<void> => {};

/**
 * The request's JSON body and its raw text; `{}` and '' when there is none. Throws UNSUPPORTED_MEDIA_TYPE,
 * PAYLOAD_TOO_LARGE, and INVALID_JSON, also for NUL characters and half surrogate pairs (PostgreSQL cannot store them),
 * `__proto__` keys, and nesting deeper than 20.
 */
export async function readJsonBody(ctx: Context): Promise<{ body: unknown; raw: string }> {
  if (!hasBody(ctx)) return { body: {}, raw: '' };
  requireJson(ctx.get('content-type'));
  await parseJson(ctx, noop);
  const raw = ctx.request.rawBody ?? '';
  if (raw === '') return { body: {}, raw };
  const body: unknown = ctx.request.body;
  rejectUnsafeJson(body);
  return { body, raw };
}

/** Throws INVALID_JSON for parsed JSON that cannot be stored, or is nested too deep. */
export function rejectUnsafeJson(body: unknown): void {
  const problem = unsafeJson(body, 1);
  if (problem) throw new AppError('INVALID_JSON', problem);
}

function hasBody(ctx: Context): boolean {
  const { headers } = ctx.req;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

const CONTENT_TYPE_CHARACTERS_MAX = 200;
const UTF_8 = new Set(['charset=utf-8', 'charset="utf-8"', 'charset=utf8', 'charset="utf8"']);

function requireJson(contentType: string): void {
  if (contentType.length <= CONTENT_TYPE_CHARACTERS_MAX && isJsonInUtf8(contentType)) return;
  throw wrongType('application/json in UTF-8', contentType);
}

function wrongType(allowed: string, given: string): AppError {
  const got = given === '' ? 'none' : `"${given.slice(0, 100)}"`;
  return new AppError('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be ${allowed}, got ${got}.`, CLOSE);
}

/** `application/json`, with no parameter but the charset UTF-8. No regular expression: thousands of blanks would slow it. */
function isJsonInUtf8(contentType: string): boolean {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const [charset, ...others] = parameters.map((one) => one.replaceAll(' ', '')).filter((one) => one !== '');
  return type.trim() === 'application/json' && (charset === undefined || UTF_8.has(charset)) && others.length === 0;
}

const CLOSE = { headers: { Connection: 'close' } };

function bodyError(error: Error): AppError {
  const status = 'status' in error ? error.status : undefined;
  if (status === 413)
    return new AppError('PAYLOAD_TOO_LARGE', `The body must be at most ${BODY_BYTES_MAX} bytes.`, CLOSE);
  if (status === 415) {
    return new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding must be identity, gzip, deflate or br.');
  }
  if (error.name !== 'SyntaxError') {
    const message = 'The body is incomplete, or is not compressed as Content-Encoding declares.';
    return new AppError('INVALID_JSON', message, CLOSE);
  }
  // The parser's own message quotes the body, which may hold a secret: only the position is passed on.
  const position = /position (\d+)/.exec(error.message)?.[1];
  const where = position ? ` It stops being JSON at character ${position}.` : '';
  return new AppError('INVALID_JSON', `The body must be valid JSON, without __proto__ keys.${where}`);
}

/** Why parsed JSON cannot be accepted; null when it can. */
function unsafeJson(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : unsafeText;
  if (typeof value !== 'object' || value === null) return null;
  if (depth > JSON_DEPTH_MAX) return `The body must not be nested deeper than ${JSON_DEPTH_MAX}.`;
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return unsafeText;
    const problem = unsafeJson(inner, depth + 1);
    if (problem) return problem;
  }
  return null;
}

const unsafeText = 'Texts in the body must not contain the NUL character or half a surrogate pair (\\u0000, \\ud800).';

const UNSTORABLE = /\0|\p{Surrogate}/u;

/** Whether PostgreSQL can store the text: no NUL, no half surrogate pair. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** The content types and the size of the one file that a route takes in place of JSON, and where it is stored. */
export type UploadRule = { types: readonly string[]; bytesMax: number; store?: UploadStore };

/** `discard` removes a file that its request did not need. */
export type UploadStore = {
  save: (file: UploadedFile) => Promise<StoredUpload>;
  discard: (stored: StoredUpload) => Promise<void>;
};
export type StoredUpload = { id: string; storageKey: string };

/** The body of such a route. */
export const UploadedFile = z.strictObject({
  contentType: z.string().max(CONTENT_TYPE_CHARACTERS_MAX),
  bytes: z.instanceof(Buffer),
  /** Where the route has a store: set by {@link withStored}. */
  stored: z.custom<StoredUpload>().optional(),
});
export type UploadedFile = z.output<typeof UploadedFile>;

/**
 * Stores the file of a request's body, then runs the change, which returns whether it has used the file. One that it has
 * not, or whose change was rejected, is removed; after other errors it may be in use, and is left to the removal of orphans.
 */
export async function withStored(
  { save, discard }: UploadStore,
  input: { body: unknown },
  change: () => Promise<boolean>,
): Promise<void> {
  const file = input.body as UploadedFile;
  const stored = await save(file);
  input.body = { ...file, stored };
  const remove = async () => discard(stored).catch(() => {});
  try {
    if (!(await change())) await remove();
  } catch (error) {
    if (error instanceof AppError) await remove();
    throw error;
  }
}

/**
 * The file of a request, and a digest of it to compare repeats by. Checks its size only, and reads no more than is
 * allowed. Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, and VALIDATION_ERROR for an empty one.
 */
export async function readUpload(ctx: Context, rule: UploadRule): Promise<{ body: UploadedFile; raw: string }> {
  const contentType = requireFileType(ctx, rule);
  const tooLarge = new AppError('PAYLOAD_TOO_LARGE', `The file must be at most ${rule.bytesMax} bytes.`, CLOSE);
  if (Number(ctx.req.headers['content-length'] ?? 0) > rule.bytesMax) throw tooLarge;
  const bytes = await readBody(ctx.req, rule.bytesMax).catch(() => {
    throw new AppError('VALIDATION_ERROR', 'The file is incomplete. Send it again.', CLOSE);
  });
  if (bytes === null) throw tooLarge;
  if (bytes.length === 0) throw invalid('body', { issue: 'must be the file itself, got nothing', code: 'required' });
  return { body: { contentType, bytes }, raw: `${contentType} ${sha256(bytes).toString('hex')}` };
}

function requireFileType(ctx: Context, { types }: UploadRule): string {
  const encoding = ctx.get('content-encoding');
  if (encoding !== '' && encoding !== 'identity') {
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Send the file without Content-Encoding.', CLOSE);
  }
  const given = ctx.get('content-type');
  const type = given.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!types.includes(type)) throw wrongType(`one of ${types.join(', ')}`, given);
  return type;
}
