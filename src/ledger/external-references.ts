import { addisDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import { AppError } from '../lib/errors.ts';
import { formatBirr, type Santim } from '../lib/money.ts';
import type { Environment } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';

/**
 * A reference that money has outside. In and out: the bank's trace id of what came to our account or left it. Excess: a
 * provider's own, of having taken back what it had paid too much.
 */
export type ExternalReference = { environment: Environment; way: 'in' | 'out' | 'excess'; reference: string };

/** What a reference is booked as, in words; `id`: bkm_… or stl_…. */
export type ReferenceUse = { id: string; what: string; amountSantim: Santim; at: Date };

/** Everything that is booked by a reference outside, and stands: columns of both types above. */
export const REFERENCE_USES = `
  SELECT id, environment, CASE kind WHEN 'RECOVERY' THEN 'excess' ELSE 'in' END AS way, reference, amount_santim, booked_at AS at,
         CASE kind WHEN 'UNALLOCATED' THEN 'unmatched money' WHEN 'REMITTANCE' THEN 'a transfer of ' || channel
                   ELSE 'taken back by ' || channel || ' of ' || withdrawal_id END AS what
  FROM bank_receipt WHERE reversed_at IS NULL
  UNION ALL
  SELECT id, environment, 'out', return_reference, amount_santim, outcome_at, 'the way back of unmatched money'
  FROM bank_receipt WHERE return_reference IS NOT NULL AND reversed_at IS NULL
  UNION ALL
  SELECT id, environment, 'in', return_reference, amount_santim, returned_at, 'the return of a settlement'
  FROM settlement WHERE return_reference IS NOT NULL
  UNION ALL
  SELECT id, environment, 'out', bank_reference, amount_santim, credited_at, 'the credit of a settlement'
  FROM settlement WHERE credited_at IS NOT NULL`;

/** What stands booked by a reference, the oldest first; until the change ends nobody else books anything by it. */
export async function lockReference({ trx }: UnitOfWork, outside: ExternalReference): Promise<ReferenceUse[]> {
  const { environment, way, reference } = outside;
  const key = `reference ${environment} ${way} ${reference}`;
  await rows(trx, 'SELECT pg_advisory_xact_lock(hashtextextended(CAST(:key AS text), 0))', { key });
  return rows<ReferenceUse>(
    trx,
    `SELECT id, what, amount_santim, at FROM (${REFERENCE_USES}) used
     WHERE environment = :environment AND way = :way AND reference = :reference ORDER BY at, id`,
    outside,
  );
}

/** Nothing but `id` is booked by it, and nothing will be before the change ends. `field` said it. Throws DUPLICATE_REFERENCE. */
export async function ensureUnused(
  tx: UnitOfWork,
  { field, id, ...outside }: ExternalReference & { field: string; id?: string },
): Promise<void> {
  const [other] = (await lockReference(tx, outside)).filter((use) => use.id !== id);
  if (other) throw referenceConflict(other, { field, reference: outside.reference });
}

/** DUPLICATE_REFERENCE, naming what it was booked as. */
export function referenceConflict(
  { id, what, amountSantim, at }: ReferenceUse,
  { field, reference }: { field: string; reference: string },
): AppError {
  const issue = `"${reference}" was booked as ${what}, ${formatBirr(amountSantim)} ETB, on ${addisDay(at)} (${id})`;
  const isSettlement = id.startsWith('stl_');
  const advice = isSettlement ? "Look at the bank's statement again." : 'Where that is wrong, correct it first.';
  return new AppError('DUPLICATE_REFERENCE', `${field} ${issue}. ${advice}`, {
    details: [{ field, issue }],
    existing: isSettlement ? { settlementId: id } : { bankMoneyId: id },
  });
}
