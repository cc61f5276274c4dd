import { createPrivateKey, createPublicKey } from 'node:crypto';

import { z } from 'zod';

import { readBaseAddress } from '../lib/base-address.ts';
import { isDay } from '../lib/dates.ts';
import { listed } from '../lib/given-settings.ts';
import { isRange } from '../lib/ip-range.ts';
import { publicKeyOf, SANDBOX_MERCHANT_KEY, SANDBOX_PROVIDER_KEY } from '../lib/sandbox-keys.ts';
import { byLiveChannel, LIVE_CHANNELS, manifestOf, type LiveChannel } from '../merchants/channels/channel.ts';
import type { Setting, Settings } from './manifest.ts';

const text = z.string().trim().min(1).max(500);
const address = (keepsSlash = false) =>
  z
    .string()
    .max(500)
    .transform((value, ctx): string => {
      const read = readBaseAddress(value, { path: true, example: 'https://provider.example.et' });
      if ('problem' in read) ctx.addIssue(read.problem);
      return 'problem' in read ? z.NEVER : read.address + (keepsSlash && value.endsWith('/') ? '/' : '');
    });

/** PEM, of which a setting may write the line breaks as `\n`. */
const pem = z
  .string()
  .max(50_000)
  .transform((value) => value.replaceAll(String.raw`\n`, '\n').trim());

const privateKey = pem.refine((value) => isReadable(() => createPrivateKey(value)), {
  error: 'must be a private key in PEM, as of: openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048',
});

/** The provider's public keys or certificates: while it replaces its key, the old and the new one, in any order. */
const publicKeys = pem.refine((value) => isReadable(() => pemBlocks(value).map((block) => createPublicKey(block))), {
  error: 'must be public keys or certificates in PEM, one below the other',
});

