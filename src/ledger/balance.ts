import { z } from 'zod';

import { first, type Queryable, rows, type Trx } from '../lib/db.ts';
import { instant } from '../lib/fields.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { countUpTo } from '../lib/paginate-newest.ts';
import { toPage, pageOffset, type DayRange, type Page, type Position } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { JOURNAL_KINDS, type JournalKind, type Posting } from './postings.ts';

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
export const ACCOUNTS = ['available', 'reserved'] as const;
export type MerchantAccount = (typeof ACCOUNTS)[number];

/**
 * One movement of a merchant's account as a row: `id` is its journal's, `entry` its number in that, and `sequence` its
 * number in its account, by which pages are cut (`position`).
 */
export type ReadMovement = Pick<Posting, 'resourceType' | 'resourceId'> & {
  id: string;
  sequence: bigint;
  position: string;
  journalId: string;
  entry: number;
  type: JournalKind;
  amountSantim: Santim;
  balanceAfterSantim: Santim;
  effectiveAt: Date;
};

type AccountRange = MerchantScope & { account: MerchantAccount; range: DayRange };
export type MovementFilter = AccountRange & MovementMatch;
/** null and undefined do not narrow. */
export type MovementMatch = { types?: JournalKind[] | null | undefined; resourceId?: string | undefined };

/**
 * The movements of one account with a sequence above `after`, up to `upTo`. Entries never go back in time, so that the
 * movements of a range of days are consecutive.
 */
type Span = Record<'accountId' | 'after' | 'upTo', bigint> & Record<'openingSantim' | 'closingSantim', Santim>;

/** A merchant without movements has no account. */
const NO_MOVEMENTS: Span = { accountId: 0n, after: 0n, upTo: 0n, openingSantim: 0n, closingSantim: 0n };

/** OFFSET 0 makes PostgreSQL search the last of several entries of one time among these, not down the whole account. */
const lastBefore = (time: ':from' | ':until'): string => `
  SELECT sequence, balance_after_santim FROM (
    SELECT e.sequence, e.balance_after_santim FROM ledger_entry e
    WHERE e.account_id = a.id AND e.effective_at = (
      SELECT max(o.effective_at) FROM ledger_entry o WHERE o.account_id = a.id AND o.effective_at < ${time}) OFFSET 0
  ) of_that_time ORDER BY sequence DESC LIMIT 1`;

/** The movements of a merchant's account in a range of days. */
async function readSpan(db: Queryable, { account, range, ...scope }: AccountRange): Promise<Span> {
  const span = await first<Span>(
    db,
    `SELECT a.id AS account_id, coalesce(before.sequence, 0)::bigint AS after, coalesce(last.sequence, 0)::bigint AS up_to,
            coalesce(before.balance_after_santim, 0)::bigint AS opening_santim,
            coalesce(last.balance_after_santim, 0)::bigint AS closing_santim
     FROM ledger_account a
     LEFT JOIN LATERAL (${lastBefore(':from')}) before ON true LEFT JOIN LATERAL (${lastBefore(':until')}) last ON true
     WHERE a.environment = :environment AND a.currency = 'ETB' AND a.kind = :kind
       AND coalesce(a.merchant_id, '') = :merchantId AND coalesce(a.channel, '') = ''`,
    { ...scopeOf(scope), kind: account.toUpperCase(), from: range.from, until: range.until },
  );
  return span ?? NO_MOVEMENTS;
}

/** The entries e of a {@link Span}. */
const IN_SPAN = 'e.account_id = :accountId AND e.sequence > :after AND e.sequence <= :upTo';
/** The same with their journals j, all or those that match. */
const movementsSql = ({ types, resourceId }: MovementMatch = {}): string =>
  `FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id WHERE ${IN_SPAN}
   ${types ? 'AND j.kind = ANY (:types)' : ''} ${resourceId === undefined ? '' : 'AND j.resource_id = :resourceId'}`;

