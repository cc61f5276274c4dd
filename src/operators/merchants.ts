import type { Channel } from '../channels/channel.ts';
import { grantChannels, setChannelApproval } from '../channels/operations.ts';
import { eyesOf } from '../keys/four-eyes.ts';
import {
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  type ApiKey,
  type MadeKey,
  type NewKey,
  type Rotation,
} from '../keys/operations.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex, Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import { createMerchant, findMerchant, setMerchantStatus, type Merchant } from '../merchants/operations.ts';
import { wakeUnsent } from '../withdrawals/decide.ts';
import { note, type Deed } from './audit.ts';

/** One merchant. Throws NOT_FOUND. */
export async function readMerchant(db: Queryable, merchantId: string): Promise<Merchant> {
  const merchant = await findMerchant(db, merchantId);
  if (!merchant) throw notFound('merchant');
  return merchant;
}

/** Makes a merchant with what it starts with: every available channel in the sandbox. */
export async function startMerchant(trx: Knex.Transaction, { name }: { name: string }): Promise<Merchant> {
  const merchant = await createMerchant(trx, { name });
  await grantChannels(trx, { merchantId: merchant.id, environment: 'sandbox' });
  return merchant;
}

/** The same, by an operator. */
export async function addMerchant(deed: Deed, { name }: { name: string }): Promise<Merchant> {
  const merchant = await startMerchant(deed.change.trx, { name });
  await note(deed, { action: 'merchant.create', ...aboutMerchant(merchant.id), after: { name } });
  return merchant;
}

/** Suspends a merchant or lets it go on; doing it twice is no error, and noted once. Throws NOT_FOUND. */
export async function decideMerchant(
  deed: Deed,
  input: { merchantId: string; status: Merchant['status']; reason?: string | undefined },
): Promise<Merchant> {
  const { trx } = deed.change;
  const { merchantId, status, reason } = input;
  const before = await readMerchant(trx, merchantId);
  if (!(await setMerchantStatus(trx, merchantId, status))) return before;
  const action = status === 'SUSPENDED' ? 'merchant.suspend' : 'merchant.resume';
  const change = { before: { status: status === 'SUSPENDED' ? 'ACTIVE' : 'SUSPENDED' }, after: { status } };
  await note(deed, { action, ...aboutMerchant(merchantId), ...change, reason });
  if (status === 'ACTIVE') await wakeUnsent(deed.change, merchantId);
  return { ...before, status };
}

type KeyDeps = { pepper: string; clock: Clock };

/** Makes a key for a merchant. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function makeKeyFor(deed: Deed, input: NewKey, deps: KeyDeps): Promise<MadeKey> {
  const { trx } = deed.change;
  await readMerchant(trx, input.merchantId);
  const made = await createKey({ trx, ...deps }, { ...input, ...(await makerOf(deed)) });
  const { id, kind, name, scopes, ipRanges, expiresAt } = made.key;
  const after = { kind, name, scopes, ipRanges, expiresAt };
  await note(deed, { action: 'key.create', ...aboutKey({ ...ownerOf(input), id }), after });
  return made;
}

/** Makes a merchant's next key, and ends the one before after a while. Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR. */
export async function rotateKeyOf(deed: Deed, input: Rotation, deps: KeyDeps): Promise<MadeKey> {
  const { trx } = deed.change;
  const { key, secret, old } = await rotateKey({ trx, ...deps }, { ...input, ...(await makerOf(deed)) });
  const after = { rotatedTo: key.id, expiresAt: old.expiresAt };
  await note(deed, { action: 'key.rotate', ...aboutKey(old), after });
  return { key, secret };
}

/** Ends a merchant's key; twice is no error, and noted once. Throws NOT_FOUND. */
export async function revokeKeyOf(
  deed: Deed,
  input: { merchantId: string; keyId: string; reason?: string | undefined },
  clock: Clock,
): Promise<ApiKey> {
  const { trx } = deed.change;
  const { merchantId, keyId, reason } = input;
  if ((await listKeys(trx, { id: keyId, merchantId })).length === 0) throw notFound('key');
  const { key, ended } = await revokeKey({ trx, clock }, keyId);
  if (ended) await note(deed, { action: 'key.revoke', ...aboutKey(key), after: { revokedAt: key.revokedAt }, reason });
  return key;
}

async function makerOf(deed: Deed): Promise<Pick<NewKey, 'createdBy' | 'knownTo'>> {
  return { createdBy: deed.operatorId, knownTo: await eyesOf(deed.change.trx, deed) };
}

function aboutKey({ id, ...owner }: Owner & { id: string }) {
  return { resourceType: 'key', resourceId: id, ...ownerOf(owner) } as const;
}

/** The platform's word on a merchant's channel; twice is no error, and noted once. Throws NOT_FOUND. */
export async function decideChannel(
  deed: Deed,
  input: Owner & { channel: Channel; approval: 'APPROVED' | 'SUSPENDED'; reason?: string | undefined },
): Promise<void> {
  const { trx } = deed.change;
  const { channel, approval, reason } = input;
  await readMerchant(trx, input.merchantId);
  const before = await setChannelApproval(trx, { ...ownerOf(input), channel, approval });
  if (before === approval) return;
  await note(deed, {
    action: approval === 'APPROVED' ? 'channel.approve' : 'channel.suspend',
    resourceType: 'channel',
    resourceId: channel,
    ...ownerOf(input),
    before: { approval: before },
    after: { approval },
    reason,
  });
}

function aboutMerchant(merchantId: string) {
  return { resourceType: 'merchant', resourceId: merchantId, merchantId } as const;
}
