import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Encryption keys by id; the current one encrypts, all decrypt, so that the key itself can be rotated. */
export type KeyRing = { currentId: string; keys: ReadonlyMap<string, Buffer> };

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM. Layout: key id's length, key id, nonce, tag, ciphertext. `scope` (the row's id) is authenticated, so that a
 * value copied into another row does not decrypt.
 */
export function seal(ring: KeyRing, scope: string, bytes: Buffer): Buffer {
  const key = ring.keys.get(ring.currentId);
  if (!key) throw new Error(`encryption key "${ring.currentId}" is not in the key ring`);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(scope));
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const keyId = Buffer.from(ring.currentId);
  return Buffer.concat([Buffer.from([keyId.length]), keyId, nonce, cipher.getAuthTag(), body]);
}

/** The reverse of {@link seal}. Throws when the key is unknown, or the bytes or the scope differ. */
export function unseal(ring: KeyRing, scope: string, sealed: Buffer): Buffer {
  const keyId = keyIdOf(sealed);
  const key = ring.keys.get(keyId);
  if (!key) throw new Error(`encryption key "${keyId}" is not in the key ring`);
  const nonceEnd = 1 + (sealed[0] ?? 0) + NONCE_BYTES;
  const tagEnd = nonceEnd + TAG_BYTES;
  const nonce = sealed.subarray(nonceEnd - NONCE_BYTES, nonceEnd);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(scope));
  decipher.setAuthTag(sealed.subarray(nonceEnd, tagEnd));
  return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()]);
}

function keyIdOf(sealed: Buffer): string {
  return sealed.subarray(1, 1 + (sealed[0] ?? 0)).toString();
}

/** The same value under the current key; null when it is under it already. Throws as {@link unseal} does. */
export function reseal(ring: KeyRing, scope: string, sealed: Buffer): Buffer | null {
  return keyIdOf(sealed) === ring.currentId ? null : seal(ring, scope, unseal(ring, scope, sealed));
}

/** {@link seal} for text. */
export function encrypt(ring: KeyRing, scope: string, text: string): Buffer {
  return seal(ring, scope, Buffer.from(text));
}

/** {@link unseal} for text. */
export function decrypt(ring: KeyRing, scope: string, sealed: Buffer): string {
  return unseal(ring, scope, sealed).toString();
}

export function hmac(key: Buffer | string, data: Buffer | string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

export function sha256(data: Buffer | string): Buffer {
  return createHash('sha256').update(data).digest();
}

/** Compares in constant time; different lengths are unequal. */
export function equalInConstantTime(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
