import { type Queryable, rows, type Trx } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Santim } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import type { StatementRow } from '../providers/provider.ts';
import type { FoundDiscrepancy } from './match.ts';
import type { DiscrepancyKind } from './states.ts';

/** A disagreement between a provider's statement and the ledger about one order. */
export type Discrepancy = {
  id: string;
  environment: Environment;
  channel: Channel;
  /** The day of the statement that lists the order or should list it: YYYY-MM-DD in Addis Ababa. */
  day: string;
  kind: DiscrepancyKind;
  type: StatementRow['type'];
  /** pat_… or wd_…, or the provider's id of an order that is not ours. */
  orderId: string;
  /** The status of our order; null when the order is unknown. */
  orderStatus: string | null;
  bookedSantim: Santim | null;
  listedSantim: Santim | null;
  listedCurrency: string | null;
  providerReference: string | null;
  detectedAt: Date;
  closedAt: Date | null;
  /** opr_…; null while it is open, and when a later comparison closed it. */
  closedBy: string | null;
  resolutionNote: string | null;
};

const COLUMNS = `d.id, d.environment, d.channel, CAST(d.day AS text) AS day, d.kind, d.type, d.order_id, d.order_status, d.booked_santim,
  d.listed_santim, d.listed_currency, d.provider_reference, d.detected_at, d.closed_at, d.closed_by, d.resolution_note`;

/** An operator's decision to close a discrepancy. */
export type Closing = { operatorId: string; reason: string; at: Date };

/**
 * Closes a discrepancy that an operator has investigated; posts nothing. Idempotent. Throws NOT_FOUND, and INVALID_STATE when
 * another operator or a later comparison has closed it.
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
  const by = known.closedBy ?? 'a later comparison, which no longer found it';
  throw new AppError('INVALID_STATE', `Difference ${id} was already closed by ${by}.`);
}

/** Locks the day before its discrepancies, in the order of comparisons, so that a concurrent one counts this closing. */
async function lockDayOf(trx: Queryable, id: string): Promise<void> {
  await rows(
    trx,
    `SELECT r.id FROM reconciliation r JOIN reconciliation_discrepancy d ON d.reconciliation_id = r.id
     WHERE d.id = :id FOR UPDATE OF r`,
    { id },
  );
}

/** Sets a day CLEAN when its last discrepancy was closed and no comparison is running; last_clean_at stays as it is. */
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

