import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { DayRange, Position } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import {
  MERCHANT_ACCOUNTS,
  MOVEMENT_COLUMNS,
  type MerchantAccount,
  type MovementFilter,
  type ReadMovement,
} from './balance.ts';
import type { Period } from './statement.ts';

/**
 * At most `limit` movements of the balance's history in a range of days, in its order, after a sequence. Entries are
 * walked down by their sequence: by time, the whole range would be sorted for each page. IS TRUE and OFFSET 0 keep
 * PostgreSQL to the index that is meant. Who knows how many there are asks for no more, and the walk ends with the last.
 */
export async function exportMovements(
  db: Queryable,
  { account, range, ...scope }: Omit<MovementFilter, 'types'>,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ReadMovement[]> {
  return rows<ReadMovement>(
    db,
    `WITH account AS MATERIALIZED (
       SELECT id FROM ledger_account
       WHERE environment = :environment AND currency = 'ETB' AND kind = :kind
         AND coalesce(merchant_id, '') = :merchantId AND coalesce(channel, '') = ''
     ), page AS MATERIALIZED (
       SELECT * FROM ledger_entry
       WHERE account_id = (SELECT id FROM account) AND (effective_at >= :from AND effective_at < :until) IS TRUE
         AND sequence <= coalesce(CAST(:after AS bigint) - 1, (
           SELECT max(sequence) FROM (
             SELECT sequence FROM ledger_entry
             WHERE account_id = (SELECT id FROM account) AND effective_at >= :from AND effective_at < :until OFFSET 0
           ) within))
       ORDER BY sequence DESC LIMIT :limit
     )
     SELECT ${MOVEMENT_COLUMNS} FROM page e JOIN ledger_journal j ON j.id = e.journal_id ORDER BY e.sequence DESC`,
    {
      ...scopeOf(scope),
      kind: MERCHANT_ACCOUNTS[account],
      from: range.from,
      until: range.until,
      after: after?.at ?? null,
      limit,
    },
  );
}

/** At most `limit` movements of a settlement's period, the oldest first, after a sequence. */
export async function exportPeriod(
  db: Queryable,
  { accountId, after, upTo }: Pick<Period, 'accountId' | 'after' | 'upTo'>,
  limit: number,
): Promise<ReadMovement[]> {
  return rows<ReadMovement>(
    db,
    `SELECT ${MOVEMENT_COLUMNS} FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
     WHERE e.account_id = :accountId AND e.sequence > :after AND e.sequence <= :upTo ORDER BY e.sequence LIMIT :limit`,
    { accountId, after, upTo, limit },
  );
}

/** How many movements one account has in a range of days, counted no further than `most`. */
export async function countMovements(
  db: Queryable,
  { account, range, ...scope }: Omit<MovementFilter, 'types'>,
  most: number,
): Promise<number> {
  const [found] = await rows<{ count: number }>(
    db,
    `SELECT count(*)::int AS count FROM (
       SELECT FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id
       WHERE a.environment = :environment AND a.currency = 'ETB' AND a.kind = :kind
         AND coalesce(a.merchant_id, '') = :merchantId AND coalesce(a.channel, '') = ''
         AND e.effective_at >= :from AND e.effective_at < :until LIMIT :most) counted`,
    { ...scopeOf(scope), kind: MERCHANT_ACCOUNTS[account], from: range.from, until: range.until, most },
  );
  return found?.count ?? 0;
}

/** One account over a range of days: openingSantim + movedSantim = closingSantim. */
export type AccountPeriod = { count: number; openingSantim: Santim; movedSantim: Santim; closingSantim: Santim };

/**
 * Counts a range's movements, and opens with the balance that the last entry before it has left: entries stand in the
 * order they were booked, and never go back in time. The last of those that share one time is looked for among them
 * alone: OFFSET 0 keeps PostgreSQL from walking down the whole account by its sequence.
 */
export async function sumAccount(
  db: Queryable,
  scope: MerchantScope,
  { account, range }: { account: MerchantAccount; range: DayRange },
): Promise<AccountPeriod> {
  const [sums] = await rows<{ count: number; openingSantim: Santim; movedSantim: Santim }>(
    db,
    `SELECT movements.count, movements.santim AS moved_santim, coalesce(last.balance_after_santim, 0)::bigint AS opening_santim
     FROM ledger_account a
     LEFT JOIN LATERAL (
       SELECT balance_after_santim FROM (
         SELECT e.sequence, e.balance_after_santim FROM ledger_entry e
         WHERE e.account_id = a.id
           AND e.effective_at = (SELECT max(before.effective_at) FROM ledger_entry before WHERE before.account_id = a.id AND before.effective_at < :from)
         OFFSET 0) of_that_time
       ORDER BY sequence DESC LIMIT 1
     ) last ON true
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS count, coalesce(sum(e.amount_santim), 0)::bigint AS santim
       FROM ledger_entry e WHERE e.account_id = a.id AND e.effective_at >= :from AND e.effective_at < :until
     ) movements
     WHERE a.environment = :environment AND a.currency = 'ETB' AND a.kind = :kind
       AND coalesce(a.merchant_id, '') = :merchantId AND coalesce(a.channel, '') = ''`,
    { ...scopeOf(scope), kind: MERCHANT_ACCOUNTS[account], from: range.from, until: range.until },
  );
  // Who never had any money has no account.
  const { count, openingSantim, movedSantim } = sums ?? { count: 0, openingSantim: 0n, movedSantim: 0n };
  return { count, openingSantim, movedSantim, closingSantim: openingSantim + movedSantim };
}
