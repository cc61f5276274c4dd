import { first, rows, type Queryable } from '../lib/db.ts';
import type { Santim } from '../lib/money.ts';
import type { Page } from '../lib/pagination.ts';
import { scopeOf, type MerchantScope } from '../lib/scope.ts';
import { MOVEMENTS, pageMovements, readMovements, type ReadMovement, type Span } from './balance.ts';
import type { JournalKind } from './postings.ts';

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
export async function readPeriod(
  db: Queryable,
  scope: MerchantScope,
  settlementId: string,
): Promise<Period | undefined> {
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

/** The sums of a period's movements, by type. */
export async function sumPeriod(db: Queryable, period: Period) {
  return rows<{ type: JournalKind; count: number; amountSantim: Santim }>(
    db,
    `SELECT j.kind AS type, count(*)::int AS count, sum(e.amount_santim)::bigint AS amount_santim ${MOVEMENTS}
     GROUP BY j.kind ORDER BY j.kind`,
    { ...period, types: null },
  );
}

/** The movements of a period with the balance after each, the oldest first. */
export async function listPeriod(db: Queryable, period: Period, page: Page) {
  return pageMovements(db, period, { order: 'ASC', page });
}

/** At most `limit` movements of a settlement's period, the oldest first, after a sequence. */
export async function exportPeriod(db: Queryable, period: Period, limit: number): Promise<ReadMovement[]> {
  return readMovements(db, period, { order: 'ASC', limit });
}
