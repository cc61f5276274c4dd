import { readFile } from 'node:fs/promises';

import type { Config } from '../config.ts';
import { earliestCertificate, providerExpiries, type Expiry } from '../providers/expiry.ts';

const CLIENT_CERTIFICATE = 'TEMPORAL_TLS_CLIENT_CERT_PATH';

/**
 * When the keys and certificates of the settings end: those of live providers, and the client certificate for Temporal,
 * which is read again each time. What has no known end is left out.
 */
export async function readExpiries(config: Config): Promise<Expiry[]> {
  const ofProviders = providerExpiries(config.liveProviders);
  const path = config[CLIENT_CERTIFICATE];
  if (path === undefined) return ofProviders;
  try {
    const expiresAt = earliestCertificate(await readFile(path, 'utf8'));
    return [...ofProviders, { what: CLIENT_CERTIFICATE, expiresAt }];
  } catch {
    // Connecting to Temporal gives the reason.
    return ofProviders;
  }
}
