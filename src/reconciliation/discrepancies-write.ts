import { rows, type Knex, type Queryable } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import type { Found } from './match.ts';

/** One comparison of a day among those that were begun: the latest counts, whatever an older one still does. */
export type Comparison = { reconciliationId: string; comparisonNo: number };

/** The day is locked meanwhile: so short that who closes a difference of it, or asks for it, can wait. */
const AT_ONCE = 500;

const VANISHED = 'A later comparison did not find it any more.';

/** Throws NOT_FOUND. */
export async function beginComparison(db: Queryable, reconciliationId: string): Promise<Comparison> {
  const [begun] = await rows<Comparison>(
    db,
    `UPDATE reconciliation SET comparison_no = comparison_no + 1 WHERE id = :reconciliationId
     RETURNING id AS reconciliation_id, comparison_no`,
    { reconciliationId },
  );
  if (!begun) throw notFound('reconciliation');
  return begun;
}

/**
 * Opens those that are new and brings the figures of the others up to date, however many they are. One that an operator
 * has closed stays closed while its figures stay. Throws INVALID_STATE when a later comparison has begun.
 */
export async function writeFound(
  runInTransaction: RunInTransaction,
  comparison: Comparison,
  { found, at }: { found: readonly Found[]; at: Date },
): Promise<void> {
  for (let index = 0; index < found.length; index += AT_ONCE) {
    const part = found.slice(index, index + AT_ONCE);
    await runInTransaction(async ({ trx }) => {
      await lockDay(trx, comparison);
      await writePart(trx, comparison, { found: part, at });
    });
  }
}

/** Closes the open ones that this comparison, which is through, has not found. Throws as {@link writeFound} does. */
export async function closeResolved(
  runInTransaction: RunInTransaction,
  comparison: Comparison,
  { at, onProgress }: { at: Date; onProgress: () => void },
): Promise<void> {
  for (let closed = AT_ONCE; closed === AT_ONCE; onProgress()) {
    closed = await runInTransaction(async ({ trx }) => {
      await lockDay(trx, comparison);
      const vanished = await rows(
        trx,
        `UPDATE reconciliation_discrepancy SET closed_at = :at, resolution_note = :vanished
         WHERE id = ANY (ARRAY(SELECT id FROM reconciliation_discrepancy
                               WHERE reconciliation_id = :reconciliationId AND closed_at IS NULL
                                 AND comparison_no < :comparisonNo
                               LIMIT ${AT_ONCE}))
         RETURNING id`,
        { ...comparison, at, vanished: VANISHED },
      );
      return vanished.length;
    });
  }
}

/** Nobody closes one of them until the change is over. Throws as {@link writeFound} does. */
export async function countOpen(trx: Knex.Transaction, comparison: Comparison): Promise<number> {
  await lockDay(trx, comparison);
  const [count] = await rows<{ open: number }>(
    trx,
    `SELECT CAST(count(*) AS integer) AS open FROM reconciliation_discrepancy
     WHERE reconciliation_id = :reconciliationId AND closed_at IS NULL`,
    comparison,
  );
  return count?.open ?? 0;
}

async function lockDay(trx: Knex.Transaction, comparison: Comparison): Promise<void> {
  const [latest] = await rows(
    trx,
    'SELECT id FROM reconciliation WHERE id = :reconciliationId AND comparison_no = :comparisonNo FOR UPDATE',
    comparison,
  );
  if (!latest) throw new AppError('INVALID_STATE', `Comparison ${comparison.comparisonNo} has been overtaken.`);
}

async function writePart(
  trx: Knex.Transaction,
  comparison: Comparison,
  { found, at }: { found: readonly Found[]; at: Date },
): Promise<void> {
  const written = found.map((one) => ({
    ...one,
    id: newId('rcd', at.getTime()),
    ourSantim: one.ourSantim === null ? null : String(one.ourSantim),
    theirSantim: one.theirSantim === null ? null : String(one.theirSantim),
  }));
  await rows(
    trx,
    `WITH found AS (
       SELECT f.id, f.kind, f.type, f."orderId" AS order_id, f."ourStatus" AS our_status, f."ourSantim" AS our_santim,
              f."theirSantim" AS their_santim, f."theirCurrency" AS their_currency, f."providerReference" AS provider_reference
       FROM jsonb_to_recordset(CAST(:written AS jsonb)) AS f (id text, kind text, type text, "orderId" text,
         "ourStatus" text, "ourSantim" bigint, "theirSantim" bigint, "theirCurrency" text, "providerReference" text)
     ), standing AS (
       SELECT f.* FROM found f
       WHERE NOT EXISTS (
         SELECT FROM reconciliation_discrepancy d
         WHERE d.reconciliation_id = :reconciliationId AND d.order_id = f.order_id AND d.kind = f.kind AND d.type = f.type
           AND d.closed_by IS NOT NULL AND d.our_status IS NOT DISTINCT FROM f.our_status
           AND d.our_santim IS NOT DISTINCT FROM f.our_santim AND d.their_santim IS NOT DISTINCT FROM f.their_santim
           AND d.their_currency IS NOT DISTINCT FROM f.their_currency)
     )
     INSERT INTO reconciliation_discrepancy (id, reconciliation_id, environment, channel, day, kind, type, order_id,
       our_status, our_santim, their_santim, their_currency, provider_reference, detected_at, comparison_no)
     SELECT s.id, r.id, r.environment, r.channel, r.day, s.kind, s.type, s.order_id, s.our_status, s.our_santim,
            s.their_santim, s.their_currency, s.provider_reference, CAST(:at AS timestamptz), :comparisonNo
     FROM standing s, reconciliation r WHERE r.id = :reconciliationId
     ON CONFLICT (reconciliation_id, kind, type, order_id) WHERE closed_at IS NULL DO UPDATE SET
       our_status = excluded.our_status, our_santim = excluded.our_santim, their_santim = excluded.their_santim,
       their_currency = excluded.their_currency, provider_reference = excluded.provider_reference,
       comparison_no = excluded.comparison_no`,
    { ...comparison, written: JSON.stringify(written), at },
  );
}