/** The blocks of a PEM text. Throws where there is none. */
export function pemBlocks(value: string): string[] {
  const blocks = value.match(/-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----/g);
  if (!blocks) throw new Error('no PEM block');
  return blocks;
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** Reads the value of a setting of this kind. */
function schemaOf(setting: Setting): z.ZodType<string> {
  switch (setting.kind) {
    case 'text':
      return text;
    case 'page':
      // Its path may end with a slash.
      return address(true);
    case 'privateKey':
      return privateKey;
    case 'publicKeys':
      return publicKeys;
    case 'choice':
      return z.enum(setting.of).default(setting.of[0]);
  }
}

const schemasOf = (settings: Settings) =>
  Object.fromEntries(Object.entries(settings).map(([field, setting]) => [field, schemaOf(setting)]));

/** How we call a provider, and how it calls us. */
const Connection = z.strictObject({
  /** Two calls must end within the lease of a payment attempt, 10 s. */
  timeoutMs: wholeNumber(500, 4_500, '4000'),
  /** Of one process, and of all accounts; 0: no limit. */
  callsPerSecond: z
    .string()
    .default('0')
    .refine((value) => /^\d{1,5}(\.\d{1,2})?$/.test(value) && Number(value) <= 10_000, {
      error: 'must be a number from 0 to 10000, such as 5 or 0.5',
    })
    .transform(Number),
  callbackBaseUrl: address().optional(),
  callbackCidrs: z
    .string()
    .default('')
    .transform(listed)
    .refine((ranges) => ranges.every(isRange), {
      error: 'must be networks such as 196.188.0.0/16, separated by commas',
    }),
  /** The first day in Addis Ababa, YYYY-MM-DD, on which the provider's credentials are no longer valid. */
  credentialsExpireOn: z.string().refine(isDay, { error: 'must be a date such as 2027-06-30' }).optional(),
  /** Whether the contract with the provider includes payouts. */
  payouts: flag(),
  /** Whether it includes refunds of payments. */
  refunds: flag(),
});
export type ConnectionSettings = z.output<typeof Connection>;

function flag() {
  return z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true');
}

function wholeNumber(min: number, max: number, byDefault: string) {
  return z
    .string()
    .default(byDefault)
    .refine((value) => /^\d{1,5}$/.test(value) && Number(value) >= min && Number(value) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
}

/** By channel: the provider's service, and the account there. */
const PARTS = byLiveChannel((channel) => {
  const { service, credentials } = manifestOf(channel);
  return {
    endpoint: z.strictObject({ baseUrl: address(), ...schemasOf(service) }),
    credentials: z.strictObject(schemasOf(credentials)),
  };
});

/** Of an account at a provider, by the fields of its manifest. */
export type Credentials = Readonly<Record<string, string>>;
export type ProviderEndpoint = Readonly<Record<string, string>> & { baseUrl: string };
export const credentialsOf = (channel: LiveChannel) => PARTS[channel].credentials;

const constantCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
/** The name of the setting that has this field of a channel. */
export const settingOf = (channel: LiveChannel, field: string, prefix = ''): string =>
  `${channel}_${prefix}${constantCase(field)}`;

const PAYOUT = 'PAYOUT_';

/** Every setting of live providers by name, as <channel>_BASE_URL or <channel>_PAYOUT_TOKEN; none is required. */
export const PROVIDER_FIELDS: Record<`${LiveChannel}_${string}`, z.ZodType> = Object.fromEntries(
  LIVE_CHANNELS.flatMap((channel) => {
    const { endpoint, credentials } = PARTS[channel];
    const optional = Object.entries({ ...endpoint.shape, ...credentials.shape, ...Connection.shape });
    return [
      ...optional.map(([field, schema]) => [settingOf(channel, field), schema.optional()] as const),
      ...Object.entries(credentials.shape).map(
        ([field, schema]) => [settingOf(channel, field, PAYOUT), schema.optional()] as const,
      ),
    ];
  }),
);

/** A provider as the settings have it. `missing`: the settings without which it is not configured. */
export type LiveProvider = {
  connection: ConnectionSettings;
  endpoint: ProviderEndpoint | null;
  /** The platform's account; null where merchants have their own. */
  payIn: Credentials | null;
  /** Of payouts, where they are part of the contract; each value that is not set is that of payments. */
  payOut: Credentials | null;
  missing: string[];
  /** Those of `missing` that merchants with their own account need as well. */
  missingService: string[];
};
export type LiveProviders = Record<LiveChannel, LiveProvider>;

export function readLiveProviders(settings: Readonly<Record<string, unknown>>): LiveProviders {
  return byLiveChannel((channel) => readLiveProvider(channel, settings));
}

function readLiveProvider(channel: LiveChannel, settings: Readonly<Record<string, unknown>>): LiveProvider {
  const missing: string[] = [];
  const given = ({ shape }: z.ZodObject, prefix = '') => {
    const values = Object.keys(shape).map((field) => [field, settings[settingOf(channel, field, prefix)]] as const);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  };
  const complete = <Value>(schema: z.ZodObject): Value | null => {
    const values = given(schema);
    const absent = Object.keys(schema.shape).filter((field) => !(field in values));
    missing.push(...absent.map((field) => settingOf(channel, field)));
    // Their types are those of the fields, which are validated.
    return absent.length === 0 ? (values as Value) : null;
  };
  const { credentials } = PARTS[channel];
  const endpoint = complete<ProviderEndpoint>(PARTS[channel].endpoint);
  const missingService = [...missing];
  const payIn = complete<Credentials>(credentials);
  const connection = given(Connection) as ConnectionSettings;
  const payOut = payIn && { ...payIn, ...(given(credentials, PAYOUT) as Credentials) };
  return { connection, endpoint, payIn, payOut, missing, missingService };
}

const PUBLISHED: ReadonlySet<unknown> = new Set([
  publicKeyOf(SANDBOX_MERCHANT_KEY),
  publicKeyOf(SANDBOX_PROVIDER_KEY),
  ...LIVE_CHANNELS.flatMap((channel) => {
    const { credentials, sandbox } = manifestOf(channel);
    return Object.entries(sandbox.credentials).flatMap(([field, value]) => {
      const setting = credentials[field];
      return setting?.kind === 'text' && setting.isSecret ? [value] : [];
    });
  }),
]);

/**
 * What is wrong with validated settings of live providers in production, a sentence for each: an address without TLS, and
 * a credential of the sandbox, which is published and which the simulator accepts.
 */
export function productionProblems(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(PROVIDER_FIELDS).flatMap((name) => {
    const value = settings[name];
    if (typeof value !== 'string') return [];
    if (name.endsWith('_URL') && new URL(value).protocol !== 'https:') return [`${name} must be https in production`];
    return isPublished(value)
      ? [`${name} must not be the sandbox's, which is published: set what the provider has issued`]
      : [];
  });
}

/** Whether a credential, or one of several keys, is the sandbox's. */
export const isPublished = (value: string): boolean => valuesOf(value).some((one) => PUBLISHED.has(one));

/** A private key is compared by its public key, and certificates by theirs, since both can be written in several ways. */
function valuesOf(value: string): string[] {
  try {
    return pemBlocks(value).map((block) => createPublicKey(block).export({ type: 'spki', format: 'pem' }).toString());
  } catch {
    return [value];
  }
}
