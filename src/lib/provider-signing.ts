import { constants, sign, verify, type KeyObject } from 'node:crypto';

import { equalInConstantTime, sha256 } from './crypto.ts';

/**
 * How providers sign, shared by our adapters and the sandbox's simulator. Both sides using one text would agree on a
 * mistake too: test/providers/signing.test.ts holds vectors written by hand.
 */
export type SignedMessage = Readonly<Record<string, unknown>>;

/** RSA-SHA256 with PSS (salt of 32 bytes) or PKCS#1 v1.5: telebirr's own samples disagree, so it is a setting. */
export type RsaScheme = 'PSS' | 'PKCS1';

/** A parsed key: parsing the text costs more than signing, so it is done once. */
type RsaKey = { key: KeyObject; scheme: RsaScheme };

const TELEBIRR_UNSIGNED = new Set([
  'sign',
  'sign_type',
  'header',
  'refund_info',
  'openType',
  'raw_request',
  'biz_content',
]);

/** The text telebirr signs: top-level fields and those of biz_content, sorted by name, `name=value` joined by `&`. */
export function telebirrSigningText(message: SignedMessage): string {
  const content = message['biz_content'];
  const nested = typeof content === 'object' && content !== null ? Object.entries(content) : [];
  const fields = new Map([...Object.entries(message), ...nested].filter(([name]) => !TELEBIRR_UNSIGNED.has(name)));
  return joinSorted(fields);
}

/** telebirr's `sign`, in base64. */
export function signTelebirr(message: SignedMessage, key: RsaKey): string {
  return sign('sha256', Buffer.from(telebirrSigningText(message)), rsaOptions(key)).toString('base64');
}

/** Whether `sign` is this message's own; anything that is not base64 of a signature is simply not. */
export function verifyTelebirr(message: SignedMessage, key: RsaKey): boolean {
  const signature = message['sign'];
  if (typeof signature !== 'string' || signature === '') return false;
  const bytes = Buffer.from(signature, 'base64');
  return verify('sha256', Buffer.from(telebirrSigningText(message)), rsaOptions(key), bytes);
}

/** CBE Birr's `signature`: SHA-256 in hex of all other fields and `key`, sorted, `name=value` joined by `&`. */
export function signCbeBirr(message: SignedMessage, hashKey: string): string {
  const fields = new Map(Object.entries({ ...message, key: hashKey }).filter(([name]) => name !== 'signature'));
  return sha256(joinSorted(fields)).toString('hex');
}

/** Whether `signature` is this message's own. */
export function verifyCbeBirr(message: SignedMessage, hashKey: string): boolean {
  const signature = message['signature'];
  const expected = Buffer.from(signCbeBirr(message, hashKey));
  return typeof signature === 'string' && equalInConstantTime(Buffer.from(signature), expected);
}

function joinSorted(fields: ReadonlyMap<string, unknown>): string {
  return [...fields]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('&');
}

function rsaOptions({ key, scheme }: RsaKey) {
  return scheme === 'PSS'
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
    : { key, padding: constants.RSA_PKCS1_PADDING };
}
