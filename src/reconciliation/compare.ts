import { type Knex, type Queryable, rows } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import { clearReconciliationFlag } from '../payments/clear-reconciliation-flag.ts';
import { beginComparison, closeResolved, countOpen, writeFound } from './discrepancies.ts';
import { type Import, storableProblem } from './import.ts';
import { type Sides, matchDay } from './match.ts';
import type { ReconciliationStatus } from './states.ts';

/** How a day ended. `differences`: those that are open. */
export type Ended = { status: ReconciliationStatus; differences: number };

/**
 * Ends a day whose list was read whole and asked about: opens, refreshes and closes its differences, all of them, clears
 * the doubt about payments that the lists prove unpaid, and sums both sides up. Differences are written as they are
 * found; repeated it changes nothing. Throws NOT_FOUND, INVALID_STATE (a later comparison of the day has begun).
 */
export async function compareDay(
  { db, runInTransaction }: { db: Knex; runInTransaction: RunInTransaction },
  { reconciliationId, at, onProgress = () => {} }: { reconciliationId: string; at: Date; onProgress?: () => void },
): Promise<Ended> {
  const comparison = await beginComparison(db, reconciliationId);
  const sides = await matchDay(db, reconciliationId, async (found) => {
    await writeFound(runInTransaction, comparison, { found, at });
    onProgress();
  });
  await closeResolved(runInTransaction, comparison, { at, onProgress });
  return runInTransaction(async (tx) => {
    const differences = await countOpen(tx.trx, comparison);
    const unpaid = await findProvenUnpaid(tx.trx, { reconciliationId, at });
    await clearReconciliationFlag(tx, { transactionIds: unpaid, at });
    const status = differences === 0 ? 'CLEAN' : 'DIFFERENCES';
    await sumUp(tx, { reconciliationId, status, at, sides });
    return { status, differences };
  });
}

/**
 * Ends a day that could not be compared: its list could not be read in time, or what is said in `problem`. What was found
 * before stays open. Once another reading has begun it changes nothing. Throws NOT_FOUND.
 */
export async function abandonRun(
  tx: UnitOfWork,
  { reconciliationId, importNo }: Import,
  problem: string | null,
): Promise<Ended> {
  await tx.writeDeferred(
    `UPDATE reconciliation SET is_running = requests > requests_at_start, status = 'INCOMPLETE',
       error = coalesce(:problem, error, 'its list was not read to the end in time')
     WHERE id = :reconciliationId AND import_no = :reading`,
    { reconciliationId, reading: importNo, problem: problem && storableProblem(problem) },
  );
  const [day] = await rows<{ differences: number }>(
    tx.trx,
    `SELECT (SELECT CAST(count(*) AS integer) FROM reconciliation_discrepancy d
             WHERE d.reconciliation_id = r.id AND d.closed_at IS NULL) AS differences
     FROM reconciliation r WHERE r.id = :reconciliationId`,
    { reconciliationId },
  );
  if (!day) throw notFound('reconciliation');
  return { status: 'INCOMPLETE', differences: day.differences };
}

type Summary = { reconciliationId: string; status: ReconciliationStatus; at: Date; sides: Sides };

async function sumUp(tx: UnitOfWork, { reconciliationId, status, at, sides }: Summary): Promise<void> {
  const { theirs, ours, clearingSantim } = sides;
  await tx.writeDeferred(
    `UPDATE reconciliation r SET is_running = requests > requests_at_start, status = :status, compared_at = :at, error = NULL,
       last_clean_at = CASE WHEN :status = 'CLEAN' THEN CAST(:at AS timestamptz) ELSE last_clean_at END,
       their_payments = :theirPayments, their_payments_santim = :theirPaymentsSantim,
       our_payments = :ourPayments, our_payments_santim = :ourPaymentsSantim,
       their_payouts = :theirPayouts, their_payouts_santim = :theirPayoutsSantim,
       our_payouts = :ourPayouts, our_payouts_santim = :ourPayoutsSantim,
       their_reversals = :theirReversals, their_reversals_santim = :theirReversalsSantim,
       our_reversals = :ourReversals, our_reversals_santim = :ourReversalsSantim,
       clearing_santim = :clearingSantim
     WHERE id = :reconciliationId`,
    {
      reconciliationId,
      status,
      at,
      theirPayments: theirs.payments.count,
      theirPaymentsSantim: theirs.payments.santim,
      ourPayments: ours.payments.count,
      ourPaymentsSantim: ours.payments.santim,
      theirPayouts: theirs.payouts.count,
      theirPayoutsSantim: theirs.payouts.santim,
      ourPayouts: ours.payouts.count,
      ourPayoutsSantim: ours.payouts.santim,
      theirReversals: theirs.reversals.count,
      theirReversalsSantim: theirs.reversals.santim,
      ourReversals: ours.reversals.count,
      ourReversalsSantim: ours.reversals.santim,
      clearingSantim,
    },
  );
}

/** Lists that were asked for in the same night may lack the same money for the same reason. */
const NEXT_NIGHT = `interval '12 hours'`;

/**
 * Transactions that ended while their provider did not know, and that were not paid by two witnesses. One list that has
 * nothing of them is no proof: providers complete their lists late. So, of each try, for each day from the one it was sent
 * on to the one its session ended on, and only if no list ever had it: the lists of two nights after that day, or one of
 * them and the provider's own definite "not paid", asked about this very try.
 */
export async function findProvenUnpaid(
  db: Queryable,
  queried: { reconciliationId: string; at: Date },
): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    // Who ended in doubt was last answered "unknown": any other answer is of later.
    `SELECT t.id FROM reconciliation this JOIN transaction t ON t.environment = this.environment
     JOIN checkout_session s ON s.id = t.session_id
     WHERE this.id = :reconciliationId AND t.needs_reconciliation AND s.ended_at <= :at
       AND EXISTS (SELECT FROM payment_attempt a WHERE a.transaction_id = t.id AND a.channel = this.channel)
       AND NOT EXISTS (
         SELECT FROM payment_attempt a, generate_series(
           CAST(a.initiated_at AT TIME ZONE 'Africa/Addis_Ababa' AS date),
           CAST(s.ended_at AT TIME ZONE 'Africa/Addis_Ababa' AS date), interval '1 day') AS lived (day)
         WHERE a.transaction_id = t.id AND NOT EXISTS (
           SELECT FROM reconciliation r
           WHERE r.environment = a.environment AND r.channel = a.channel AND r.day = CAST(lived.day AS date)
             AND (r.last_import_started_at >= r.first_import_started_at + ${NEXT_NIGHT}
               OR (r.first_import_started_at IS NOT NULL AND a.last_outcome IN ('accepted', 'pending', 'declined')))))
       AND NOT EXISTS (
         SELECT FROM payment_attempt a JOIN statement_row l ON l.order_id = a.id AND l.type = 'payment'
         WHERE a.transaction_id = t.id)
     ORDER BY t.id`,
    queried,
  );
  return found.map(({ id }) => id);
}
