import { createPrivateKey, createPublicKey } from 'node:crypto';

import type { z } from 'zod';

import { decrypt, encrypt, sha256, type KeyRing } from '../../lib/crypto.ts';
import { invalidFields, type FieldIssue } from '../../lib/errors.ts';
import type { SealedTable } from '../../lib/reencrypt.ts';
import { manifestOf, type LiveChannel } from '../../merchants/channels/channel.ts';
import type { Setting } from '../manifest.ts';
import { credentialsOf, isPublished, type Credentials } from '../settings.ts';

/** The credentials of an account at a provider. `payOut`: of an account of its own for payouts; null: the same. */
export type AccountCredentials = { payIn: Credentials; payOut: Credentials | null };

/** The table and column of encrypted credentials. */
export const SEALED_CREDENTIALS: SealedTable = {
  table: 'provider_credential',
  key: ['id'],
  columns: ['credentials'],
  scopeOf: ([id = '']) => id,
};

/** Credentials as they are stored: AES-256-GCM for this row. */
export function sealCredentials(keyRing: KeyRing, id: string, values: AccountCredentials): Buffer {
  return encrypt(keyRing, id, JSON.stringify(values));
}

/** The reverse of {@link sealCredentials}. */
export function openCredentials(keyRing: KeyRing, { id, credentials }: { id: string; credentials: Buffer }) {
  return JSON.parse(decrypt(keyRing, id, credentials)) as AccountCredentials;
}

/** Credentials from untrusted input. Throws VALIDATION_ERROR, which names fields and never repeats a value. */
export function readCredentials(
  channel: LiveChannel,
  { credentials, payoutCredentials }: { credentials: unknown; payoutCredentials?: unknown },
): AccountCredentials {
  const issues: FieldIssue[] = [];
  const read = (field: string, value: unknown): Credentials | null => {
    const parsed = credentialsOf(channel).safeParse(value);
    if (parsed.success) {
      issues.push(...unusable(channel, field, parsed.data));
      return parsed.data;
    }
    issues.push(...parsed.error.issues.flatMap((issue) => fieldIssues(channel, field, issue)));
    return null;
  };
  const payIn = read('credentials', credentials);
  const payOut = payoutCredentials === undefined ? null : read('payoutCredentials', payoutCredentials);
  if (!payIn || issues.length > 0) throw invalidFields(issues);
  return { payIn, payOut };
}

/** Values that are of the right form, and cannot be a provider's. */
function unusable(channel: LiveChannel, field: string, credentials: Credentials): FieldIssue[] {
  const settings = manifestOf(channel).credentials;
  return Object.entries(credentials).flatMap(([name, value]) => {
    const isOtherKey = settings[name]?.kind === 'privateKey' && createPrivateKey(value).asymmetricKeyType !== 'rsa';
    if (isOtherKey) return [{ field: `${field}.${name}`, issue: 'must be an RSA key' }];
    if (!isPublished(value)) return [];
    return [{ field: `${field}.${name}`, issue: "must not be the sandbox's, which is published" }];
  });
}

function fieldIssues(channel: LiveChannel, field: string, issue: z.core.$ZodIssue): FieldIssue[] {
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(credentialsOf(channel).shape).join(', ');
    return [{ field, issue: `must have only the fields of ${channel}: ${known}; others were given` }];
  }
  const isText = issue.code === 'invalid_type' || issue.code === 'too_small' || issue.code === 'too_big';
  const path = [field, ...issue.path.map(String)].join('.');
  return [{ field: path, issue: isText ? 'must be a text that is not empty, within 500 characters' : issue.message }];
}

/** The account that credentials are for, by the provider's own name: a merchant code, a till. No secret. */
export function accountOf(channel: LiveChannel, credentials: Credentials): string {
  return credentials[manifestOf(channel).account] ?? '';
}

/** By `credentials` and `payoutCredentials`: ids, or how they end, and the fingerprint of the public key. */
export type Identifiers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What is stored beside the encrypted values, so that operators can compare a set with what was issued. No secret. */
export function identify(channel: LiveChannel, { payIn, payOut }: AccountCredentials) {
  const account = accountOf(channel, payIn);
  const payoutAccount = payOut && accountOf(channel, payOut);
  const identifiers: Identifiers = {
    credentials: identifiersOf(channel, payIn),
    ...(payOut && { payoutCredentials: identifiersOf(channel, payOut) }),
  };
  return { account, payoutAccount: payoutAccount === account ? null : payoutAccount, identifiers };
}

const FINGERPRINT_CHARACTERS = 16;

function identifiersOf(channel: LiveChannel, credentials: Credentials): Record<string, string> {
  const settings = Object.entries(manifestOf(channel).credentials);
  return Object.fromEntries(settings.flatMap(([field, setting]) => identifierOf(field, setting, credentials[field])));
}

/** `publicKey`: as `openssl pkey -pubout -outform DER | sha256sum` of the private one begins. */
function identifierOf(field: string, setting: Setting, value = ''): [name: string, shown: string][] {
  if (setting.kind === 'privateKey') {
    const der = createPublicKey(value).export({ type: 'spki', format: 'der' });
    return [['publicKey', sha256(der).toString('hex').slice(0, FINGERPRINT_CHARACTERS)]];
  }
  if (setting.kind !== 'text' || setting.shown === undefined) return [];
  return [[field, setting.shown === 'end' ? lastOf(value) : value]];
}

/** The last four characters of an id, by which a reader identifies it. */
export const lastOf = (id: string): string => `…${id.slice(-4)}`;
