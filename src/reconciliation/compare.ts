import { rows, type Knex } from '../lib/db.ts';
import { notFound } from '../lib/errors.ts';
import type { Change, RunChange } from '../lib/outbox.ts';
import { clearDoubt } from '../transactions/clear-doubt.ts';
import { comparePairs, type Sides } from './pairs.ts';
import { findProvenUnpaid } from './proven-unpaid.ts';
import { storableProblem, type Reading } from './read.ts';
import type { ReconciliationStatus } from './states.ts';
import { beginComparison, closeVanished, countOpen, writeFound } from './write-found.ts';

/** How a day ended. `differences`: those that are open. */
export type Ended = { status: ReconciliationStatus; differences: number };

/**
 * Ends a day whose list was read whole and asked about: opens, refreshes and closes its differences, all of them, clears
 * the doubt about payments that the lists prove unpaid, and sums both sides up. Differences are written as they are
 * found; repeated it changes nothing. Throws NOT_FOUND, INVALID_STATE (a later comparison of the day has begun).
 */
export async function compareDay(
  { db, runChange }: { db: Knex; runChange: RunChange },
  { reconciliationId, at, onProgress = () => {} }: { reconciliationId: string; at: Date; onProgress?: () => void },
): Promise<Ended> {
  const comparison = await beginComparison(db, reconciliationId);
  const sides = await comparePairs(db, reconciliationId, async (found) => {
    await writeFound(runChange, comparison, { found, at });
    onProgress();
  });
  await closeVanished(runChange, comparison, { at, onProgress });
  return runChange(async (change) => {
    const differences = await countOpen(change.trx, comparison);
    const unpaid = await findProvenUnpaid(change.trx, { reconciliationId, at });
    await clearDoubt(change, { transactionIds: unpaid, at });
    const status = differences === 0 ? 'CLEAN' : 'DIFFERENCES';
    await sumUp(change, { reconciliationId, status, at, sides });
    return { status, differences };
  });
}

/**
 * Ends a day that could not be compared: its list could not be read in time, or what is said in `problem`. What was found
 * before stays open. Once another reading has begun it changes nothing. Throws NOT_FOUND.
 */
export async function giveDayUp(
  change: Change,
  { reconciliationId, reading }: Reading,
  problem: string | null,
): Promise<Ended> {
  await change.write(
    `UPDATE reconciliation SET open = asks > asks_begun, status = 'INCOMPLETE',
       problem = coalesce(:problem, problem, 'its list was not read to the end in time')
     WHERE id = :reconciliationId AND reading = :reading`,
    { reconciliationId, reading, problem: problem && storableProblem(problem) },
  );
  const [day] = await rows<{ differences: number }>(
    change.trx,
    `SELECT (SELECT CAST(count(*) AS integer) FROM reconciliation_difference d
             WHERE d.reconciliation_id = r.id AND d.closed_at IS NULL) AS differences
     FROM reconciliation r WHERE r.id = :reconciliationId`,
    { reconciliationId },
  );
  if (!day) throw notFound('reconciliation');
  return { status: 'INCOMPLETE', differences: day.differences };
}

type Summary = { reconciliationId: string; status: ReconciliationStatus; at: Date; sides: Sides };

async function sumUp(change: Change, { reconciliationId, status, at, sides }: Summary): Promise<void> {
  const { theirs, ours, clearingSantim } = sides;
  await change.write(
    `UPDATE reconciliation r SET open = asks > asks_begun, status = :status, compared_at = :at, problem = NULL,
       clean_at = CASE WHEN :status = 'CLEAN' THEN CAST(:at AS timestamptz) ELSE clean_at END,
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
