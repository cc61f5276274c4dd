import type { Config } from '../config.ts';
import { measureClockSkew, measurePool, type Registry } from '../http/metrics.ts';
import { createDatabaseClock } from '../lib/database-clock.ts';
import { closeFrozenConnections } from '../lib/db-liveness.ts';
import { openDatabase } from '../lib/db.ts';
import { createHttpClient } from '../lib/http-client.ts';
import type { Logger } from '../lib/log.ts';
import { createCredentialStore } from '../providers/credentials/store.ts';
import { measureExpiries } from '../providers/expiry.ts';
import { createFindProvider } from '../providers/find-provider.ts';
import { readExpiries } from './expiries.ts';

type Options = { name: 'api' | 'worker'; log: Logger; registry: Registry };

/** What API and worker have in common: the database with its clock, the providers of both environments, and their metrics. */
export function openProcess(config: Config, { name, log, registry }: Options) {
  const { DATABASE_URL: url, DATABASE_POOL_MAX: poolMax, liveProviders, keyRing } = config;
  const db = openDatabase({ url, poolMax, applicationName: `meskot-${name}` });
  measurePool(registry, db, name);
  closeFrozenConnections(db, url);
  const databaseClock = createDatabaseClock(db, { log });
  const clock = databaseClock.now;
  measureClockSkew(registry, databaseClock.skewSeconds);
  measureExpiries(registry, { read: () => readExpiries(config, { db, clock }), clock });
  const http = createHttpClient();
  const credentials = createCredentialStore({ db, keyRing, clock });
  const monitor = { registry, db, log };
  const findProvider = createFindProvider({ http, clock, ...config.simulator, liveProviders, credentials, monitor });
  const close = async (): Promise<void> => void (await Promise.all([http.close(), db.destroy()]));
  return { db, databaseClock, clock, findProvider, close };
}
