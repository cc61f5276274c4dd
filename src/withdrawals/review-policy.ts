import { rows, type Knex, type Queryable } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { formatBirr } from '../lib/money.ts';
import type { ReviewPolicy } from './review.ts';

/** The policy a merchant's withdrawals are reviewed by: its own, or (`own` false) the platform's. */
export async function readReviewPolicy(db: Queryable, merchantId: string): Promise<ReviewPolicy & { own: boolean }> {
  const [policy] = await rows<ReviewPolicy & { own: boolean }>(
    db,
    `SELECT large_amount_santim, two_person_santim, per_hour_max, merchant_id IS NOT NULL AS own FROM review_policy
     WHERE merchant_id = :merchantId OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1`,
    { merchantId },
  );
  if (!policy) throw new Error('the platform always has a policy');
  return policy;
}

/** Gives a merchant a policy of its own, for withdrawals to come. Throws VALIDATION_ERROR. */
export async function setReviewPolicy(
  trx: Knex.Transaction,
  { merchantId, ...policy }: ReviewPolicy & { merchantId: string },
): Promise<void> {
  const { largeAmountSantim, twoPersonSantim } = policy;
  if (twoPersonSantim < largeAmountSantim) {
    const issue = `must be at least largeAmount, got ${formatBirr(twoPersonSantim)} and ${formatBirr(largeAmountSantim)}`;
    throw invalid('twoPersonAmount', issue);
  }
  await rows(
    trx,
    `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
     VALUES (:merchantId, :largeAmountSantim, :twoPersonSantim, :perHourMax)
     ON CONFLICT (merchant_id) DO UPDATE SET large_amount_santim = excluded.large_amount_santim,
       two_person_santim = excluded.two_person_santim, per_hour_max = excluded.per_hour_max, updated_at = now()`,
    { merchantId, ...policy },
  );
}
