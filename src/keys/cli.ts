import type { Scope } from '../http/route.ts';
import { systemClock } from '../lib/clock.ts';
import { COMMON_OPTIONS, runNoun, UsageError, type Shown, type Verb, type Write } from '../lib/command-line.ts';
import { DAY_MS } from '../lib/dates.ts';
import type { Knex } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { Environment } from '../lib/owner.ts';
import { findMerchant } from '../merchants/operations.ts';
import { showKey } from './format.ts';
import {
  createKey,
  KEY_DAYS_MAX,
  listKeys,
  revokeKey,
  rotateKey,
  ROTATION_OVERLAP_HOURS,
  type ApiKey,
  type MadeKey,
} from './operations.ts';

/** What --help prints. */
export const KEYS_USAGE = `meskot keys create --merchant mrc_… [--name TEXT] [--scopes a,b] [--ip CIDR,CIDR] [--days 1-${KEY_DAYS_MAX}] [--live]
meskot keys list [--merchant mrc_…]
meskot keys rotate key_… [--overlap-hours 0-${ROTATION_OVERLAP_HOURS.max}] [--live]
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
  ...COMMON_OPTIONS,
} as const;

export type KeysCommandDeps = { db: Knex; config: { KEY_PEPPER: string }; write: Write };

/** What a list shows of each key; `keys list --json` has the rest. */
const COLUMNS = ['id', 'environment', 'kind', 'key', 'name', 'expiresAt', 'revokedAt', 'lastUsedAt'];

type KeyVerb = Verb<typeof OPTIONS>;
type Options = Parameters<KeyVerb>[0]['options'];

/** Runs `meskot keys …`; `args` without the two words. Exit code: 0 done, 1 refused, 2 wrong usage, 4 not found. */
export async function runKeysCommand(args: readonly string[], deps: KeysCommandDeps): Promise<number> {
  const verbs = new Map([
    ['create', create(deps)],
    ['list', listAll(deps)],
    ['rotate', rotate(deps)],
    ['revoke', revoke(deps)],
  ]);
  return runNoun(
    { name: 'keys', usage: KEYS_USAGE, options: OPTIONS, verbs, columns: COLUMNS, write: deps.write },
    args,
  );
}

const create =
  ({ db, config }: KeysCommandDeps): KeyVerb =>
  async ({ options, args }) => {
    refuseWords(args, 'create');
    const merchantId = options.merchant;
    if (merchantId === undefined) throw new UsageError('create needs --merchant.');
    if (!(await findMerchant(db, merchantId))) throw notFound('merchant');
    const scopes = list(options.scopes);
    const days = options.days === undefined ? null : wholeNumber('--days', options.days, { min: 1, max: KEY_DAYS_MAX });
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

const listAll =
  ({ db }: KeysCommandDeps): KeyVerb =>
  async ({ options, args }) => {
    refuseWords(args, 'list');
    const keys = await listKeys(db, options.merchant === undefined ? {} : { merchantId: options.merchant });
    return keys.map(present);
  };

const rotate =
  ({ db, config }: KeysCommandDeps): KeyVerb =>
  async ({ options, args }) => {
    const id = await requireKey(db, options, args);
    const hours = options['overlap-hours'];
    const made = await db.transaction((trx) =>
      rotateKey(
        { trx, pepper: config.KEY_PEPPER, clock: systemClock },
        {
          keyId: id,
          ...(hours !== undefined && {
            overlapHours: wholeNumber('--overlap-hours', hours, { min: 0, max: ROTATION_OVERLAP_HOURS.max }),
          }),
        },
      ),
    );
    return shownOnce(made);
  };

const revoke =
  ({ db }: KeysCommandDeps): KeyVerb =>
  async ({ options, args }) => {
    const id = await requireKey(db, options, args);
    return present(await db.transaction((trx) => revokeKey({ trx, clock: systemClock }, id)));
  };

async function requireKey(db: Knex, options: Options, [keyId, ...more]: readonly string[]): Promise<string> {
  refuseWords(more, keyId ?? '');
  if (keyId === undefined) throw new UsageError('Say which key: key_…');
  const key = (await listKeys(db, { id: keyId }))[0];
  if (!key) throw notFound('key');
  if (key.environment === 'live' && !options.live) throw new UsageError(`${keyId} is a live key: add --live.`);
  return keyId;
}

function refuseWords([word]: readonly string[], after: string): void {
  if (word !== undefined) throw new UsageError(`There is nothing to do with "${word}" after "${after}".`);
}

function environmentOf(options: Options): Environment {
  return options.live ? 'live' : 'sandbox';
}

function list(text: string | undefined): string[] {
  return (text ?? '').split(',').filter((part) => part !== '');
}

function wholeNumber(option: string, text: string, { min, max }: { min: number; max: number }): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`${option} must be a whole number from ${min} to ${max}, got "${text}".`);
}

function shownOnce({ key, secret }: MadeKey): Shown {
  return { secret, ...present(key) };
}

function present(key: ApiKey): Shown {
  return {
    id: key.id,
    merchantId: key.merchantId,
    environment: key.environment,
    kind: key.kind,
    key: showKey(key),
    name: key.name,
    scopes: key.scopes.join(','),
    ipRanges: key.ipRanges.join(','),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
    rotatedTo: key.rotatedTo,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}
