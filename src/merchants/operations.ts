import { z } from 'zod';

import { listKeys, presentKey } from '../access/api-keys.ts';
import { auditOf, presentAudit } from '../access/audit.ts';
import { nameFields, withNames } from '../access/names.ts';
import { AuditEntry, MerchantKey } from '../access/operator-schema.ts';
import { first, insertRow, type Queryable, rows, type Trx, updateRow } from '../lib/db.ts';
import { found, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Santim } from '../lib/money.ts';
import { allOf, paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import { grantChannels } from './channels/operations.ts';
import type { MerchantListQuery } from './schema.ts';

export const KYC_STATUSES = [
  'NOT_STARTED',
  'SUBMITTED',
  'UNDER_REVIEW',
  'APPROVED',
  'REJECTED',
  'MORE_INFO_NEEDED',
] as const;
export type KycStatus = (typeof KYC_STATUSES)[number];

export type Merchant = {
  id: string;
  name: string;
  status: 'ACTIVE' | 'SUSPENDED';
  kycStatus: KycStatus;
  createdAt: Date;
};

/** Creates a merchant in both environments. `id` only for seeding, where it must be the same each time. */
export async function createMerchant(trx: Trx, input: { name: string; id?: string; createdAt?: Date }) {
  return insertRow<Merchant>(trx, 'merchant', { id: newId('mrc'), ...input });
}

/** Suspends or resumes a merchant; the keys of a suspended one get MERCHANT_SUSPENDED. Returns whether the status changed. */
export async function setMerchantStatus(trx: Trx, merchantId: string, status: Merchant['status']): Promise<boolean> {
  const sql = 'UPDATE merchant SET status = :status WHERE id = :merchantId AND status <> :status RETURNING 1';
  return (await rows(trx, sql, { merchantId, status })).length > 0;
}

/** From which amount on a second person of the merchant confirms each withdrawal and refund; null: none does. */
export async function readSecondPersonFrom(db: Queryable, merchantId: string): Promise<Santim | null> {
  const sql = 'SELECT second_person_from_santim AS santim FROM merchant WHERE id = :merchantId';
  return found(await first<{ santim: Santim | null }>(db, sql, { merchantId }), 'merchant').santim;
}

/** Changes that amount, for later withdrawals and refunds. */
export async function setSecondPersonFrom(trx: Trx, merchantId: string, santim: Santim | null): Promise<void> {
  await updateRow(trx, { table: 'merchant', id: merchantId }, { secondPersonFromSantim: santim });
}

export async function findMerchant(db: Queryable, merchantId: string): Promise<Merchant | undefined> {
  return first<Merchant>(db, 'SELECT * FROM merchant WHERE id = :merchantId', { merchantId });
}

/** One merchant. Throws NOT_FOUND. */
export async function readMerchant(db: Queryable, merchantId: string): Promise<Merchant> {
  return found(await findMerchant(db, merchantId), 'merchant');
}

/** Creates a merchant with what each starts with: every available channel in the sandbox. */
export async function onboardMerchant(trx: Trx, { name }: { name: string }): Promise<Merchant> {
  const merchant = await createMerchant(trx, { name });
  await grantChannels(trx, { merchantId: merchant.id, environment: 'sandbox' });
  return merchant;
}

/** Merchants that match the filters, newest first. `search`: a whole id, or a part of the name in any case. */
export async function searchMerchants(
  db: Queryable,
  { status, kycStatus, search }: z.output<typeof MerchantListQuery>,
  page: Page,
) {
  const where = allOf([
    status && 'status = ANY (:status)',
    kycStatus && 'kyc_status = ANY (:kycStatus)',
    search && '(id = :search OR strpos(lower(name), lower(:search)) > 0)',
  ]);
  return paginateNewest<Merchant>(db, { table: 'merchant', where, values: { status, kycStatus, search } }, page);
}

/**
 * No money leaves for a suspended merchant. Throws INVALID_STATE, with what to do.
 * @param what the result, as in "this withdrawal is not approved".
 * @param instead what is possible while it is suspended.
 */
export async function requireNotSuspended(
  db: Queryable,
  merchantId: string,
  { what, instead }: { what: string; instead: string },
): Promise<void> {
  const merchant = await findMerchant(db, merchantId);
  if (merchant?.status !== 'SUSPENDED') return;
  const resume = `Resume it first (POST /api/ops/merchants/${merchantId}/resume)`;
  throw invalidState(`The merchant ${merchantId} is suspended: ${what}. ${resume}, or ${instead}.`);
}

/** A merchant as operators see it. */
export function presentMerchant({ id, ...merchant }: Merchant) {
  return { merchantId: id, ...merchant };
}

/** What operators see of everything that a merchant's key has requested, beside the resource itself. */
export const requestedByFields = {
  merchantName: z.string(),
  requestedBy: z.string().describe('key_… or opr_…, which cannot approve it'),
  ...nameFields('requestedBy'),
  requestedWith: MerchantKey.nullable().describe('That key; its secret holders cannot approve it either'),
  decisions: z.array(AuditEntry).describe('The decisions of operators about it, oldest first'),
};

type Requested = { id: string; merchantId: string; requestedBy: string };

/** The values of {@link requestedByFields}, and `others` (ids by field) with their names. Throws NOT_FOUND. */
export async function readRequestedBy(
  db: Queryable,
  { id, merchantId, requestedBy }: Requested,
  others: Readonly<Record<string, string | null>> = {},
) {
  const people = { ...others, requestedBy };
  const [merchant, [key], decisions, [named]] = await Promise.all([
    readMerchant(db, merchantId),
    listKeys(db, { id: requestedBy, merchantId }),
    auditOf(db, id),
    withNames(db, [people], Object.keys(people)),
  ]);
  return {
    merchantName: merchant.name,
    ...named!,
    requestedWith: key ? presentKey(key) : null,
    decisions: decisions.map(presentAudit),
  };
}