type Order = 'ASC' | 'DESC';

/** In SQL: the columns of {@link ReadMovement}, of an entry e and its journal j. */
const MOVEMENT = `j.id, e.journal_id, CAST(e.position AS int) AS entry, e.sequence::text AS position, e.sequence,
  j.kind AS type, e.amount_santim, e.balance_after_santim, j.resource_type, j.resource_id, e.effective_at`;

/** At most `limit` movements of a span, all or those that match, in the order of their sequence. */
export async function readMovements(
  db: Queryable,
  span: Span,
  part: MovementMatch & { order: Order; limit: number; offset?: number },
): Promise<ReadMovement[]> {
  return rows<ReadMovement>(
    db,
    `SELECT ${MOVEMENT} ${movementsSql(part)} ORDER BY e.sequence ${part.order} LIMIT :limit OFFSET :offset`,
    { offset: 0, ...span, ...part },
  );
}

/** The rest of a span after a position of a list; one outside of the span does not widen it. */
function restOf(span: Span, after: Position | null, order: Order): Span {
  if (!after) return span;
  const at = BigInt(after.at);
  if (order === 'ASC') return at > span.after ? { ...span, after: at } : span;
  return at <= span.upTo ? { ...span, upTo: at - 1n } : span;
}

/** One page of a span's movements with the balance after each, and the number of all. */
export async function pageMovements(
  db: Queryable,
  span: Span,
  { order, page, ...match }: MovementMatch & { order: Order; page: Page },
) {
  const part = { order, ...match, limit: page.limit + 1, offset: pageOffset(page) };
  const [count, found] = await Promise.all([
    first<{ total: number }>(db, `SELECT count(*)::int AS total ${movementsSql(match)}`, { ...span, ...match }),
    readMovements(db, restOf(span, page.after, order), part),
  ]);
  return toPage(page, count?.total ?? 0, found);
}

/** The movements of one account with the balance after each, the newest first. */
export async function listMovements(db: Queryable, { types, resourceId, ...filter }: MovementFilter, page: Page) {
  return pageMovements(db, await readSpan(db, filter), { order: 'DESC', types, resourceId, page });
}

/** The number and the sum of the movements that {@link listMovements} lists, and the account's balance around the days. */
export async function sumMovements(db: Queryable, { types, resourceId, ...filter }: MovementFilter) {
  const span = await readSpan(db, filter);
  const { openingSantim, closingSantim } = span;
  // All movements together are the difference of the balances: neither an amount nor a journal is read.
  const sql =
    types || resourceId
      ? `SELECT count(*)::int AS count, coalesce(sum(e.amount_santim), 0)::bigint AS amount_santim ${movementsSql({ types, resourceId })}`
      : `SELECT count(*)::int AS count FROM ledger_entry e WHERE ${IN_SPAN}`;
  const sums = await first<{ count: number; amountSantim?: Santim }>(db, sql, { ...span, types, resourceId });
  const { count = 0, amountSantim = closingSantim - openingSantim } = sums ?? {};
  return { count, amountSantim, openingSantim, closingSantim };
}

/** Every movement of a merchant's two accounts because of these resources, the oldest first. */
export async function listResourceMovements(db: Queryable, scope: MerchantScope, resourceIds: readonly string[]) {
  return rows<ReadMovement & { account: MerchantAccount }>(
    db,
    `SELECT ${MOVEMENT}, lower(a.kind) AS account
     FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account a ON a.id = e.account_id
     WHERE j.resource_id = ANY (:resourceIds) AND a.merchant_id = :merchantId AND a.environment = :environment
     ORDER BY e.effective_at, j.id, e.position`,
    { ...scopeOf(scope), resourceIds },
  );
}

