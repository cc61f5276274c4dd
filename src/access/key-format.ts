import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

import { hmac } from '../lib/crypto.ts';
import type { Environment } from '../lib/scope.ts';

/** Merchants' keys: secret ones have all scopes, restricted ones those they list. */
export type KeyKind = 'secret' | 'restricted' | 'operator';

/** What a key's text names: a merchant's key of one environment, or an operator's, which has none. */
export type NamedKey = { id: string; kind: KeyKind; environment: Environment | null };

/**
 * A key's text: `sk_test_` (secret), `rk_live_` (restricted), `ok_` (an operator's) and so on, the 26 characters of its
 * id, 32 random bytes as 43 characters, and a checksum of 6, so that a typo is detected without the database.
 */
const KEY = /^(?:([sr])k_(test|live)|ok)_([0-9A-HJKMNP-TV-Z]{26})[0-9A-Za-z]{43}([0-9A-Za-z]{6})$/;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_BYTES = 32;
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;

/** A new key's text. `id` is the row's: `key_…` of a merchant's, `opk_…` of an operator's. It is shown once and never stored. */
export function generateKey(key: NamedKey): string {
  const random = base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_CHARACTERS);
  const head = key.kind === 'operator' ? 'ok' : `${key.kind[0]}k_${key.environment === 'live' ? 'live' : 'test'}`;
  const body = `${head}_${key.id.slice('key_'.length)}${random}`;
  return body + checksum(body);
}

/** The key that a text names; null when it is not a key, or its checksum is wrong: a typo. */
export function readKey(text: string): NamedKey | null {
  const [, letter, place, id, check] = KEY.exec(text) ?? [];
  if (id === undefined || checksum(text.slice(0, -CHECKSUM_CHARACTERS)) !== check) return null;
  if (letter === undefined) return { id: `opk_${id}`, kind: 'operator', environment: null };
  return {
    id: `key_${id}`,
    kind: letter === 's' ? 'secret' : 'restricted',
    environment: place === 'live' ? 'live' : 'sandbox',
  };
}

/** What is stored of a key: HMAC-SHA256 under the server's pepper, so that a stolen table verifies no guess. */
export function hashKey(pepper: string, text: string): Buffer {
  return hmac(pepper, text);
}

const PEPPER_ID_CHARACTERS = 8;

/** Identifies a pepper without revealing it: a strong one cannot be computed from it. */
export function pepperId(pepper: string): string {
  return hmac(pepper, 'the id of this pepper').toString('hex').slice(0, PEPPER_ID_CHARACTERS);
}

/** A key as it is shown to recognise it by: `sk_test_…aB3x`. */
export function maskKey(key: { prefix: string; lastFour: string | null }): string {
  const head = key.prefix.slice(0, key.prefix.lastIndexOf('_') + 1);
  return key.lastFour === null ? `${key.prefix}…` : `${head}…${key.lastFour}`;
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_CHARACTERS);
}

function base62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; text.length < length; rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text;
}
