import { type Knex, type Queryable, rows } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Santim } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import type { StatementRow } from '../providers/provider.ts';
import type { Found } from './match.ts';
import type { DiscrepancyKind } from './states.ts';

/** Something that a provider's list and our books do not agree on. */
export type Discrepancy = {
  id: string;
  environment: Environment;
  channel: Channel;
  /** Whose list it is about, or would be: YYYY-MM-DD in Addis Ababa. */
  day: string;
  kind: DiscrepancyKind;
  type: StatementRow['type'];
  /** pat_… or wd_…, or what the provider calls an order that is not ours. */
  orderId: string;
  ourStatus: string | null;
  ourSantim: Santim | null;
  theirSantim: Santim | null;
  theirCurrency: string | null;
  providerReference: string | null;
  detectedAt: Date;
  closedAt: Date | null;
  /** opr_…; null while it is open, and when it vanished by itself. */
  closedBy: string | null;
  resolutionNote: string | null;
};

const COLUMNS = `d.id, d.environment, d.channel, CAST(d.day AS text) AS day, d.kind, d.type, d.order_id, d.our_status, d.our_santim,
  d.their_santim, d.their_currency, d.provider_reference, d.detected_at, d.closed_at, d.closed_by, d.resolution_note`;

/** An operator's word about a difference. */
export type Closing = { operatorId: string; reason: string; at: Date };

/**
 * Closes a difference that somebody has looked into; it moves no money. Closing it again changes nothing. Throws
 * NOT_FOUND, and INVALID_STATE when it was closed before, by somebody else or by itself.
 */
export async function closeDifference({ trx }: UnitOfWork, id: string, closing: Closing): Promise<Discrepancy> {
  await lockDayOf(trx, id);
  const [closed] = await rows<Discrepancy>(
    trx,
    `UPDATE reconciliation_discrepancy d SET closed_at = :at, closed_by = :operatorId, resolution_note = :reason
     WHERE d.id = :id AND d.closed_at IS NULL RETURNING ${COLUMNS}`,
    { id, ...closing },
  );
  if (closed) {
    await recomputeDay(trx, closed);
    return closed;
  }
  const [known] = await rows<Discrepancy>(trx, `SELECT ${COLUMNS} FROM reconciliation_discrepancy d WHERE d.id = :id`, {
    id,
  });
  if (!known) throw notFound('difference');
  if (known.closedBy === closing.operatorId) return known;
  const by = known.closedBy ?? 'itself, for it was found no more';
  throw new AppError('INVALID_STATE', `Difference ${id} was closed before by ${by}.`);
}

/** The day before its differences, as comparisons do: one that ends now counts this closing, or is ended by it. */
async function lockDayOf(trx: Queryable, id: string): Promise<void> {
  await rows(
    trx,
    `SELECT r.id FROM reconciliation r JOIN reconciliation_discrepancy d ON d.reconciliation_id = r.id
     WHERE d.id = :id FOR UPDATE OF r`,
    { id },
  );
}

/** A day whose last difference an operator has closed differs no more, unless it is being compared; it was not found clean. */
async function recomputeDay(trx: Queryable, { environment, channel, day }: Discrepancy): Promise<void> {
  await rows(
    trx,
    `UPDATE reconciliation r SET status = 'CLEAN'
     WHERE r.environment = :environment AND r.channel = :channel AND r.day = CAST(:day AS date)
       AND r.status = 'DIFFERENCES' AND NOT r.is_running AND NOT EXISTS (
         SELECT FROM reconciliation_discrepancy d WHERE d.reconciliation_id = r.id AND d.closed_at IS NULL)`,
    { environment, channel, day },
  );
}

/** What to list; undefined does not narrow. */
export type DifferenceFilter = {
  open?: boolean | undefined;
  environment?: Environment | undefined;
  channel?: Channel | undefined;
  kind?: DiscrepancyKind | undefined;
  /** YYYY-MM-DD in Addis Ababa. */
  day?: string | undefined;
};

const MATCHES = `(CAST(:open AS boolean) IS NULL OR (d.closed_at IS NULL) = :open)
  AND (CAST(:environment AS text) IS NULL OR d.environment = :environment)
  AND (CAST(:channel AS text) IS NULL OR d.channel = :channel)
  AND (CAST(:kind AS text) IS NULL OR d.kind = :kind)
  AND (CAST(:day AS date) IS NULL OR d.day = :day)`;

/** Differences, the newest first. */
export async function listDiscrepancies(db: Queryable, filter: DifferenceFilter, page: Page) {
  const values = {
    open: filter.open ?? null,
    environment: filter.environment ?? null,
    channel: filter.channel ?? null,
    kind: filter.kind ?? null,
    day: filter.day ?? null,
  };
  const table = 'reconciliation_discrepancy d';
  return paginateNewest<Discrepancy>(
    db,
    { columns: COLUMNS, table, time: 'd.detected_at', where: MATCHES, values },
    page,
  );
}

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
