import { createPublicKey } from 'node:crypto';

import { SANDBOX_AWASH, SANDBOX_CBE_BIRR, SANDBOX_TELEBIRR } from '../lib/sandbox-providers.ts';
import { pemBlocks, PROVIDER_FIELDS } from './settings.ts';

const PUBLISHED: ReadonlySet<unknown> = new Set([
  SANDBOX_TELEBIRR.appKey,
  SANDBOX_TELEBIRR.appSecret,
  SANDBOX_TELEBIRR.merchantPublicKey,
  SANDBOX_TELEBIRR.providerPublicKey,
  ...[SANDBOX_CBE_BIRR, SANDBOX_AWASH].flatMap(({ token, hashKey }) => [token, hashKey]),
]);

/**
 * What is wrong with validated settings of live providers in production, a sentence for each: an address without TLS, and
 * a credential of the sandbox, which is published and which the simulator accepts.
 */
export function productionProblems(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(PROVIDER_FIELDS).flatMap((name) => {
    const value = settings[name];
    if (typeof value !== 'string') return [];
    if (name.endsWith('_URL') && new URL(value).protocol !== 'https:') return [`${name} must be https in production`];
    return isPublished(value)
      ? [`${name} must not be the sandbox's, which is published: set what the provider has issued`]
      : [];
  });
}

/** Whether a credential, or one of several keys, is the sandbox's. */
export const isPublished = (value: string): boolean => valuesOf(value).some((one) => PUBLISHED.has(one));

/** A private key is compared by its public key, and certificates by theirs, since both can be written in several ways. */
function valuesOf(value: string): string[] {
  try {
    return pemBlocks(value).map((block) => createPublicKey(block).export({ type: 'spki', format: 'pem' }).toString());
  } catch {
    return [value];
  }
}