/** At most `limit` movements of the balance's history in a range of days, in its order, after a sequence. */
export async function exportMovements(
  db: Queryable,
  filter: AccountRange,
  { after, limit }: { after: Position | null; limit: number },
): Promise<ReadMovement[]> {
  return readMovements(db, restOf(await readSpan(db, filter), after, 'DESC'), { order: 'DESC', limit });
}

/** How many movements one account has in a range of days, counted no further than `most`. */
export async function countMovements(db: Queryable, filter: AccountRange, most: number): Promise<number> {
  return countUpTo(db, { table: 'ledger_entry e', where: IN_SPAN, values: await readSpan(db, filter) }, most);
}

/**
 * The period of a settlement's statement: the movements of the available account with a sequence above `after`, up to
 * `upTo`, which is the settlement's own. Each settlement ends one period and starts the next, whatever its result.
 */
export type Period = Span & {
  /** The settlement before, and when it was booked; null for the first one. */
  previousSettlementId: string | null;
  from: Date | null;
  until: Date;
};

/** The period of a settlement; undefined when it was never posted. */
export async function readPeriod(db: Queryable, scope: MerchantScope, settlementId: string) {
  return first<Period>(
    db,
    `SELECT e.account_id, coalesce(previous.sequence, 0)::bigint AS after, e.sequence AS up_to,
            coalesce(previous.balance_after_santim, 0)::bigint AS opening_santim,
            e.balance_after_santim AS closing_santim,
            previous.resource_id AS previous_settlement_id, previous.effective_at AS from, e.effective_at AS until
     FROM ledger_journal j
     JOIN ledger_entry e ON e.journal_id = j.id
     JOIN ledger_account a ON a.id = e.account_id AND a.kind = 'AVAILABLE'
     LEFT JOIN LATERAL (
       SELECT pe.sequence, pe.balance_after_santim, pe.effective_at, pj.resource_id
       FROM ledger_entry pe JOIN ledger_journal pj ON pj.id = pe.journal_id
       WHERE pe.account_id = e.account_id AND pe.sequence < e.sequence AND pj.kind = 'SETTLEMENT_RESERVED'
       ORDER BY pe.sequence DESC LIMIT 1
     ) previous ON true
     WHERE j.posting_key = 'reserved:' || CAST(:settlementId AS text) AND j.kind = 'SETTLEMENT_RESERVED'
       AND j.merchant_id = :merchantId AND j.environment = :environment`,
    { ...scopeOf(scope), settlementId },
  );
}

export async function sumPeriod(db: Queryable, period: Period) {
  return rows<{ type: JournalKind; count: number; amountSantim: Santim }>(
    db,
    `SELECT j.kind AS type, count(*)::int AS count, sum(e.amount_santim)::bigint AS amount_santim ${movementsSql()}
     GROUP BY j.kind ORDER BY j.kind`,
    period,
  );
}

/** What moved one of a merchant's accounts, as the API returns it. */
export const Movement = z.object({
  entryId: z.string(),
  journalId: z.string().describe('The same for all entries of one posting'),
  account: z.enum(ACCOUNTS),
  type: z.enum(JOURNAL_KINDS),
  amount: z.number().describe('Positive when the balance rose, negative when it fell'),
  balanceAfter: z.number(),
  resourceType: z.enum(['transaction', 'withdrawal', 'settlement', 'refund', 'providerTransfer']),
  resourceId: z.string(),
  createdAt: instant.describe('When it was posted; never before the previous movement'),
});

/** A movement of a page as the API returns it; `account` is known to the caller. */
export function presentMovement({ balanceAfterSantim, ...row }: ReadMovement) {
  return { ...presentAddition(row), balanceAfter: toBirr(balanceAfterSantim) };
}

/** The same without a balance after it. */
export function presentAddition({
  amountSantim,
  effectiveAt,
  ...row
}: Omit<ReadMovement, 'balanceAfterSantim' | 'sequence'>) {
  return { ...row, entryId: `${row.journalId}-${row.entry}`, amount: toBirr(amountSantim), createdAt: effectiveAt };
}
