import { type Queryable, rows, type Trx } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';

/** The smallest and the largest amount of one settlement. */
export type SettlementLimit = { minSantim: Santim; maxSantim: Santim };

/** The limit of a merchant: its own, or (`own` false) the platform's. */
export async function readSettlementLimit(
  db: Queryable,
  merchantId: string,
): Promise<SettlementLimit & { own: boolean }> {
  const [limit] = await rows<SettlementLimit & { own: boolean }>(
    db,
    `SELECT min_santim, max_santim, merchant_id IS NOT NULL AS own FROM settlement_limit
     WHERE merchant_id = :merchantId OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1`,
    { merchantId },
  );
  if (!limit) throw new Error('the platform always has a limit');
  return limit;
}

/** Sets a merchant's own limit for later settlements. Throws VALIDATION_ERROR. */
export async function setSettlementLimit(
  trx: Trx,
  { merchantId, minSantim, maxSantim }: SettlementLimit & { merchantId: string },
): Promise<void> {
  if (maxSantim < minSantim) {
    const issue = `must be at least min, got ${formatBirr(maxSantim)} and ${formatBirr(minSantim)}`;
    throw invalid('max', issue);
  }
  const limit = { merchantId, minSantim, maxSantim };
  await trx('settlementLimit')
    .insert(limit)
    .onConflict('merchantId')
    .merge({ ...limit, updatedAt: trx.raw('now()') });
}
