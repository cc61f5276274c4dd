import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { environment } from '../config.ts';
import { lockDataFolder } from './data-folder.ts';
import { LOG_FILE } from './log.ts';
import { findPostgresFolder } from './postgres-location.ts';
import { stopOrphanPostgres } from './postgres.ts';
import { readLocalSettings } from './settings.ts';
import { stopOrphanTemporal } from './temporal.ts';

/** `npm run reset`: wipes the data folder of local starts. Fails while one is running; leaves other databases as they are. */
export async function reset(project: string): Promise<number> {
  const { dataFolder, DATABASE_URL: databaseUrl } = readLocalSettings(environment, project);
  const lock = await lockDataFolder(dataFolder);
  if ('takenBy' in lock) {
    process.stderr.write(`Meskot runs as process ${lock.takenBy}: stop it first (Ctrl-C there), then reset.\n`);
    return 1;
  }
  const postgres = await findPostgresFolder(join(dataFolder, 'postgres'));
  const temporal = join(dataFolder, 'temporal');
  await Promise.all([stopOrphanPostgres(postgres), stopOrphanTemporal(temporal)]);
  // By name: the folder may contain other files too.
  const names = ['simulator.jsonl', 'state.json', LOG_FILE, `${LOG_FILE}.1`, 'documents', 'reports'];
  const ours = [postgres, temporal, ...names.map((name) => join(dataFolder, name))];
  await Promise.all(ours.map((path) => rm(path, { recursive: true, force: true })));
  lock.release();
  await rmdir(join(dataFolder, dirname(LOG_FILE))).catch(() => undefined);
  await rmdir(dataFolder).catch(() => undefined);
  process.stdout.write(`Wiped ${dataFolder}. "npm start" begins afresh.\n`);
  if (databaseUrl) process.stdout.write('The database that DATABASE_URL names was left as it is.\n');
  return 0;
}
