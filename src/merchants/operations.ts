import { rows, type Knex, type Queryable } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import { grantChannels } from './channels/operations.ts';
import { MerchantRow, type KycStatus } from './model.ts';

export type { KycStatus };
export type Merchant = Pick<MerchantRow, 'id' | 'name' | 'status' | 'kycStatus' | 'createdAt'>;

/** Adds a merchant; `id` only for seeding, where it must be the same each time. Both environments exist at once. */
export async function createMerchant(
  trx: Knex.Transaction,
  input: { name: string; id?: string; createdAt?: Date },
): Promise<Merchant> {
  return MerchantRow.query(trx).insertAndFetch({ ...input, id: input.id ?? newId('mrc') });
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
export async function onboardMerchant(trx: Knex.Transaction, { name }: { name: string }): Promise<Merchant> {
  const merchant = await createMerchant(trx, { name });
  await grantChannels(trx, { merchantId: merchant.id, environment: 'sandbox' });
  return merchant;
}

/** All merchants, the newest first. */
export async function listMerchants(db: Queryable): Promise<Merchant[]> {
  return MerchantRow.query(db).orderBy([
    { column: 'createdAt', order: 'desc' },
    { column: 'id', order: 'desc' },
  ]);
}

/**
 * Suspends a merchant or lets it go on: while suspended its keys answer MERCHANT_SUSPENDED. Returns whether it was
 * otherwise before.
 */
export async function setMerchantStatus(
  trx: Knex.Transaction,
  merchantId: string,
  status: Merchant['status'],
): Promise<boolean> {
  return (await MerchantRow.query(trx).findById(merchantId).whereNot({ status }).patch({ status })) > 0;
}

/** A merchant as operators see it. */
export function presentMerchant({ id, name, status, kycStatus, createdAt }: Merchant) {
  return { merchantId: id, name, status, kycStatus, createdAt: createdAt.toISOString() };
}
