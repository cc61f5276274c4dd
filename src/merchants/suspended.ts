import type { Queryable } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { findMerchant } from './operations.ts';

/**
 * No money leaves for a merchant that is suspended. Throws INVALID_STATE, saying what to do.
 * @param what is to be done, as in "this withdrawal is not approved".
 * @param instead what may be done while it is suspended.
 */
export async function requireNotSuspended(
  db: Queryable,
  merchantId: string,
  { what, instead }: { what: string; instead: string },
): Promise<void> {
  const merchant = await findMerchant(db, merchantId);
  if (merchant?.status !== 'SUSPENDED') return;
  const resume = `Let it go on first (POST /api/ops/merchants/${merchantId}/resume)`;
  throw new AppError('INVALID_STATE', `The merchant ${merchantId} is suspended: ${what}. ${resume}, or ${instead}.`);
}
