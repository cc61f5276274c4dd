import { readFile } from 'node:fs/promises';

import type { Config } from '../config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Queryable } from '../lib/db.ts';
import { listAccounts } from '../providers/credentials/queries.ts';
import { earliestCertificate, providerExpiries, type Expiry } from '../providers/expiry.ts';

const CLIENT_CERTIFICATE = 'TEMPORAL_TLS_CLIENT_CERT_PATH';

/** Where merchants' own credentials are. */
type Stored = { db: Queryable; clock: Clock };

/**
 * When keys, certificates and credentials end: those of live providers in the settings, the client certificate for Temporal,
 * which is read again each time, and merchants' own credentials. What has no known end is left out.
 */
export async function readExpiries(config: Config, stored: Stored): Promise<Expiry[]> {
  const ends = await Promise.all([clientCertificate(config), ownCredentials(stored)]);
  return [...providerExpiries(config.liveProviders), ...ends.flat()];
}

async function clientCertificate({ [CLIENT_CERTIFICATE]: path }: Config): Promise<Expiry[]> {
  if (path === undefined) return [];
  try {
    return [{ what: CLIENT_CERTIFICATE, expiresAt: earliestCertificate(await readFile(path, 'utf8')) }];
  } catch {
    // Connecting to Temporal gives the reason.
    return [];
  }
}

/** Of each account of a merchant, the newest set in effect. */
async function ownCredentials({ db, clock }: Stored): Promise<Expiry[]> {
  try {
    const accounts = await listAccounts(db, { at: clock() });
    return accounts.flatMap(({ id, expiresAt }) => (expiresAt ? [{ what: id, expiresAt }] : []));
  } catch {
    // /readyz reports that the database does not respond.
    return [];
  }
}
