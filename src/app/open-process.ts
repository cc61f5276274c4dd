import { readFile } from 'node:fs/promises';

import type { Config } from '../config.ts';
import { measureDisks } from '../http/health.ts';
import { measureClockSkew, measureFileStore, measurePool, type Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { createDatabaseClock } from '../lib/database-clock.ts';
import { closeFrozenConnections } from '../lib/db-liveness.ts';
import { openDatabase, type Queryable } from '../lib/db.ts';
import { observePlaces } from '../lib/file-store.ts';
import { createHttpClient } from '../lib/http-client.ts';
import type { Logger } from '../lib/log.ts';
import { countResults } from '../payments/monitoring.ts';
import { createSyncAttempt } from '../payments/sync.ts';
import { createCheck } from '../payouts/check.ts';
import { REFUND } from '../payouts/refunds/refund.ts';
import { WITHDRAWAL } from '../payouts/withdrawals/withdrawal.ts';
import { listAccounts } from '../providers/credentials/queries.ts';
import { earliestCertificate, measureExpiries, providerExpiries, type Expiry } from '../providers/expiry.ts';
import { createFindProvider } from '../providers/find-provider.ts';

type Options = { name: 'api' | 'worker'; log: Logger; registry: Registry };

/** What API and worker have in common: the database with its clock, the providers of both environments, the places of files, and their metrics. */
export function openProcess(config: Config, { name, log, registry }: Options) {
  const { DATABASE_URL: url, DATABASE_POOL_MAX: poolMax, liveProviders, keyRing } = config;
  const db = openDatabase({ url, poolMax, applicationName: `meskot-${name}` });
  measurePool(registry, db, name);
  measureDisks(registry, config.disks);
  closeFrozenConnections(db, url);
  const databaseClock = createDatabaseClock(db, { log });
  const clock = databaseClock.now;
  measureClockSkew(registry, databaseClock.skewSeconds);
  measureExpiries(registry, { read: () => readExpiries(config, { db, clock }), clock });
  const files = observePlaces(config.files, measureFileStore(registry));
  const http = createHttpClient();
  const credentials = { db, keyRing };
  const monitor = { registry, db, log };
  const findProvider = createFindProvider({ http, clock, ...config.simulator, liveProviders, credentials, monitor });
  const close = async (): Promise<void> => void (await Promise.all([http.close(), db.destroy()]));
  return { db, databaseClock, clock, files, findProvider, countResult: countResults(registry), close };
}

/** The operations that compare a payment, a payout or a refund with what its provider knows of it. */
export function createChecks(sync: Parameters<typeof createSyncAttempt>[0]) {
  return {
    checkAttempt: createSyncAttempt(sync),
    checkPayout: createCheck(sync, WITHDRAWAL),
    checkRefund: createCheck(sync, REFUND),
  };
}

export type Checks = ReturnType<typeof createChecks>;

const CLIENT_CERTIFICATE = 'TEMPORAL_TLS_CLIENT_CERT_PATH';

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
