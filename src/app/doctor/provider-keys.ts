import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

import { type LiveChannel, manifestOf } from '../../merchants/channels/channel.ts';
import { pemBlocks, settingOf } from '../../providers/settings.ts';
import { ofValidity, ok, type Result, warning, wrong } from './check.ts';

const RSA_BITS_MIN = 2_048;

/** Our private key: its kind and size. */
export function checkPrivateKey(channel: LiveChannel, setting: string, pem: string): Result {
  const key = createPrivateKey(pem);
  const weakness = weaknessOf(key);
  if (weakness === null) return ok(`${setting} has ${sizeOf(key)} bits.`);
  const makeOne = 'Make a new pair (openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048)';
  const next = `${makeOne}, have ${manifestOf(channel).issuer} register its public half, and set ${setting}.`;
  return wrong(`${setting} ${weakness}.`, next);
}

/** The public keys of a provider: its field with their value, and our own private ones. */
type ProviderKeys = { field: string; value: string; ourKeys: readonly string[] };

/** The provider's public keys: their kind and size, the end of certificates, and that none is ours. */
export function checkProviderKeys(channel: LiveChannel, { field, value, ourKeys }: ProviderKeys, now: Date): Result[] {
  const setting = settingOf(channel, field);
  const { name, issuer } = manifestOf(channel);
  const blocks = pemBlocks(value);
  const ours = ourKeys.map((pem) => fingerprintOf(createPublicKey(createPrivateKey(pem))));
  if (blocks.some((block) => ours.includes(fingerprintOf(createPublicKey(block))))) {
    const found = `${setting} is the public half of our own private key, so no callback of ${name} would be verified.`;
    return [wrong(found, `Set it to the public key that ${issuer} has issued; ours is what they register.`)];
  }
  const results = blocks.map((block): Result => {
    const weakness = weaknessOf(createPublicKey(block));
    if (weakness !== null) return wrong(`${setting} ${weakness}.`, `Compare it with what ${issuer} has issued.`);
    if (!block.includes('BEGIN CERTIFICATE')) return ok(`${setting} has ${sizeOf(createPublicKey(block))} bits.`);
    const next = `Ask ${issuer} for its new certificate, and put it below the old one in ${setting}.`;
    return ofValidity(`The certificate in ${setting}`, new X509Certificate(block), { now, next });
  });
  // While the provider replaces its key, the old certificate may end.
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
