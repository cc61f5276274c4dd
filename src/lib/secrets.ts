import { z } from 'zod';

import type { KeyRing } from './crypto.ts';

/** Defaults for local use: published with this project, so production rejects both. */
const LOCAL_SECRET = 'local-development-only';
export const LOCAL_PEPPER = `${LOCAL_SECRET}-pepper`;
export const LOCAL_KEY = Buffer.alloc(32, LOCAL_SECRET).toString('base64');

/** The next step in the error for a rejected secret. */
const MAKE_ONE = 'make one with: openssl rand -base64 32';
/** The current one, and those of rotations that have not ended. */
const LISTED_MAX = 10;

const TOO_MANY = `must be at most ${LISTED_MAX}, separated by commas`;

/** Peppers, the current one first. Older ones may be weak, so that they can be rotated away. */
export const Peppers = z.string().transform((text, ctx): [string, ...string[]] => {
  const [current = '', ...older] = text.split(',').map((one) => one.trim());
  if (older.length >= LISTED_MAX) ctx.addIssue(TOO_MANY);
  const weakness = current === LOCAL_PEPPER ? null : textWeakness(current);
  if (weakness !== null) ctx.addIssue(`${weakness}; ${MAKE_ONE}`);
  if (older.includes('')) ctx.addIssue('must not have a comma without a pepper behind it');
  return [current, ...older];
});

const ENTRY = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** Encryption keys with their ids, the current one first. Older ones may be weak, as above. */
export const EncryptionKeys = z.string().transform((text, ctx): KeyRing => {
  const entries = text.split(',').map((one) => one.trim());
  if (entries.length > LISTED_MAX) ctx.addIssue(TOO_MANY);
  const keys = new Map<string, Buffer>();
  for (const entry of entries) {
    const [, id, base64 = ''] = ENTRY.exec(entry) ?? [];
    const key = Buffer.from(base64, 'base64');
    // The last character has bits that base64 leaves free.
    if (id === undefined || key.toString('base64') !== base64) {
      ctx.addIssue(`must be id:base64-of-32-bytes, comma separated, the first encrypts; ${MAKE_ONE}`);
      return z.NEVER;
    }
    const weakness = keys.size > 0 || base64 === LOCAL_KEY ? null : keyWeakness(key);
    if (weakness !== null) ctx.addIssue(`${weakness}; ${MAKE_ONE}`);
    if (keys.has(id)) ctx.addIssue('must not give two keys the same id');
    keys.set(id, key);
  }
  return { currentId: [...keys.keys()][0] ?? '', keys };
});

const TEXT_CHARACTERS_MIN = 24;
// Of 24 random hexadecimal digits about 13 differ, of 32 random bytes 30. Fewer than these has one in 30,000 at most.
const TEXT_DISTINCT_MIN = 8;
const KEY_DISTINCT_MIN = 16;

/** The weakness of a secret written as text, as words that follow its name; null without an obvious one. */
function textWeakness(text: string): string | null {
  if (text.length < TEXT_CHARACTERS_MIN) return `must be at least ${TEXT_CHARACTERS_MIN} characters long`;
  return guessable(Buffer.from(text), TEXT_DISTINCT_MIN);
}

function keyWeakness(key: Buffer): string | null {
  if (key.every((byte) => byte >= 0x20 && byte < 0x7f)) return 'is text in base64, not random bytes';
  return guessable(key, KEY_DISTINCT_MIN);
}

function guessable(bytes: Buffer, distinctMin: number): string | null {
  if (new Set(bytes).size < distinctMin)
    return `has fewer than ${distinctMin} different characters, so it can be guessed`;
  return isRegular(bytes) ? 'repeats or counts characters, so it can be guessed' : null;
}

/** Whether, at some distance, most pairs of bytes differ by the same: a repeated beginning, abcdefgh, 9 8 7 6. */
function isRegular(bytes: Buffer): boolean {
  for (let distance = 1; distance <= bytes.length / 2; distance += 1) {
    const pairs = bytes.length - distance;
    const counts = new Map<number, number>();
    for (let index = 0; index < pairs; index += 1) {
      const difference = bytes.readUInt8(index + distance) - bytes.readUInt8(index);
      counts.set(difference, (counts.get(difference) ?? 0) + 1);
    }
    if (Math.max(...counts.values()) > pairs / 2) return true;
  }
  return false;
}
