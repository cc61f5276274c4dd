import { rows, type Knex } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import { clearReconciliationFlag } from '../payments/close-unpaid.ts';
import { findProvenUnpaid } from './confirmed-unpaid.ts';
import { beginComparison, closeResolved, countOpen, writeFound } from './discrepancies-write.ts';
import { storableProblem, type Import } from './import.ts';
import { matchDay, type Sides } from './match.ts';
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
