import { parseArgs } from 'node:util';

import type { Scope } from '../http/route.ts';
import { systemClock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import type { Environment } from '../lib/owner.ts';
import { findMerchant } from '../merchants/operations.ts';
import { createKey, listKeys, revokeKey, rotateKey, type ApiKey, type MadeKey } from './operations.ts';

const USAGE = `meskot keys create --merchant mrc_… [--name TEXT] [--scopes a,b] [--ip CIDR,CIDR] [--days N] [--live]
meskot keys list [--merchant mrc_…]
meskot keys rotate key_… [--overlap-hours 0-168] [--live]
meskot keys revoke key_… [--live]
With --scopes the key is restricted to them. --json prints JSON. Live keys are touched only with --live.
`;

const OPTIONS = {
  merchant: { type: 'string' },
  name: { type: 'string' },
  scopes: { type: 'string' },
  ip: { type: 'string' },
  days: { type: 'string' },
  'overlap-hours': { type: 'string' },
  live: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const DAY_MS = 24 * 60 * 60 * 1000;

export type KeysCommandDeps = { db: Knex; config: { KEY_PEPPER: string }; write: (text: string) => void };

type Options = ReturnType<typeof readArguments>['values'];
type Command = (deps: KeysCommandDeps, options: Options, keyId: string | undefined) => Promise<KeyRecord | KeyRecord[]>;

/** Runs `meskot keys …`; `args` without the two words. Exit code: 0 done, 1 refused, 2 wrong usage, 4 not found. */
export async function runKeysCommand(args: string[], deps: KeysCommandDeps): Promise<number> {
  try {
    const { values: options, positionals } = readArguments(args);
    const [verb = '', keyId, ...more] = positionals;
    const command = COMMANDS.get(verb);
    if (options.help) {
      deps.write(USAGE);
      return 0;
    }
    if (!command || more.length > 0) throw new UsageError(`There is no "keys ${positionals.join(' ')}".`);
    const result = await command(deps, options, keyId);
    deps.write(options.json ? `${JSON.stringify(result, null, 2)}\n` : asText(result));
    return 0;
  } catch (error) {
    return refuse(error, deps.write);
  }
}

class UsageError extends Error {
  override readonly name = 'UsageError';
}

function readArguments(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'The arguments are wrong.');
  }
}

function refuse(error: unknown, write: (text: string) => void): number {
  if (error instanceof UsageError) {
    write(`${error.message}\n\n${USAGE}`);
    return 2;
  }
  if (!(error instanceof AppError)) throw error;
  write(`${error.message}\n`);
  if (error.code === 'NOT_FOUND') return 4;
  return error.code === 'VALIDATION_ERROR' ? 2 : 1;
}

const create: Command = async ({ db, config }, options, keyId) => {
  if (keyId !== undefined) throw new UsageError(`create takes no "${keyId}".`);
  const merchantId = options.merchant;
  if (merchantId === undefined) throw new UsageError('create needs --merchant.');
  if (!(await findMerchant(db, merchantId))) throw notFound('merchant');
  const scopes = list(options.scopes);
  const days = options.days === undefined ? null : wholeNumber('--days', options.days);
  const made = await db.transaction((trx) =>
    createKey(
      { trx, pepper: config.KEY_PEPPER, clock: systemClock },
      {
        merchantId,
        environment: environmentOf(options),
        kind: scopes.length > 0 ? 'restricted' : 'secret',
        name: options.name ?? '',
        scopes: scopes as Scope[],
        ipRanges: list(options.ip),
        expiresAt: days === null ? null : new Date(systemClock().getTime() + days * DAY_MS),
      },
    ),
  );
  return shownOnce(made);
};

const listAll: Command = async ({ db }, options) => {
  const keys = await listKeys(db, options.merchant === undefined ? {} : { merchantId: options.merchant });
  return keys.map(present);
};

const rotate: Command = async ({ db, config }, options, keyId) => {
  const id = await requireKey(db, options, keyId);
  const hours = options['overlap-hours'];
  const made = await db.transaction((trx) =>
    rotateKey(
      { trx, pepper: config.KEY_PEPPER, clock: systemClock },
      { keyId: id, ...(hours !== undefined && { overlapHours: wholeNumber('--overlap-hours', hours) }) },
    ),
  );
  return shownOnce(made);
};

const revoke: Command = async ({ db }, options, keyId) => {
  const id = await requireKey(db, options, keyId);
  return present(await db.transaction((trx) => revokeKey({ trx, clock: systemClock }, id)));
};

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['create', create],
  ['list', listAll],
  ['rotate', rotate],
  ['revoke', revoke],
]);

async function requireKey(db: Knex, options: Options, keyId: string | undefined): Promise<string> {
  if (keyId === undefined) throw new UsageError('Say which key: key_…');
  const key = (await listKeys(db, { id: keyId }))[0];
  if (!key) throw notFound('key');
  if (key.environment === 'live' && !options.live) throw new UsageError(`${keyId} is a live key: add --live.`);
  return keyId;
}

function environmentOf(options: Options): Environment {
  return options.live ? 'live' : 'sandbox';
}

function list(text: string | undefined): string[] {
  return (text ?? '').split(',').filter((part) => part !== '');
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`${option} must be a whole number, got "${text}".`);
  return Number(text);
}

function shownOnce({ key, secret }: MadeKey) {
  return { secret, ...present(key) };
}

function present(key: ApiKey) {
  return {
    id: key.id,
    merchantId: key.merchantId,
    environment: key.environment,
    kind: key.kind,
    prefix: key.prefix,
    name: key.name,
    scopes: key.scopes.join(','),
    ipRanges: key.ipRanges.join(','),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
    rotatedTo: key.rotatedTo,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}

type KeyRecord = ReturnType<typeof present> & { secret?: string };

/** One record as lines of name and value; many as a table of the columns that tell them apart. */
function asText(result: KeyRecord | KeyRecord[]): string {
  if (!Array.isArray(result)) {
    const entries = Object.entries(result).filter(([, value]) => value !== null && value !== '');
    return entries.map(([name, value]) => `${name.padEnd(12)} ${value}\n`).join('');
  }
  const columns = ['id', 'environment', 'kind', 'prefix', 'name', 'expiresAt', 'revokedAt', 'lastUsedAt'] as const;
  const table: string[][] = [[...columns], ...result.map((key) => columns.map((name) => key[name] ?? '-'))];
  const widths = columns.map((_, index) => Math.max(...table.map((line) => line[index]?.length ?? 0)));
  return table
    .map(
      (line) =>
        `${line
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
