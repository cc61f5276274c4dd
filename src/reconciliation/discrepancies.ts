import { rows, type Queryable } from '../lib/db.ts';
import { AppError, notFound } from '../lib/errors.ts';
import type { Santim } from '../lib/money.ts';
import { paginateNewest } from '../lib/paginate-newest.ts';
import type { Page } from '../lib/pagination.ts';
import type { Environment } from '../lib/scope.ts';
import type { Channel } from '../merchants/channels/channel.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { StatementRow } from '../providers/provider.ts';
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
