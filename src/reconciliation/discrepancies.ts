import type { z } from 'zod';

import { first, type Queryable, rows, type Trx, updateRow } from '../lib/db.ts';
import { found, invalidState } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Santim } from '../lib/money.ts';
import { allOf, paginateNewest, whereGiven } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import type { StatementRow } from '../providers/provider.ts';
import { OPEN_DISCREPANCIES } from './runs.ts';
import type { DiscrepancyQuery } from './schema.ts';
import type { DiscrepancyKind } from './states.ts';
import type { ChannelDay } from './workflow.ts';

/** A discrepancy of one order of a day, as a comparison finds it. */
export type FoundDiscrepancy = {
  kind: DiscrepancyKind;
  type: StatementRow['type'];
  /** pat_…, wd_… or rfd_…, or the provider's id of an order that is not ours. */
  orderId: string;
  /** Our account, by the provider's name, whose statement lists the order or should list it; '' in the sandbox. */
  account: string;
  /** The status of our order; null when the order is unknown. */
  orderStatus: string | null;
  bookedSantim: Santim | null;
  listedSantim: Santim | null;
  listedCurrency: string | null;
  providerReference: string | null;
};

/** A disagreement about one order between the ledger and the statement of the day that lists it or should list it. */
export type Discrepancy = FoundDiscrepancy &
  ChannelDay & {
    id: string;
    detectedAt: Date;
    closedAt: Date | null;
    /** opr_…; null while it is open, and when a later comparison closed it. */
    closedBy: string | null;
    resolutionNote: string | null;
  };

export type Closing = { operatorId: string; reason: string; at: Date };

/**
 * Closes a discrepancy that an operator has investigated; posts nothing. Idempotent. Throws NOT_FOUND, and INVALID_STATE when
 * another operator or a later comparison has closed it.
 */
export async function closeDiscrepancy({ trx }: UnitOfWork, id: string, closing: Closing): Promise<Discrepancy> {
  // Locks the day before its discrepancies, in the order of comparisons, so that a concurrent one counts this closing.
  await rows(
    trx,
    `SELECT r.id FROM reconciliation r JOIN reconciliation_discrepancy d ON d.reconciliation_id = r.id
     WHERE d.id = :id FOR UPDATE OF r`,
    { id },
  );
  const sql = 'SELECT * FROM reconciliation_discrepancy WHERE id = :id';
  const known = found(await first<Discrepancy>(trx, sql, { id }), 'discrepancy');
  if (known.closedAt !== null && known.closedBy === closing.operatorId) return known;
  if (known.closedAt !== null) {
    const by = known.closedBy ?? 'a later comparison, which no longer found it';
    throw invalidState(`Discrepancy ${id} was already closed by ${by}.`);
  }
  const closed = { closedAt: closing.at, closedBy: closing.operatorId, resolutionNote: closing.reason };
  await updateRow(trx, { table: 'reconciliation_discrepancy', id }, closed);
  // The day is CLEAN when its last discrepancy was closed and no comparison is running; last_clean_at stays as it is.
  await rows(
    trx,
    `UPDATE reconciliation r SET status = 'CLEAN'
     WHERE r.environment = :environment AND r.channel = :channel AND r.day = CAST(:day AS date)
       AND r.status = 'DISCREPANCIES' AND NOT r.is_running AND ${OPEN_DISCREPANCIES} = 0`,
    known,
  );
  return { ...known, ...closed };
}

/** Discrepancies, the newest first. Undefined does not narrow. */
export async function listDiscrepancies(
  db: Queryable,
  { state, environment, channel, kind, day }: z.output<typeof DiscrepancyQuery>,
  page: Page,
) {
  const { where, values } = whereGiven({ environment, channel, kind, day });
  const ofState = state && `closed_at IS ${state === 'OPEN' ? '' : 'NOT '}NULL`;
  const listed = { table: 'reconciliation_discrepancy', time: 'detected_at', where: allOf([where, ofState]), values };
  return paginateNewest<Discrepancy>(db, listed, page);
}

/** One of the comparisons of a day. Only the latest may write. */
export type Comparison = { reconciliationId: string; comparisonNo: number };

/** The day is locked for one batch, short enough for concurrent requests and closings. */
export const BATCH_SIZE = 500;

/** Throws NOT_FOUND. */
export async function beginComparison(db: Queryable, reconciliationId: string): Promise<Comparison> {
  const started = await first<Comparison>(
    db,
    `UPDATE reconciliation SET comparison_no = comparison_no + 1 WHERE id = :reconciliationId
     RETURNING id AS reconciliation_id, comparison_no`,
    { reconciliationId },
  );
  return found(started, 'reconciliation');
}

/**
 * Opens new discrepancies and updates the figures of open ones, at most {@link BATCH_SIZE}. A discrepancy that an operator
 * has closed stays closed while its figures are the same. Throws INVALID_STATE when a later comparison has started.
 */
export async function writeFound(
  { trx }: UnitOfWork,
  comparison: Comparison,
  { found: batch, at }: { found: readonly FoundDiscrepancy[]; at: Date },
): Promise<void> {
  const day = await lockDay(trx, comparison);
  const opened = { ...day, ...comparison, detectedAt: at };
  const known = await rows<Discrepancy>(
    trx,
    `SELECT * FROM reconciliation_discrepancy
     WHERE reconciliation_id = :reconciliationId AND order_id = ANY (:orderIds) AND closed_by IS NOT NULL`,
    { ...comparison, orderIds: batch.map(({ orderId }) => orderId) },
  );
  const closed = new Set(known.map(figuresOf));
  const open = batch.filter((one) => !closed.has(figuresOf(one)));
  if (open.length === 0) return;
  const knex = trx.knex();
  await knex('reconciliationDiscrepancy')
    .insert(open.map((one) => ({ ...one, ...opened, id: newId('rcd', at.getTime()) })))
    .onConflict(knex.raw('(reconciliation_id, kind, type, order_id, account) WHERE closed_at IS NULL'))
    .merge(['orderStatus', 'bookedSantim', 'listedSantim', 'listedCurrency', 'providerReference', 'comparisonNo']);
}

function figuresOf({ kind, type, orderId, account, ...figures }: FoundDiscrepancy): string {
  const { orderStatus, bookedSantim, listedSantim, listedCurrency } = figures;
  return [kind, type, orderId, account, orderStatus, bookedSantim, listedSantim, listedCurrency].join();
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
        { ...comparison, at, note: 'A later comparison no longer found it.' },
      );
      return resolved.length;
    });
  }
}

/** Locks the day, so that no discrepancy is closed until the transaction ends. Throws as {@link writeFound} does. */
export async function lockDay(trx: Trx, comparison: Comparison): Promise<ChannelDay> {
  const latest = await first<ChannelDay>(
    trx,
    `SELECT environment, channel, day FROM reconciliation
     WHERE id = :reconciliationId AND comparison_no = :comparisonNo FOR UPDATE`,
    comparison,
  );
  if (latest) return latest;
  throw invalidState(`Comparison ${comparison.comparisonNo} was superseded by a later one.`);
}
