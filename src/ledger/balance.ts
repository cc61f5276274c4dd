import { z } from 'zod';

import { first, type Queryable, rows, type Trx } from '../lib/db.ts';
import { instant } from '../lib/fields.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { countUpTo } from '../lib/paginate-newest.ts';
import { toPage, pageOffset, type DayRange, type Page, type Position } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { JOURNAL_KINDS, type JournalKind, type Posting } from './postings.ts';

/** The balance of a merchant in one environment. */
export type Balance = {
  availableSantim: Santim;
  reservedSantim: Santim;
  /** Total fees and the tax on them. */
  feesSantim: Santim;
  /** Total credits to the merchant's bank account. */
  settledSantim: Santim;
};

const NOTHING: Balance = { availableSantim: 0n, reservedSantim: 0n, feesSantim: 0n, settledSantim: 0n };

/** The current balance; zeros for a merchant without movements. */
export async function readBalance(db: Queryable, scope: MerchantScope): Promise<Balance> {
  const sql = `SELECT available_santim, reserved_santim, fees_santim, settled_santim FROM ledger_balance
    WHERE merchant_id = :merchantId AND environment = :environment AND currency = 'ETB'`;
  return (await first<Balance>(db, sql, scopeOf(scope))) ?? NOTHING;
}

/** The available balance, locked until the transaction ends. */
export async function lockAvailable(trx: Trx, scope: MerchantScope): Promise<Santim> {
  const sql = `SELECT ledger_lock_available(:merchantId, :environment, 'ETB') AS santim`;
  return (await first<{ santim: Santim }>(trx, sql, scopeOf(scope)))?.santim ?? 0n;
}

/** The two accounts of a merchant, by their names in the API. */
export const MERCHANT_ACCOUNTS = { available: 'AVAILABLE', reserved: 'RESERVED' } as const;
export type MerchantAccount = keyof typeof MERCHANT_ACCOUNTS;
export const ACCOUNTS = Object.keys(MERCHANT_ACCOUNTS) as [MerchantAccount, ...MerchantAccount[]];

/**
 * One movement of a merchant's account as a row: `id` is its journal's, `entry` its number in that, and `sequence` its
 * number in its account, by which pages are cut (`position`).
 */
export type ReadMovement = {
  id: string;
  sequence: bigint;
  position: string;
  journalId: string;
  entry: number;
  type: JournalKind;
  amountSantim: Santim;
  balanceAfterSantim: Santim;
  resourceType: Posting['resourceType'];
  resourceId: string;
  effectiveAt: Date;
};

/** The columns of a {@link ReadMovement}, of an entry e of a journal j. */
export const MOVEMENT_COLUMNS = `j.id, e.journal_id, CAST(e.position AS int) AS entry, e.sequence::text AS position, e.sequence,
  j.kind AS type, e.amount_santim, e.balance_after_santim, j.resource_type, j.resource_id, e.effective_at`;

type AccountRange = MerchantScope & { account: MerchantAccount; range: DayRange };
export type MovementFilter = AccountRange & { types: JournalKind[] | null };

/** The account a of a merchant, and its entries e of the days. */
const ACCOUNT = `a.environment = :environment AND a.currency = 'ETB' AND a.kind = :kind
  AND coalesce(a.merchant_id, '') = :merchantId AND coalesce(a.channel, '') = ''`;
const IN_RANGE = 'e.effective_at >= :from AND e.effective_at < :until';

function valuesOf({ account, range, merchantId, environment }: AccountRange) {
  return { merchantId, environment, kind: MERCHANT_ACCOUNTS[account], from: range.from, until: range.until };
}

/** The movements of one account with the balance after each, the newest first. */
export async function listMovements(db: Queryable, filter: MovementFilter, page: Page) {
  const from = `FROM ledger_account a JOIN ledger_entry e ON e.account_id = a.id JOIN ledger_journal j ON j.id = e.journal_id
    WHERE ${ACCOUNT} AND ${IN_RANGE} ${filter.types === null ? '' : 'AND j.kind = ANY (:types)'}`;
  const values = { ...valuesOf(filter), types: filter.types };
  return pageMovements(db, { from, values, after: '<', order: 'DESC' }, page);
}

