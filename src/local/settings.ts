import { join } from 'node:path';

import { z } from 'zod';

import { environment, parseSettings, type Variables } from '../config.ts';
import { addDefaults, isGiven, replaceSettings } from '../lib/given-settings.ts';
import { webPort, wholeNumber } from '../lib/setting-fields.ts';
import { readState } from './data-folder.ts';

const port = (wanted: number) => wholeNumber(1, 65_535).default(wanted);
const optionalText = z.string().optional();

/** The wanted ports; taken ones are replaced by the next free ones. */
const PORTS = {
  API_PORT: webPort(4000),
  PORTAL_PORT: webPort(4001),
  SIMULATOR_PORT: webPort(4002),
  DEMO_SHOP_PORT: webPort(4003),
  CONSOLE_PORT: webPort(4004),
  METRICS_PORT: port(4009),
  POSTGRES_PORT: port(5433),
  TEMPORAL_PORT: port(7233),
  TEMPORAL_UI_PORT: port(8233),
};

const Settings = z.object({
  MESKOT_MODE: z
    .literal('local', '"start" is for local use; in production run "migrate", "api" and "worker"')
    .optional(),
  MESKOT_DATA_DIR: optionalText,
  MESKOT_DEMO_PAYMENTS: wholeNumber(0, 100_000).default(3_000),
  /** From one demo customer to the next; 0 for none. */
  MESKOT_DEMO_PURCHASE_INTERVAL_SECONDS: wholeNumber(0, 86_400).default(20),
  /** When given, no PostgreSQL is started. */
  DATABASE_URL: optionalText,
  /** When given, no Temporal server is started. */
  TEMPORAL_ADDRESS: optionalText,
  TEMPORAL_CLI_PATH: optionalText,
  XDG_CACHE_HOME: optionalText,
  ...PORTS,
});

export type LocalSettings = ReturnType<typeof readLocalSettings>;

export const PORT_SETTINGS = Object.keys(PORTS) as (keyof typeof PORTS)[];

/** Reads the settings from the environment. `project` is the folder of package.json; `dataFolder` holds all files. */
export function readLocalSettings(env: Variables, project: string) {
  const settings = parseSettings(Settings, env);
  return { ...settings, dataFolder: settings.MESKOT_DATA_DIR ?? join(project, '.data') };
}

/** The settings of the folders for files, unless files are in a bucket. */
export function localFolders(dataFolder: string): Variables {
  if (environment['S3_BUCKET'] ?? environment['S3_BUCKET_FILE']) return {};
  return { KYC_DOCUMENTS_DIR: join(dataFolder, 'documents'), REPORTS_DIR: join(dataFolder, 'reports') };
}

/**
 * The environment, completed with the addresses of the local start's servers, so that commands work beside `npm start`
 * without any setting.
 */
export async function withLocalServers(project: string): Promise<Variables> {
  if (isGiven(environment, 'DATABASE_URL')) return environment;
  const { dataFolder } = readLocalSettings(environment, project);
  const { databaseUrl, temporalAddress, apiUrl } = readState(dataFolder).info;
  if (!databaseUrl) throw new Error('There is no database: run "npm start" here first, or set DATABASE_URL.');
  const own = addDefaults(environment, { ...localFolders(dataFolder), ...(apiUrl && { PUBLIC_BASE_URL: apiUrl }) });
  return replaceSettings(own, { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporalAddress });
}
