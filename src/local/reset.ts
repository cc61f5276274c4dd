import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { environment } from '../config.ts';
import { LOG_FILE } from './banner.ts';
import { findPostgresFolder } from './postgres-location.ts';
import { stopLeftPostgres } from './postgres.ts';
import { readLocalSettings } from './settings.ts';
import { claimFolder } from './state.ts';
import { stopLeftTemporal } from './temporal.ts';

/** `npm run reset`: wipes what local starts have kept. Refuses while one is running; leaves databases of others alone. */
export async function reset(project: string): Promise<number> {
  const { dataFolder, databaseUrl } = readLocalSettings(environment, project);
  const claim = await claimFolder(dataFolder);
  if ('takenBy' in claim) {
    process.stderr.write(`Meskot runs as process ${claim.takenBy}: stop it first (Ctrl-C there), then reset.\n`);
    return 1;
  }
  const postgres = await findPostgresFolder(join(dataFolder, 'postgres'));
  const temporal = join(dataFolder, 'temporal');
  await Promise.all([stopLeftPostgres(postgres), stopLeftTemporal(temporal)]);
  // By name: the folder may have been set to one that holds other things too.
  const dataFiles = [
    'simulator.jsonl',
    'state.json',
    'workflows.js',
    LOG_FILE,
    `${LOG_FILE}.1`,
    'documents',
    'reports',
  ];
  const files = dataFiles.map((name) => join(dataFolder, name));
  const ours = [postgres, temporal, ...files];
  await Promise.all(ours.map((path) => rm(path, { recursive: true, force: true })));
  claim.release();
  await rmdir(join(dataFolder, dirname(LOG_FILE))).catch(() => undefined);
  await rmdir(dataFolder).catch(() => undefined);
  process.stdout.write(`Wiped ${dataFolder}. "npm start" begins afresh.\n`);
  if (databaseUrl) process.stdout.write('The database that DATABASE_URL names was left as it is.\n');
  return 0;
}
