import { constants, sign, verify, type KeyObject } from 'node:crypto';

import { joinSorted, type SignedMessage } from '../../lib/provider-signing.ts';

/*
 * Shared by the adapter and the simulator. Both sides using one text would agree on a mistake too:
 * test/providers/signing.test.ts holds vectors written by hand.
 */

/** RSA-SHA256 with PSS (salt of 32 bytes) or PKCS#1 v1.5: telebirr's own samples disagree, so it is a setting. */
export type RsaScheme = 'PSS' | 'PKCS1';

/** A parsed key: parsing the text costs more than signing, so it is done once. */
type RsaKey = { key: KeyObject; scheme: RsaScheme };

const UNSIGNED = new Set(['sign', 'sign_type', 'header', 'refund_info', 'openType', 'raw_request', 'biz_content']);

/** The text telebirr signs: top-level fields and those of biz_content, sorted by name, `name=value` joined by `&`. */
export function telebirrSigningText(message: SignedMessage): string {
  const content = message['biz_content'];
  const nested = typeof content === 'object' && content !== null ? Object.entries(content) : [];
  return joinSorted(new Map([...Object.entries(message), ...nested].filter(([name]) => !UNSIGNED.has(name))));
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

function rsaOptions({ key, scheme }: RsaKey) {
  return scheme === 'PSS'
    ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
    : { key, padding: constants.RSA_PKCS1_PADDING };
}
