import { first, type Database, type Queryable, rows } from '../lib/db.ts';
import { found } from '../lib/errors.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { clearReconciliationFlag } from '../payments/close-session.ts';
import { BATCH_SIZE, beginComparison, closeResolved, lockDay, writeFound } from './discrepancies.ts';
import { storableError, type Import } from './import.ts';
import { matchDay } from './match.ts';
import { OPEN_DISCREPANCIES, STATEMENT_ERRORS } from './runs.ts';
import type { ReconciliationStatus, SideSums } from './states.ts';

export type RunResult = { status: ReconciliationStatus; discrepancies: number };

/**
 * Ends a run whose statement was imported completely and rechecked: opens, updates and closes the discrepancies of the day,
 * clears the reconciliation flag of payments that the statements confirm unpaid, and stores the sums of both sides.
 * Discrepancies are written as they are found. Idempotent. Throws NOT_FOUND, INVALID_STATE (a later comparison has started).
 */
export async function compareDay(
  { db, runInTransaction }: { db: Database; runInTransaction: RunInTransaction },
  { reconciliationId, at, onProgress }: { reconciliationId: string; at: Date; onProgress: () => void },
): Promise<RunResult> {
  const comparison = await beginComparison(db, reconciliationId);
  const { listed, booked, clearingSantim, unlistedAccounts } = await matchDay(db, reconciliationId, async (found) => {
    for (let index = 0; index < found.length; index += BATCH_SIZE) {
      const batch = found.slice(index, index + BATCH_SIZE);
      await runInTransaction((tx) => writeFound(tx, comparison, { found: batch, at }));
    }
    onProgress();
  });
  await closeResolved(runInTransaction, comparison, { at, onProgress });
  return runInTransaction(async (tx) => {
    await lockDay(tx.trx, comparison);
    const discrepancies = await countOpen(tx.trx, reconciliationId);
    const unpaid = await findConfirmedUnpaid(tx.trx, { reconciliationId, at });
    await clearReconciliationFlag(tx, { transactionIds: unpaid, at });
    // The accounts that have sent orders of the day and have no statement of it.
    await rows(
      tx.trx,
      `INSERT INTO reconciliation_statement (reconciliation_id, account, import_no, error)
       SELECT :reconciliationId, unnest(CAST(:accounts AS text[])), 0, :error ON CONFLICT DO NOTHING`,
      { reconciliationId, accounts: [...unlistedAccounts], error: UNLISTED },
    );
    const status = discrepancies === 0 ? 'CLEAN' : 'DISCREPANCIES';
    await rows(
      tx.trx,
      `UPDATE reconciliation SET is_running = requests > requests_at_start, status = :status, compared_at = :at, error = NULL,
         listed = CAST(:listed AS jsonb), booked = CAST(:booked AS jsonb), clearing_santim = :clearingSantim,
         last_clean_at = CASE WHEN :status = 'CLEAN' THEN :at ELSE last_clean_at END
       WHERE id = :reconciliationId`,
      { reconciliationId, at, status, clearingSantim, listed: asJson(listed), booked: asJson(booked) },
    );
    return { status, discrepancies };
  });
}

const UNLISTED = 'orders of the day were sent by it, and no statement of the day was read: it was not configured';

/** With santim as texts, since JSON's numbers are not exact. */
const asJson = (sums: SideSums): string =>
  JSON.stringify(sums, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

/**
 * Ends a run that cannot be compared, because of `error` or because its statement was not imported in time. Open
 * discrepancies stay open. Changes nothing once a later import has started. Throws NOT_FOUND.
 */
export async function abandonRun(
  tx: UnitOfWork,
  { reconciliationId, importNo }: Import,
  error: string | null,
): Promise<RunResult> {
  await tx.writeDeferred(
    `UPDATE reconciliation r SET is_running = requests > requests_at_start, status = 'INCOMPLETE',
       error = coalesce(:error, error, ${STATEMENT_ERRORS}, 'the statement was not imported in time')
     WHERE id = :reconciliationId AND import_no = :importNo`,
    { reconciliationId, importNo, error: error && storableError(error) },
  );
  return { status: 'INCOMPLETE', discrepancies: await countOpen(tx.trx, reconciliationId) };
}

async function countOpen(db: Queryable, reconciliationId: string): Promise<number> {
  const day = await first<{ discrepancies: number }>(
    db,
    `SELECT ${OPEN_DISCREPANCIES} AS discrepancies FROM reconciliation r WHERE r.id = :reconciliationId`,
    { reconciliationId },
  );
  return found(day, 'reconciliation').discrepancies;
}

/** Statements of one night may lack the same payment for the same reason. */
const NEXT_NIGHT = `interval '12 hours'`;

/**
 * Transactions that ended with an unknown outcome and that two sources confirm unpaid. One statement without them is not
 * enough, since providers complete their statements late. No statement may ever have listed any of their attempts, and
 * for each day from an attempt's start to the end of its session there must be the statements of two nights after that
 * day, or one of them and the provider's own definite "not paid" about this attempt.
 */
export async function findConfirmedUnpaid(db: Queryable, run: { reconciliationId: string; at: Date }) {
  const unpaid = await rows<{ id: string }>(
    db,
    // An attempt that ended with an unknown outcome has another last_outcome only from a later query.
    `SELECT t.id FROM reconciliation this JOIN transaction t ON t.environment = this.environment
     JOIN checkout_session s ON s.id = t.session_id
     WHERE this.id = :reconciliationId AND t.needs_reconciliation AND s.ended_at <= :at
       AND EXISTS (SELECT FROM payment_attempt a WHERE a.transaction_id = t.id AND a.channel = this.channel)
       AND NOT EXISTS (
         SELECT FROM payment_attempt a, generate_series(
           CAST(a.initiated_at AT TIME ZONE 'Africa/Addis_Ababa' AS date),
           CAST(s.ended_at AT TIME ZONE 'Africa/Addis_Ababa' AS date), interval '1 day') AS active (day)
         WHERE a.transaction_id = t.id AND NOT EXISTS (
           SELECT FROM reconciliation r JOIN reconciliation_statement i ON i.reconciliation_id = r.id
             AND i.account = coalesce(a.provider_account, '')
           WHERE r.environment = a.environment AND r.channel = a.channel AND r.day = CAST(active.day AS date)
             AND (i.last_import_started_at >= i.first_import_started_at + ${NEXT_NIGHT}
               OR (i.first_import_started_at IS NOT NULL AND a.last_outcome IN ('accepted', 'pending', 'declined')))))
       AND NOT EXISTS (
         SELECT FROM payment_attempt a JOIN statement_row l ON l.order_id = a.id AND l.type = 'payment'
           AND l.account = coalesce(a.provider_account, l.account)
         WHERE a.transaction_id = t.id)
     ORDER BY t.id`,
    run,
  );
  return unpaid.map(({ id }) => id);
}
