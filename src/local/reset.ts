import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { environment } from '../config.ts';
import { lockDataFolder } from './data-folder.ts';
import { LOG_FILE, print } from './log.ts';
import { stopOrphans } from './servers.ts';
import { readLocalSettings } from './settings.ts';

/** `npm run reset`: wipes the data folder of local starts. Fails while one is running; leaves other databases as they are. */
export async function reset(project: string): Promise<number> {
  const { dataFolder, DATABASE_URL: databaseUrl } = readLocalSettings(environment, project);
  const lock = await lockDataFolder(dataFolder);
  if ('takenBy' in lock) {
    process.stderr.write(`Meskot runs as process ${lock.takenBy}: stop it first (Ctrl-C there), then reset.\n`);
    return 1;
  }
  // By name: the folder may contain other files too.
  const names = ['simulator.jsonl', 'state.json', 'workflows.js', LOG_FILE, `${LOG_FILE}.1`, 'documents', 'reports'];
  const ours = [...(await stopOrphans(dataFolder)), ...names.map((name) => join(dataFolder, name))];
  await Promise.all(ours.map((path) => rm(path, { recursive: true, force: true })));
  lock.release();
  for (const folder of [join(dataFolder, dirname(LOG_FILE)), dataFolder]) await rmdir(folder).catch(() => undefined);
  print(`Wiped ${dataFolder}. "npm start" begins afresh.`);
  if (databaseUrl) print('The database that DATABASE_URL names was left as it is.');
  return 0;
}
