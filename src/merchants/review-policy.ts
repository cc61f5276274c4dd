import { type Queryable, rows, type Trx } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { tooSmall } from '../lib/issues.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';

/**
 * When withdrawals are reviewed, and from which amount on other money in live needs two operators, too; set for a merchant
 * or for the platform.
 */
export type ReviewPolicy = { largeAmountSantim: Santim; twoPersonSantim: Santim; perHourMax: number; own: boolean };

/** The review policy of a merchant: its own, or (`own` false) the platform's, which also covers money of no merchant (null). */
export async function readReviewPolicy(db: Queryable, merchantId: string | null): Promise<ReviewPolicy> {
  const [policy] = await rows<ReviewPolicy>(
    db,
    `SELECT large_amount_santim, two_person_santim, per_hour_max, merchant_id IS NOT NULL AS own FROM review_policy
     WHERE merchant_id = CAST(:merchantId AS text) OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1`,
    { merchantId },
  );
  if (!policy) throw new Error('the platform always has a policy');
  return policy;
}

/** Gives a merchant its own policy, for later withdrawals. Throws VALIDATION_ERROR. */
export async function setReviewPolicy(
  trx: Trx,
  policy: Omit<ReviewPolicy, 'own'> & { merchantId: string },
): Promise<void> {
  const { largeAmountSantim, twoPersonSantim } = policy;
  if (twoPersonSantim < largeAmountSantim) {
    const issue = `must be at least largeAmount, got ${formatBirr(twoPersonSantim)} and ${formatBirr(largeAmountSantim)}`;
    throw invalid('twoPersonAmount', tooSmall(issue, largeAmountSantim));
  }
  await rows(
    trx,
    `INSERT INTO review_policy (merchant_id, large_amount_santim, two_person_santim, per_hour_max)
     VALUES (:merchantId, :largeAmountSantim, :twoPersonSantim, :perHourMax)
     ON CONFLICT (merchant_id) DO UPDATE SET large_amount_santim = excluded.large_amount_santim,
       two_person_santim = excluded.two_person_santim, per_hour_max = excluded.per_hour_max, updated_at = now()`,
    policy,
  );
}

/** Whether a decision about this money needs two operators: in live, from the policy's two-person amount on. */
export async function needsTwoPeople(
  db: Queryable,
  money: { merchantId: string | null; environment: Environment; amountSantim: Santim },
): Promise<boolean> {
  if (money.environment === 'sandbox') return false;
  return money.amountSantim >= (await readReviewPolicy(db, money.merchantId)).twoPersonSantim;
}
