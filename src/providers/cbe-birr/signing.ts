import { equalInConstantTime, sha256 } from '../../lib/crypto.ts';
import { joinSorted, type SignedMessage } from '../../lib/provider-signing.ts';

/* Shared by the adapter and the simulator; test/providers/signing.test.ts holds vectors written by hand. */

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
