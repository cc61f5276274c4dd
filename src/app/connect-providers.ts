import type { Config } from '../config.ts';
import type { Registry } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { createHttpClient } from '../lib/http-client.ts';
import type { Logger } from '../lib/log.ts';
import { createCredentialStore } from '../providers/credentials/store.ts';
import { createFindProvider } from '../providers/find-provider.ts';

type Deps = { db: Database; clock: Clock; log: Logger; registry: Registry };

/** The providers of both environments, as API and workers use them. `close` closes their connections. */
export function connectProviders(config: Config, { db, clock, log, registry }: Deps) {
  const http = createHttpClient();
  const findProvider = createFindProvider({
    http,
    clock,
    ...config.simulator,
    liveProviders: config.liveProviders,
    credentials: createCredentialStore({ db, keyRing: config.keyRing, clock }),
    monitor: { registry, db, log },
  });
  return { findProvider, close: http.close };
}
