import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

import { signTelebirr, verifyTelebirr } from '../../lib/provider-signing.ts';
import { type Credentials, pemBlocks, type ProviderEndpoint } from '../../providers/settings.ts';
import { ofValidity, ok, type Result, warning, wrong } from './check.ts';

type Endpoint = ProviderEndpoint<'TELEBIRR'>;

const RSA_BITS_MIN = 2_048;
const MAKE_ONE = 'Make a new pair (openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048)';

/** Our private key: its kind and size, and that its own public half verifies what it signs. */
export function checkPrivateKey(
  { merchantPrivateKey }: Credentials<'TELEBIRR'>,
  { signatureScheme: scheme }: Endpoint,
  setting: string,
): Result {
  const key = createPrivateKey(merchantPrivateKey);
  const next = `${MAKE_ONE}, have Ethio telecom register its public half, and set ${setting}.`;
  const weakness = weaknessOf(key);
  if (weakness !== null) return wrong(`${setting} ${weakness}.`, next);
  const message = { nonce_str: 'doctor', timestamp: '0' };
  const signed = { ...message, sign: signTelebirr(message, { key, scheme }) };
  if (!verifyTelebirr(signed, { key: createPublicKey(key), scheme })) {
    return wrong(`The public half of ${setting} does not verify what it signs.`, next);
  }
  return ok(`${setting} has ${sizeOf(key)} bits, and its public half verifies what it signs (${scheme}).`);
}

/** telebirr's public keys: their kind and size, the end of certificates, and that none is ours. */
export function checkProviderKeys({ providerPublicKey }: Endpoint, ourKeys: readonly string[], now: Date): Result[] {
  const setting = 'TELEBIRR_PROVIDER_PUBLIC_KEY';
  const blocks = pemBlocks(providerPublicKey);
  const ours = ourKeys.map((pem) => fingerprintOf(createPublicKey(createPrivateKey(pem))));
  if (blocks.some((block) => ours.includes(fingerprintOf(createPublicKey(block))))) {
    const found = `${setting} is the public half of our own private key, so no callback of telebirr would be verified.`;
    return [wrong(found, 'Set it to the public key that Ethio telecom has issued; ours is what they register.')];
  }
  const results = blocks.map((block): Result => {
    const weakness = weaknessOf(createPublicKey(block));
    if (weakness !== null) return wrong(`${setting} ${weakness}.`, 'Compare it with what Ethio telecom has issued.');
    if (!block.includes('BEGIN CERTIFICATE')) return ok(`${setting} has ${sizeOf(createPublicKey(block))} bits.`);
    const next = `Ask Ethio telecom for its new certificate, and put it below the old one in ${setting}.`;
    return ofValidity(`The certificate in ${setting}`, new X509Certificate(block), { now, next });
  });
  // While telebirr replaces its key, the old certificate may end.
  const isReplaced = results.some(({ status }) => status === 'ok');
  return results.map((result) =>
    isReplaced && result.status === 'wrong' ? warning(result.found, `Remove it from ${setting}.`) : result,
  );
}

const sizeOf = (key: KeyObject): number => key.asymmetricKeyDetails?.modulusLength ?? 0;

function weaknessOf(key: KeyObject): string | null {
  if (key.asymmetricKeyType !== 'rsa') return `must be an RSA key, but is ${key.asymmetricKeyType}`;
  return sizeOf(key) < RSA_BITS_MIN ? `has ${sizeOf(key)} bits, fewer than ${RSA_BITS_MIN}` : null;
}

function fingerprintOf(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}
