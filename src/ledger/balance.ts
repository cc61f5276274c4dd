import { rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import { toPage, pageOffset, type DayRange, type Page } from '../lib/pagination.ts';
import type { MerchantScope } from '../lib/scope.ts';
import type { JournalKind, Posting } from './postings.ts';

/** What a merchant has in one environment. */
export type Balance = {
  availableSantim: Santim;
  reservedSantim: Santim;
  /** Fees and the tax on them, ever. */
  feesSantim: Santim;
  /** What was credited to the merchant's bank account, ever. */
  settledSantim: Santim;
};

const NOTHING: Balance = { availableSantim: 0n, reservedSantim: 0n, feesSantim: 0n, settledSantim: 0n };

/** The balance as it stands; zeros for who never had any. */
export async function readBalance(db: Queryable, scope: MerchantScope): Promise<Balance> {
  const [balance] = await rows<Balance>(
    db,
    `SELECT available_santim, reserved_santim, fees_santim, settled_santim FROM ledger_balance
     WHERE merchant_id = :merchantId AND environment = :environment AND currency = 'ETB'`,
    { ...scope },
  );
  return balance ?? NOTHING;
}

/** The two accounts of a merchant, by the name the API gives them. */
export const MERCHANT_ACCOUNTS = { available: 'AVAILABLE', reserved: 'RESERVED' } as const;
export type MerchantAccount = keyof typeof MERCHANT_ACCOUNTS;

/** One movement of a merchant's account. */
export type Movement = {
  journalId: string;
  position: number;
  type: JournalKind;
  amountSantim: Santim;
  balanceAfterSantim: Santim;
  resourceType: Posting['resourceType'];
  resourceId: string;
  effectiveAt: Date;
};

/** A movement as it is read: `id` its journal's, `sequence` its place in its account. */
export type ReadMovement = Movement & { id: string; sequence: bigint };

/** The columns of a {@link ReadMovement}, of an entry e of a journal j. */
export const MOVEMENT_COLUMNS = `j.id, e.journal_id, CAST(e.position AS int) AS position, j.kind AS type, e.amount_santim,
  e.balance_after_santim, e.sequence, j.resource_type, j.resource_id, e.effective_at`;

export type MovementFilter = MerchantScope & { account: MerchantAccount; range: DayRange; types: JournalKind[] | null };

/** Movements a, e and j of one account in SQL, and the values it takes. */
export function movementConditions(filter: MovementFilter) {
  const where = `a.merchant_id = :merchantId AND a.environment = :environment AND a.currency = 'ETB' AND a.kind = :kind
    AND a.channel IS NULL AND e.effective_at >= :from AND e.effective_at < :until
    ${filter.types === null ? '' : 'AND j.kind = ANY (:types)'}`;
  const tables = `ledger_account a JOIN ledger_entry e ON e.account_id = a.id JOIN ledger_journal j ON j.id = e.journal_id`;
  const values = { ...filter, ...filter.range, kind: MERCHANT_ACCOUNTS[filter.account] };
  return { where, tables, values };
}

/** The movements of one account, the newest first, in the order they happened: each next to the balance after it. */
export async function listMovements(db: Queryable, filter: MovementFilter, page: Page) {
  const { where, tables, values } = movementConditions(filter);
  const [[count], found] = await Promise.all([
    rows<{ total: number }>(db, `SELECT count(*)::int AS total FROM ${tables} WHERE ${where}`, values),
    rows<ReadMovement>(
      db,
      `SELECT ${MOVEMENT_COLUMNS} FROM ${tables}
        WHERE ${where} ${page.after ? 'AND e.sequence < CAST(:after AS bigint)' : ''}
       ORDER BY e.sequence DESC LIMIT :most OFFSET :offset`,
      { ...values, after: page.after?.at ?? null, most: page.limit + 1, offset: pageOffset(page) },
    ),
  ]);
  return toPage(page, count?.total ?? 0, found.map(positioned));
}

/** As pages are cut: by its sequence. */
export function positioned(row: ReadMovement) {
  return { ...row, position: String(row.sequence), entry: row.position };
}
