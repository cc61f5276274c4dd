import { first, rows, type Queryable, type Trx } from '../lib/db.ts';
import { invalid } from '../lib/errors.ts';
import { formatBirr, toBirr, type Santim } from '../lib/money.ts';

export type SettlementLimit = { minSantim: Santim; maxSantim: Santim; own: boolean };

/** The limit of a merchant: its own, or (`own` false) the platform's. */
export async function readSettlementLimit(db: Queryable, merchantId: string): Promise<SettlementLimit> {
  const limit = await first<SettlementLimit>(
    db,
    `SELECT min_santim, max_santim, merchant_id IS NOT NULL AS own FROM settlement_limit
     WHERE merchant_id = :merchantId OR merchant_id IS NULL ORDER BY merchant_id IS NULL LIMIT 1`,
    { merchantId },
  );
  if (!limit) throw new Error('the platform always has a limit');
  return limit;
}

export function presentLimit({ own, minSantim, maxSantim }: SettlementLimit) {
  return { own, currency: 'ETB' as const, min: toBirr(minSantim), max: toBirr(maxSantim) };
}

/** Sets a merchant's own limit for later settlements. Throws VALIDATION_ERROR. */
export async function setSettlementLimit(
  trx: Trx,
  limit: Omit<SettlementLimit, 'own'> & { merchantId: string },
): Promise<void> {
  const { minSantim, maxSantim } = limit;
  const got = `got ${formatBirr(maxSantim)} and ${formatBirr(minSantim)}`;
  if (maxSantim < minSantim) throw invalid('max', { issue: `must be at least min, ${got}`, code: 'min_above_max' });
  await rows(
    trx,
    `INSERT INTO settlement_limit (merchant_id, min_santim, max_santim) VALUES (:merchantId, :minSantim, :maxSantim)
     ON CONFLICT (merchant_id) DO UPDATE SET min_santim = :minSantim, max_santim = :maxSantim, updated_at = now()`,
    limit,
  );
}
