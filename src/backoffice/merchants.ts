import {
  createKey,
  listKeys,
  revokeKey,
  rotateKey,
  type ApiKey,
  type MadeKey,
  type NewKey,
  type Rotation,
} from '../access/api-keys.ts';
import { recordAudit, type AuditContext } from '../access/audit.ts';
import { secretHoldersOf } from '../access/separation-of-duties.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex, Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import { grantChannels, setChannelApproval } from '../merchants/channels/operations.ts';
import { createMerchant, findMerchant, setMerchantStatus, type Merchant } from '../merchants/operations.ts';
import { resumeUnsent } from '../withdrawals/review.ts';

/** One merchant. Throws NOT_FOUND. */
export async function readMerchant(db: Queryable, merchantId: string): Promise<Merchant> {
  const merchant = await findMerchant(db, merchantId);
  if (!merchant) throw notFound('merchant');
  return merchant;
}

/** Makes a merchant with what it starts with: every available channel in the sandbox. */
export async function onboardMerchant(trx: Knex.Transaction, { name }: { name: string }): Promise<Merchant> {
  const merchant = await createMerchant(trx, { name });
  await grantChannels(trx, { merchantId: merchant.id, environment: 'sandbox' });
  return merchant;
}

/** The same, by an operator. */
export async function addMerchant(context: AuditContext, { name }: { name: string }): Promise<Merchant> {
  const merchant = await onboardMerchant(context.tx.trx, { name });
  await recordAudit(context, { action: 'merchant.create', ...aboutMerchant(merchant.id), after: { name } });
  return merchant;
}

/** Suspends a merchant or lets it go on; doing it twice is no error, and noted once. Throws NOT_FOUND. */
export async function changeMerchantStatus(
  context: AuditContext,
  input: { merchantId: string; status: Merchant['status']; reason?: string | undefined },
): Promise<Merchant> {
  const { trx } = context.tx;
  const { merchantId, status, reason } = input;
  const before = await readMerchant(trx, merchantId);
  if (!(await setMerchantStatus(trx, merchantId, status))) return before;
  const action = status === 'SUSPENDED' ? 'merchant.suspend' : 'merchant.resume';
  const tx = { before: { status: status === 'SUSPENDED' ? 'ACTIVE' : 'SUSPENDED' }, after: { status } };
  await recordAudit(context, { action, ...aboutMerchant(merchantId), ...tx, reason });
  if (status === 'ACTIVE') await resumeUnsent(context.tx, merchantId);
  return { ...before, status };
}

type KeyDeps = { pepper: string; clock: Clock };

/** Makes a key for a merchant. Throws NOT_FOUND, VALIDATION_ERROR. */
export async function createMerchantKey(context: AuditContext, input: NewKey, deps: KeyDeps): Promise<MadeKey> {
  const { trx } = context.tx;
  await readMerchant(trx, input.merchantId);
  const made = await createKey({ trx, ...deps }, { ...input, ...(await keyIssuer(context)) });
  const { id, kind, name, scopes, ipRanges, expiresAt } = made.key;
  const after = { kind, name, scopes, ipRanges, expiresAt };
  await recordAudit(context, { action: 'key.create', ...aboutKey({ ...scopeOf(input), id }), after });
  return made;
}

/** Makes a merchant's next key, and ends the one before after a while. Throws NOT_FOUND, INVALID_STATE, VALIDATION_ERROR. */
export async function rotateKeyOf(context: AuditContext, input: Rotation, deps: KeyDeps): Promise<MadeKey> {
  const { trx } = context.tx;
  const { key, secret, old } = await rotateKey({ trx, ...deps }, { ...input, ...(await keyIssuer(context)) });
  const after = { rotatedTo: key.id, expiresAt: old.expiresAt };
  await recordAudit(context, { action: 'key.rotate', ...aboutKey(old), after });
  return { key, secret };
}

/** Ends a merchant's key; twice is no error, and noted once. Throws NOT_FOUND. */
export async function revokeKeyOf(
  context: AuditContext,
  input: { merchantId: string; keyId: string; reason?: string | undefined },
  clock: Clock,
): Promise<ApiKey> {
  const { trx } = context.tx;
  const { merchantId, keyId, reason } = input;
  if ((await listKeys(trx, { id: keyId, merchantId })).length === 0) throw notFound('key');
  const { key, ended } = await revokeKey({ trx, clock }, keyId);
  if (ended)
    await recordAudit(context, { action: 'key.revoke', ...aboutKey(key), after: { revokedAt: key.revokedAt }, reason });
  return key;
}

async function keyIssuer(context: AuditContext): Promise<Pick<NewKey, 'createdBy' | 'secretHolders'>> {
  return { createdBy: context.operatorId, secretHolders: await secretHoldersOf(context.tx.trx, context) };
}

function aboutKey({ id, ...scope }: MerchantScope & { id: string }) {
  return { resourceType: 'key', resourceId: id, ...scopeOf(scope) } as const;
}

/** The platform's word on a merchant's channel; twice is no error, and noted once. Throws NOT_FOUND. */
export async function decideChannel(
  context: AuditContext,
  input: MerchantScope & { channel: Channel; approval: 'APPROVED' | 'SUSPENDED'; reason?: string | undefined },
): Promise<void> {
  const { trx } = context.tx;
  const { channel, approval, reason } = input;
  await readMerchant(trx, input.merchantId);
  const before = await setChannelApproval(trx, { ...scopeOf(input), channel, approval });
  if (before === approval) return;
  await recordAudit(context, {
    action: approval === 'APPROVED' ? 'channel.approve' : 'channel.suspend',
    resourceType: 'channel',
    resourceId: channel,
    ...scopeOf(input),
    before: { approval: before },
    after: { approval },
    reason,
  });
}

function aboutMerchant(merchantId: string) {
  return { resourceType: 'merchant', resourceId: merchantId, merchantId } as const;
}
