import { Model } from 'objection';

import { type Queryable, rows, type Trx } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import { grantChannels } from './channels/operations.ts';

/** A row of `merchant` (migrations/0001). */
class MerchantRow extends Model {
  static override readonly tableName = 'merchant';

  declare id: string;
  declare name: string;
  declare status: 'ACTIVE' | 'SUSPENDED';
  declare kycStatus: KycStatus;
  declare createdAt: Date;
}

export const KYC_STATUSES = [
  'NOT_STARTED',
  'SUBMITTED',
  'UNDER_REVIEW',
  'APPROVED',
  'REJECTED',
  'MORE_INFO_NEEDED',
] as const;
export type KycStatus = (typeof KYC_STATUSES)[number];

export type Merchant = Pick<MerchantRow, 'id' | 'name' | 'status' | 'kycStatus' | 'createdAt'>;

/** Creates a merchant in both environments. `id` only for seeding, where it must be the same each time. */
export async function createMerchant(
  trx: Trx,
  input: { name: string; id?: string; createdAt?: Date },
): Promise<Merchant> {
  return MerchantRow.query(trx.knex()).insertAndFetch({ ...input, id: input.id ?? newId('mrc') });
}

/** Suspends or resumes a merchant; the keys of a suspended one get MERCHANT_SUSPENDED. Returns whether the status changed. */
export async function setMerchantStatus(trx: Trx, merchantId: string, status: Merchant['status']): Promise<boolean> {
  return (await MerchantRow.query(trx.knex()).findById(merchantId).whereNot({ status }).patch({ status })) > 0;
}

/** One merchant, or undefined. */
export async function findMerchant(db: Queryable, merchantId: string): Promise<Merchant | undefined> {
  const sql = 'SELECT id, name, status, kyc_status, created_at FROM merchant WHERE id = :merchantId';
  return (await rows<Merchant>(db, sql, { merchantId }))[0];
}

/** One merchant. Throws NOT_FOUND. */
export async function readMerchant(db: Queryable, merchantId: string): Promise<Merchant> {
  const merchant = await findMerchant(db, merchantId);
  if (!merchant) throw notFound('merchant');
  return merchant;
}

/** Creates a merchant with what each starts with: every available channel in the sandbox. */
export async function onboardMerchant(trx: Trx, { name }: { name: string }): Promise<Merchant> {
  const merchant = await createMerchant(trx, { name });
  await grantChannels(trx, { merchantId: merchant.id, environment: 'sandbox' });
  return merchant;
}

/** Filters of the list; undefined and null do not narrow it. */
export type MerchantFilter = {
  statuses?: readonly Merchant['status'][] | null | undefined;
  kycStatuses?: readonly Merchant['kycStatus'][] | null | undefined;
  /** A whole id, or a part of the name in any case. */
  search?: string | undefined;
};

const MATCHES = `(CAST(:statuses AS text[]) IS NULL OR status = ANY (:statuses))
  AND (CAST(:kycStatuses AS text[]) IS NULL OR kyc_status = ANY (:kycStatuses))
  AND (CAST(:search AS text) IS NULL OR id = :search OR strpos(lower(name), lower(:search)) > 0)`;

/** Merchants that match the filters, newest first. */
export async function searchMerchants(db: Queryable, filter: MerchantFilter, page: Page) {
  const values = {
    statuses: filter.statuses ? [...filter.statuses] : null,
    kycStatuses: filter.kycStatuses ? [...filter.kycStatuses] : null,
    search: filter.search ?? null,
  };
  const columns = 'id, name, status, kyc_status, created_at';
  return paginateNewest<Merchant>(db, { columns, table: 'merchant', time: 'created_at', where: MATCHES, values }, page);
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
  throw new AppError('INVALID_STATE', `The merchant ${merchantId} is suspended: ${what}. ${resume}, or ${instead}.`);
}

/** A merchant as operators see it. */
export function presentMerchant({ id, name, status, kycStatus, createdAt }: Merchant) {
  return { merchantId: id, name, status, kycStatus, createdAt: createdAt.toISOString() };
}
