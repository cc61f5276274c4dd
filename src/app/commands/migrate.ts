import { join } from 'node:path';

import { Connection } from '@temporalio/client';

import type { Config } from '../../config.ts';
import { migrate, ofNewerRelease } from '../../lib/migrate.ts';
import { temporalConnection } from '../../temporal/client.ts';
import { ensureTemporal } from '../../temporal/prepare.ts';

/** A server that is just starting is waited for a little; a missing one must not hold up the API. */
const CONNECT_TIMEOUT_MS = 5_000;

export type PrepareOptions = {
  /** The folder of package.json. */
  project: string;
  /** Takes what was done, a line at a time. */
  print: (line: string) => void;
  /** Takes what was left undone, and what to do about it. */
  warn: (line: string) => void;
};

/**
 * `meskot migrate`: brings the schema up to date, then makes the namespace and search attributes that are missing in
 * Temporal. Temporal being away is a warning only: the API must come up without it, and every worker prepares it too.
 */
export async function prepare(config: Config, { project, print, warn }: PrepareOptions): Promise<void> {
  const { applied, newer } = await migrate({ url: config.DATABASE_URL, directory: join(project, 'migrations') });
  if (newer.length > 0) warn(ofNewerRelease(newer));
  if (applied.length > 0) print(`Applied ${applied.join(', ')}.`);
  else if (newer.length === 0) print('The schema is up to date.');
  const reached = temporalConnection(config);
  const temporal = `Temporal at ${reached.address}`;
  const connection = await Connection.connect({ ...reached, connectTimeout: CONNECT_TIMEOUT_MS }).catch(() => null);
  if (!connection) {
    return warn(
      `${temporal} does not answer, so nothing was prepared there. Workers prepare it when they reach it; ` +
        'to do it now, check TEMPORAL_ADDRESS and run "meskot migrate" again.',
    );
  }
  try {
    const made = await ensureTemporal({ config, connection });
    print(made.length === 0 ? `${temporal} is prepared.` : `Made in ${temporal}: ${made.join(', ')}.`);
  } finally {
    await connection.close();
  }
}