type Listed = { from: string; values: Record<string, unknown>; after: '<' | '>'; order: 'ASC' | 'DESC' };

/** One page of movements in the order of their sequence, and the number of all. */
export async function pageMovements(db: Queryable, { from, values, after, order }: Listed, page: Page) {
  const rest = page.after ? `AND e.sequence ${after} CAST(:pageAfter AS bigint)` : '';
  const [count, found] = await Promise.all([
    first<{ total: number }>(db, `SELECT count(*)::int AS total ${from}`, values),
    rows<ReadMovement>(
      db,
      `SELECT ${MOVEMENT_COLUMNS} ${from} ${rest} ORDER BY e.sequence ${order} LIMIT :most OFFSET :offset`,
      { ...values, pageAfter: page.after?.at ?? null, most: page.limit + 1, offset: pageOffset(page) },
    ),
  ]);
  return toPage(page, count?.total ?? 0, found);
}

/** One entry of `GET /api/checkout/balance/history`. */
export const Movement = z
  .object({
    entryId: z.string(),
    journalId: z.string().meta({ description: 'The same for all entries of one posting' }),
    account: z.enum(ACCOUNTS),
    type: z.enum(JOURNAL_KINDS),
    amount: z.number().meta({ description: 'Positive when the balance rose, negative when it fell' }),
    balanceAfter: z.number(),
    resourceType: z.enum(['transaction', 'withdrawal', 'settlement', 'providerTransfer']),
    resourceId: z.string(),
    createdAt: instant.meta({ description: 'When it was posted; never before the previous movement' }),
  })
  .meta({ id: 'BalanceMovement' });

/** A movement of a page as the API returns it; `account` is known to the caller. */
export function presentMovement(row: ReadMovement) {
  return {
    entryId: `${row.journalId}-${row.entry}`,
    journalId: row.journalId,
    type: row.type,
    amount: toBirr(row.amountSantim),
    balanceAfter: toBirr(row.balanceAfterSantim),
    resourceType: row.resourceType,
    resourceId: row.resourceId,
    createdAt: row.effectiveAt.toISOString(),
  };
}

/**
 * At most `limit` movements of the balance's history in a range of days, in its order, after a sequence. Entries are
 * walked down by their sequence: by time, the whole range would be sorted for each page. IS TRUE and OFFSET 0 make
 * PostgreSQL use the intended index. A `limit` of the known number of movements ends the walk with the last one.
 */
export async function exportMovements(
  db: Queryable,
  filter: AccountRange,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ReadMovement[]> {
  return rows<ReadMovement>(
    db,
    `WITH account AS MATERIALIZED (
       SELECT a.id FROM ledger_account a WHERE ${ACCOUNT}
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
    { ...valuesOf(filter), after: after?.at ?? null, limit },
  );
}

/** How many movements one account has in a range of days, counted no further than `most`. */
export async function countMovements(db: Queryable, filter: AccountRange, most: number): Promise<number> {
  const table = 'ledger_account a JOIN ledger_entry e ON e.account_id = a.id';
  return countUpTo(db, { table, where: `${ACCOUNT} AND ${IN_RANGE}`, values: valuesOf(filter) }, most);
}

/**
 * One account over a range of days: openingSantim + movedSantim = closingSantim. Counts the movements of the range and opens
 * with the balance after the last entry before it, since entries never go back in time. OFFSET 0 makes PostgreSQL search the
 * last of several entries of one time among these, not down the whole account.
 */
export async function sumAccount(
  db: Queryable,
  scope: MerchantScope,
  { account, range }: { account: MerchantAccount; range: DayRange },
) {
  const sums = await first<{ count: number; openingSantim: Santim; movedSantim: Santim }>(
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
       FROM ledger_entry e WHERE e.account_id = a.id AND ${IN_RANGE}
     ) movements
     WHERE ${ACCOUNT}`,
    valuesOf({ ...scope, account, range }),
  );
  // A merchant without movements has no account.
  const { count, openingSantim, movedSantim } = sums ?? { count: 0, openingSantim: 0n, movedSantim: 0n };
  return { count, openingSantim, movedSantim, closingSantim: openingSantim + movedSantim };
}
