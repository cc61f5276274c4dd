import {
  KEY_DAYS_MAX,
  listKeys,
  ROTATION_OVERLAP_HOURS,
  type ApiKey,
  type CreatedKey,
  type NewKey,
  type Rotation,
} from '../../access/api-keys.ts';
import { maskKey } from '../../access/key-format.ts';
import type { Scope } from '../../http/route.ts';
import { systemClock } from '../../lib/clock.ts';
import { COMMON_OPTIONS, runNoun, UsageError, type Row, type Verb, type Write } from '../../lib/command-line.ts';
import { DAY_MS } from '../../lib/dates.ts';
import type { Database } from '../../lib/db.ts';
import { notFound } from '../../lib/errors.ts';
import type { Environment } from '../../lib/scope.ts';
import { findMerchant } from '../../merchants/operations.ts';

/** What --help prints. */
export const KEYS_USAGE = `meskot keys create --merchant mrc_… [--name TEXT] [--scopes a,b] [--ip CIDR,CIDR] [--days 1-${KEY_DAYS_MAX}] [--live]
meskot keys list [--merchant mrc_…]
meskot keys rotate key_… [--overlap-hours 0-${ROTATION_OVERLAP_HOURS.max}] [--live]
meskot keys revoke key_… [--reason TEXT] [--live]
meskot keys reencrypt
With --scopes the key is restricted to them. --json prints JSON. Live keys are touched only with --live.
--operator opr_… says who acts, an admin, who then may not approve what the key asks for; on a machine with demo data its
operator does.
reencrypt encrypts by the first of ENCRYPTION_KEYS what the others have encrypted, and may be stopped and repeated.
`;

const OPTIONS = {
  merchant: { type: 'string' },
  name: { type: 'string' },
  scopes: { type: 'string' },
  ip: { type: 'string' },
  days: { type: 'string' },
  'overlap-hours': { type: 'string' },
  reason: { type: 'string' },
  operator: { type: 'string' },
  live: { type: 'boolean' },
  ...COMMON_OPTIONS,
} as const;

/** The operator that was named (opr_…), if any. */
type By = { operator: string | undefined };

/** What became of one kind of what is encrypted, or hashed: `left` is what still needs an older secret. */
export type ReencryptedPart = { what: string; seen: number; reencrypted: number; left: number };

export type KeysCommandDeps = {
  db: Database;
  generateKey: (input: NewKey, by: By) => Promise<CreatedKey>;
  rotateKey: (input: Rotation, by: By) => Promise<CreatedKey>;
  /** Takes lines that tell how far it is. */
  reencrypt: (print: (line: string) => void) => Promise<ReencryptedPart[]>;
  revokeKey: (input: { merchantId: string; keyId: string; reason?: string | undefined }, by: By) => Promise<ApiKey>;
  write: Write;
};

/** What a list shows of each key; `keys list --json` has the rest. */
const KEY_COLUMNS = ['id', 'environment', 'kind', 'key', 'name', 'expiresAt', 'revokedAt', 'lastUsedAt'];
const COLUMNS = { list: KEY_COLUMNS, reencrypt: ['what', 'seen', 'reencrypted', 'left'] };

type KeyVerb = Verb<typeof OPTIONS>;
type Options = Parameters<KeyVerb>[0]['options'];

/** Runs `meskot keys …`; `args` without the two words. Exit code: 0 done, 1 refused, 2 wrong usage, 3 not allowed, 4 not found. */
export async function runKeysCommand(args: readonly string[], deps: KeysCommandDeps): Promise<number> {
  const verbs = new Map([
    ['create', create(deps)],
    ['list', listAll(deps)],
    ['rotate', rotate(deps)],
    ['revoke', revoke(deps)],
    ['reencrypt', reencrypt(deps)],
  ]);
  return runNoun(
    { name: 'keys', usage: KEYS_USAGE, options: OPTIONS, verbs, columns: COLUMNS, write: deps.write },
    args,
  );
}

const create =
  ({ db, generateKey }: KeysCommandDeps): KeyVerb =>
  async ({ options, args }) => {
    rejectExtraArguments(args, 'create');
    const merchantId = options.merchant;
    if (merchantId === undefined) throw new UsageError('create needs --merchant.');
    if (!(await findMerchant(db, merchantId))) throw notFound('merchant');
    const scopes = list(options.scopes);
    const days = options.days === undefined ? null : wholeNumber('--days', options.days, { min: 1, max: KEY_DAYS_MAX });
    const wanted = {
      merchantId,
      environment: environmentOf(options),
      kind: scopes.length > 0 ? 'restricted' : 'secret',
      name: options.name ?? '',
      scopes: scopes as Scope[],
      ipRanges: list(options.ip),
      expiresAt: days === null ? null : new Date(systemClock().getTime() + days * DAY_MS),
    } as const;
    return presentSecretOnce(await generateKey(wanted, byOf(options)));
  };

const listAll =
  ({ db }: KeysCommandDeps): KeyVerb =>
  async ({ options, args }) => {
    rejectExtraArguments(args, 'list');
    const keys = await listKeys(db, options.merchant === undefined ? {} : { merchantId: options.merchant });
    return keys.map(present);
  };

const rotate =
  ({ db, rotateKey }: KeysCommandDeps): KeyVerb =>
  async ({ options, args }) => {
    const { id: keyId } = await requireKey(db, options, args);
    const hours = options['overlap-hours'];
    const range = { min: 0, max: ROTATION_OVERLAP_HOURS.max };
    const overlapHours = hours === undefined ? undefined : wholeNumber('--overlap-hours', hours, range);
    return presentSecretOnce(
      await rotateKey({ keyId, ...(overlapHours !== undefined && { overlapHours }) }, byOf(options)),
    );
  };

const revoke =
  ({ db, revokeKey }: KeysCommandDeps): KeyVerb =>
  async ({ options, args }) => {
    const { id: keyId, merchantId } = await requireKey(db, options, args);
    return present(await revokeKey({ merchantId, keyId, reason: options.reason }, byOf(options)));
  };

const reencrypt =
  ({ reencrypt: run, write }: KeysCommandDeps): KeyVerb =>
  async ({ args }) => {
    rejectExtraArguments(args, 'reencrypt');
    return run((line) => write(`${line}\n`, 'aside'));
  };

const byOf = ({ operator }: Options): By => ({ operator });

async function requireKey(db: Database, options: Options, [keyId, ...more]: readonly string[]): Promise<ApiKey> {
  rejectExtraArguments(more, keyId ?? '');
  if (keyId === undefined) throw new UsageError('Say which key: key_…');
  const key = (await listKeys(db, { id: keyId }))[0];
  if (!key) throw notFound('key');
  if (key.environment === 'live' && !options.live) throw new UsageError(`${keyId} is a live key: add --live.`);
  return key;
}

function rejectExtraArguments([word]: readonly string[], after: string): void {
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

function presentSecretOnce({ key, secret }: CreatedKey): Row {
  return { secret, ...present(key) };
}

function present(key: ApiKey): Row {
  return {
    id: key.id,
    merchantId: key.merchantId,
    environment: key.environment,
    kind: key.kind,
    key: maskKey(key),
    name: key.name,
    scopes: key.scopes.join(','),
    ipRanges: key.ipRanges.join(','),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
    rotatedTo: key.rotatedTo,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}
