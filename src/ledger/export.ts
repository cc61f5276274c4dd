import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { ownerOf, type Owner } from '../lib/owner.ts';
import type { DayRange, Position } from '../lib/page.ts';
import {
  MERCHANT_ACCOUNTS,
  MOVEMENT_COLUMNS,
  movementConditions,
  type MerchantAccount,
  type MovementFilter,
  type ReadMovement,
} from './balance.ts';

/** At most `limit` movements of the balance's history under the same filter, in its order, after a sequence. */
export async function exportMovements(
  db: Queryable,
  filter: MovementFilter,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ReadMovement[]> {
  const { where, tables, values } = movementConditions(filter);
  return rows<ReadMovement>(
    db,
    `SELECT ${MOVEMENT_COLUMNS} FROM ${tables}
     WHERE ${where} ${after ? 'AND e.sequence < CAST(:after AS bigint)' : ''}
     ORDER BY e.sequence DESC LIMIT :limit`,
    { ...values, after: after?.at ?? null, limit },
  );
}

/** One account over a range of days: openingSantim + movedSantim = closingSantim. */
export type AccountPeriod = { count: number; openingSantim: Santim; movedSantim: Santim; closingSantim: Santim };

/** Counts a range's movements and reckons back from the balance as it stands, so that only what came since is read. */
export async function sumAccount(
  db: Queryable,
  owner: Owner,
  { account, range }: { account: MerchantAccount; range: DayRange },
): Promise<AccountPeriod> {
  const [sums] = await rows<{ count: number; movedSantim: Santim; sinceSantim: Santim; nowSantim: Santim }>(
    db,
    `SELECT count(*) FILTER (WHERE e.at < :until)::int AS count,
            coalesce(sum(e.amount_santim) FILTER (WHERE e.at < :until), 0)::bigint AS moved_santim,
            coalesce(sum(e.amount_santim), 0)::bigint AS since_santim,
            coalesce((SELECT CASE CAST(:kind AS text) WHEN 'AVAILABLE' THEN available_santim ELSE reserved_santim END
                      FROM ledger_balance WHERE merchant_id = :merchantId AND environment = :environment
                        AND currency = 'ETB'), 0)::bigint AS now_santim
     FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id
     WHERE a.merchant_id = :merchantId AND a.environment = :environment AND a.currency = 'ETB' AND a.kind = :kind
       AND a.channel IS NULL AND e.at >= :from`,
    { ...ownerOf(owner), kind: MERCHANT_ACCOUNTS[account], from: range.from, until: range.until },
  );
  if (!sums) throw new Error('an aggregate always has one row');
  const openingSantim = sums.nowSantim - sums.sinceSantim;
  const { count, movedSantim } = sums;
  return { count, openingSantim, movedSantim, closingSantim: openingSantim + movedSantim };
}