/** Undefined does not narrow. */
export type DiscrepancyFilter = {
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

/** Discrepancies, the newest first. */
export async function listDiscrepancies(db: Queryable, filter: DiscrepancyFilter, page: Page) {
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

/** One of the comparisons of a day. Only the latest may write. */
export type Comparison = { reconciliationId: string; comparisonNo: number };

/** The day is locked for one batch, short enough for concurrent requests and closings. */
const BATCH_SIZE = 500;

const NOT_FOUND_AGAIN = 'A later comparison no longer found it.';

/** Throws NOT_FOUND. */
export async function beginComparison(db: Queryable, reconciliationId: string): Promise<Comparison> {
  const [started] = await rows<Comparison>(
    db,
    `UPDATE reconciliation SET comparison_no = comparison_no + 1 WHERE id = :reconciliationId
     RETURNING id AS reconciliation_id, comparison_no`,
    { reconciliationId },
  );
  if (!started) throw notFound('reconciliation');
  return started;
}

/**
 * Opens new discrepancies and updates the figures of open ones, in batches. A discrepancy that an operator has closed stays
 * closed while its figures are the same. Throws INVALID_STATE when a later comparison has started.
 */
export async function writeFound(
  runInTransaction: RunInTransaction,
  comparison: Comparison,
  { found, at }: { found: readonly FoundDiscrepancy[]; at: Date },
): Promise<void> {
  for (let index = 0; index < found.length; index += BATCH_SIZE) {
    const part = found.slice(index, index + BATCH_SIZE);
    await runInTransaction(async ({ trx }) => {
      await lockDay(trx, comparison);
      await writePart(trx, comparison, { found: part, at });
    });
  }
}

/** Closes the open discrepancies that this completed comparison has not found. Throws as {@link writeFound} does. */
export async function closeResolved(
  runInTransaction: RunInTransaction,
  comparison: Comparison,
  { at, onProgress }: { at: Date; onProgress: () => void },
): Promise<void> {
  for (let closed = BATCH_SIZE; closed === BATCH_SIZE; onProgress()) {
    closed = await runInTransaction(async ({ trx }) => {
      await lockDay(trx, comparison);
      const resolved = await rows(
        trx,
        `UPDATE reconciliation_discrepancy SET closed_at = :at, resolution_note = :note
         WHERE id = ANY (ARRAY(SELECT id FROM reconciliation_discrepancy
                               WHERE reconciliation_id = :reconciliationId AND closed_at IS NULL
                                 AND comparison_no < :comparisonNo
                               LIMIT ${BATCH_SIZE}))
         RETURNING id`,
        { ...comparison, at, note: NOT_FOUND_AGAIN },
      );
      return resolved.length;
    });
  }
}

/** Locks the day, so that none is closed until the transaction ends. Throws as {@link writeFound} does. */
export async function countOpen(trx: Trx, comparison: Comparison): Promise<number> {
  await lockDay(trx, comparison);
  const [count] = await rows<{ open: number }>(
    trx,
    `SELECT CAST(count(*) AS integer) AS open FROM reconciliation_discrepancy
     WHERE reconciliation_id = :reconciliationId AND closed_at IS NULL`,
    comparison,
  );
  return count?.open ?? 0;
}

async function lockDay(trx: Trx, comparison: Comparison): Promise<void> {
  const [latest] = await rows(
    trx,
    'SELECT id FROM reconciliation WHERE id = :reconciliationId AND comparison_no = :comparisonNo FOR UPDATE',
    comparison,
  );
  if (!latest)
    throw new AppError('INVALID_STATE', `Comparison ${comparison.comparisonNo} was superseded by a later one.`);
}

async function writePart(
  trx: Trx,
  comparison: Comparison,
  { found, at }: { found: readonly FoundDiscrepancy[]; at: Date },
): Promise<void> {
  const written = found.map((one) => ({
    ...one,
    id: newId('rcd', at.getTime()),
    bookedSantim: one.bookedSantim === null ? null : String(one.bookedSantim),
    listedSantim: one.listedSantim === null ? null : String(one.listedSantim),
  }));
  await rows(
    trx,
    `WITH found AS (
       SELECT f.id, f.kind, f.type, f."orderId" AS order_id, f."orderStatus" AS order_status, f."bookedSantim" AS booked_santim,
              f."listedSantim" AS listed_santim, f."listedCurrency" AS listed_currency, f."providerReference" AS provider_reference
       FROM jsonb_to_recordset(CAST(:written AS jsonb)) AS f (id text, kind text, type text, "orderId" text,
         "orderStatus" text, "bookedSantim" bigint, "listedSantim" bigint, "listedCurrency" text, "providerReference" text)
     ), remaining AS (
       SELECT f.* FROM found f
       WHERE NOT EXISTS (
         SELECT FROM reconciliation_discrepancy d
         WHERE d.reconciliation_id = :reconciliationId AND d.order_id = f.order_id AND d.kind = f.kind AND d.type = f.type
           AND d.closed_by IS NOT NULL AND d.order_status IS NOT DISTINCT FROM f.order_status
           AND d.booked_santim IS NOT DISTINCT FROM f.booked_santim AND d.listed_santim IS NOT DISTINCT FROM f.listed_santim
           AND d.listed_currency IS NOT DISTINCT FROM f.listed_currency)
     )
     INSERT INTO reconciliation_discrepancy (id, reconciliation_id, environment, channel, day, kind, type, order_id,
       order_status, booked_santim, listed_santim, listed_currency, provider_reference, detected_at, comparison_no)
     SELECT s.id, r.id, r.environment, r.channel, r.day, s.kind, s.type, s.order_id, s.order_status, s.booked_santim,
            s.listed_santim, s.listed_currency, s.provider_reference, CAST(:at AS timestamptz), :comparisonNo
     FROM remaining s, reconciliation r WHERE r.id = :reconciliationId
     ON CONFLICT (reconciliation_id, kind, type, order_id) WHERE closed_at IS NULL DO UPDATE SET
       order_status = excluded.order_status, booked_santim = excluded.booked_santim, listed_santim = excluded.listed_santim,
       listed_currency = excluded.listed_currency, provider_reference = excluded.provider_reference,
       comparison_no = excluded.comparison_no`,
    { ...comparison, written: JSON.stringify(written), at },
  );
}
