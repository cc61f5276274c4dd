import { join } from 'node:path';
import { isNativeError } from 'node:util/types';

import { ABYSSINIA } from '../../demo/seed/demo.ts';
import { DatabaseRefused } from '../../lib/db-errors.ts';
import { type Database, first, openDatabase } from '../../lib/db.ts';
import { APP_ROLE } from '../../lib/grants.ts';
import { pendingMigrations } from '../../lib/migrate.ts';
import type { LiveChannel } from '../../merchants/channels/channel.ts';
import { findMerchant } from '../../merchants/operations.ts';
import {
  check,
  codeOf,
  type DoctorParts,
  type Finding,
  hasWrong,
  ofSkew,
  ok,
  type Result,
  warning,
  wrong,
} from './check.ts';
import { checkOwnAccounts } from './own-accounts.ts';
import { ofNetworkFailure, serverOf } from './reach.ts';

const DATABASE_URL = 'DATABASE_URL';

/** Each try has 1 s (lib/db.ts): a machine that is busy needs more. */
const TRIES_MAX = 3;

/**
 * PostgreSQL: the connection, and over it the schema, the role, the clock, merchants' own accounts on these channels and, in
 * production, the absence of demo data.
 */
export async function checkDatabase(parts: DoctorParts, channels: readonly LiveChannel[]): Promise<Finding[]> {
  const { config, project } = parts;
  // A connection for each channel, whose accounts are checked at the same time.
  const db = openDatabase({ url: config.DATABASE_URL, poolMax: channels.length, applicationName: 'meskot-doctor' });
  try {
    const connected = await check('database', () => connect(db, config.DATABASE_URL));
    if (hasWrong(connected)) return connected;
    return [
      ...connected,
      ...(await check('migrations', () => checkMigrations(db, join(project, 'migrations')))),
      ...(await check('database role', () => checkRole(db, config.production))),
      ...(await check('database clock', () => compareClocks(db, parts))),
      ...(await Promise.all(channels.map((channel) => checkOwnAccounts(db, parts, channel)))).flat(),
      ...(config.production ? await check('demo data', () => checkDemoData(db)) : []),
    ];
  } finally {
    // A database that hangs also hangs this.
    void db.destroy().catch(() => {});
  }
}

async function connect(db: Database, url: string): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      const row = await first<{ version: string }>(db, "SELECT current_setting('server_version') AS version");
      return ok(`PostgreSQL ${row?.version} at ${placeOf(url)}.`);
    } catch (error) {
      if (!isLate(error) || tries === TRIES_MAX) return ofDatabaseError(error, url);
    }
  }
}

const isLate = (error: unknown): boolean => isNativeError(error) && /timeout|timed out/i.test(error.message);

/** By PostgreSQL's codes. */
const REJECTIONS: Readonly<Record<string, readonly [string, string]>> = {
  '28P01': ['rejects the user or the password', `Check both in ${DATABASE_URL}.`],
  '28000': ['rejects the user', `Check ${DATABASE_URL}, and pg_hba.conf of the server.`],
  '3D000': ['has no such database', `Check the name in ${DATABASE_URL}, or create it and run "meskot migrate".`],
  '42501': ['does not let this role connect', 'Run "meskot migrate" as the owner: it grants the rights.'],
  '53300': ['has no free connection', 'Lower DATABASE_POOL_MAX of the processes, or raise max_connections.'],
  '57P03': ['is starting or stopping', 'Run it again in a minute.'],
};

function ofDatabaseError(error: unknown, url: string): Result {
  if (error instanceof DatabaseRefused) return wrong(error.message, error.next);
  const code = codeOf(error);
  const rejection = REJECTIONS[code];
  if (rejection) return wrong(`PostgreSQL at ${placeOf(url)} ${rejection[0]}.`, rejection[1]);
  if (!URL.canParse(url)) return wrong(`The database cannot be reached (${code}).`, `Check ${DATABASE_URL}.`);
  const server = serverOf(url, DATABASE_URL);
  return ofNetworkFailure(isLate(error) ? 'TIMEOUT' : code, { ...server, port: server.port || 5_432 });
}

/** Without the user and the password. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return DATABASE_URL;
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

async function checkMigrations(db: Database, directory: string): Promise<Result> {
  const pending = await pendingMigrations(db, directory);
  if (pending.length === 0) return ok('All are applied.');
  const found = `${pending.length} are not applied, the first is ${pending[0]}.`;
  return wrong(found, 'Run "meskot migrate" with the owner in DATABASE_URL.');
}

const ROLE = `
  SELECT current_user AS name, rolsuper OR pg_has_role(current_user, datdba, 'MEMBER') AS is_owner,
         current_setting('session_replication_role') AS replication_role
  FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user`;

/** Of what a role's settings could break, connections set everything themselves (lib/db-session.ts) but what only a superuser may. */
async function checkRole(db: Database, production: boolean): Promise<Result> {
  const role = await first<{ name: string; isOwner: boolean; replicationRole: string }>(db, ROLE);
  if (role && role.replicationRole !== 'origin') {
    const broken = `session_replication_role is ${role.replicationRole} for ${role.name}: foreign keys and triggers do not apply.`;
    return wrong(broken, `As a superuser: ALTER ROLE ${role.name} RESET session_replication_role, also IN DATABASE.`);
  }
  if (role?.isOwner === false) return ok(`${role.name} does not own the database.`);
  const found = `${role?.name} owns the database, so a process could change the schema and the ledger.`;
  const next = `Connect as ${APP_ROLE}; only "migrate" connects as the owner.`;
  return production ? wrong(found, next) : warning(found, next);
}

const READ_TIME = 'SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS float8) AS ms';

async function compareClocks(db: Database, { clock }: DoctorParts): Promise<Result> {
  const startedMs = clock().getTime();
  const row = await first<{ ms: number }>(db, READ_TIME);
  const midwayMs = (startedMs + clock().getTime()) / 2;
  return ofSkew((midwayMs - (row?.ms ?? midwayMs)) / 1_000, "the database's");
}

async function checkDemoData(db: Database): Promise<Result> {
  const merchant = await findMerchant(db, ABYSSINIA.scope.merchantId);
  if (!merchant) return ok('There is none.');
  return wrong(`The database has demo data (${merchant.id}), so no process starts.`, 'Use another database.');
}
