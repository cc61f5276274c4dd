import { isDeepStrictEqual } from 'node:util';

import { endOfAddisDay } from '../lib/dates.ts';
import { type Database, rows } from '../lib/db.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import type { SettlementDates } from './calendar/business-days.ts';
import { readSettlementDates } from './calendar/queries.ts';
import { recordSettlementEvent } from './events.ts';
import { overdueFrom, readSettlement, SETTLEMENT_COLUMNS, type SettlementRow } from './queries.ts';
import { isOpen } from './states.ts';
import { settlementMessage } from './workflow-input.ts';

export type DatesDeps = { db: Database; runInTransaction: RunInTransaction };

/** The actor in the timeline of what no person did. */
const CALENDAR = 'calendar';
/** More than another, concurrent edit of the calendar can change an expected day by. */
const MARGIN_DAYS = 30;

/**
 * Recomputes the days of an open settlement by the current holidays, from the instant of its request: they may become
 * earlier or later. A change records `settlement.updated`. Returns the current row. Throws NOT_FOUND.
 */
export async function recomputeDates(deps: DatesDeps, settlementId: string, at: Date): Promise<SettlementRow> {
  const row = await readSettlement(deps.db, settlementId);
  if (!isOpen(row.status)) return row;
  const dates = await readSettlementDates(deps.db, row.requestedAt);
  if (isSame(dates, row)) return row;
  const updated = await deps.runInTransaction(async (tx) => {
    const [changed] = await rows<SettlementRow>(
      tx.trx,
      `WITH updated AS (
         UPDATE settlement SET effective_date = :effectiveDate, expected_from = :expectedFrom,
           expected_until = :expectedUntil, skipped_days = CAST(:skippedDays AS jsonb), version = version + 1,
           overdue_at = CASE WHEN CAST(:overdueFrom AS timestamptz) <= CAST(:at AS timestamptz) THEN overdue_at END
         WHERE id = :id AND version = :version RETURNING ${SETTLEMENT_COLUMNS}
       ), timeline_row AS (
         INSERT INTO settlement_timeline (settlement_id, occurred_at, kind, actor, detail)
         SELECT id, CAST(:at AS timestamptz), 'expected_dates.changed', :actor, CAST(:detail AS jsonb) FROM updated
       )
       SELECT * FROM updated`,
      {
        ...dates,
        id: row.id,
        version: row.version,
        skippedDays: JSON.stringify(dates.skippedDays),
        overdueFrom: overdueFrom(dates),
        at,
        actor: CALENDAR,
        detail: JSON.stringify({ ...presentDates(dates), before: presentDates(row) }),
      },
    );
    if (changed) await recordSettlementEvent(tx, { row: changed, event: 'settlement.updated', at });
    return changed;
  });
  // A concurrent transition changed the version; its signal makes the workflow read the row again.
  return updated ?? readSettlement(deps.db, settlementId);
}

function presentDates({ effectiveDate, expectedFrom, expectedUntil }: SettlementDates) {
  return { effectiveDate, earliestExpected: expectedFrom, expectedBy: expectedUntil };
}

function isSame(dates: SettlementDates, before: SettlementDates): boolean {
  return (
    isDeepStrictEqual(presentDates(dates), presentDates(before)) &&
    isDeepStrictEqual(dates.skippedDays, before.skippedDays)
  );
}

/** Marks an open settlement as overdue, once, when its last expected day is over. Returns the current row. Throws NOT_FOUND. */
export async function markOverdue(deps: DatesDeps, settlementId: string, at: Date): Promise<SettlementRow> {
  const row = await recomputeDates(deps, settlementId, at);
  if (!isOpen(row.status) || row.overdueAt !== null || at < overdueFrom(row)) return row;
  const [marked] = await rows<SettlementRow>(
    deps.db,
    `WITH marked AS (
       UPDATE settlement SET overdue_at = :at
       WHERE id = :id AND overdue_at IS NULL AND status IN ('REQUESTED', 'APPROVED', 'PROCESSING')
         AND expected_until = CAST(:expectedBy AS date)
       RETURNING ${SETTLEMENT_COLUMNS}
     ), timeline_row AS (
       INSERT INTO settlement_timeline (settlement_id, occurred_at, kind, actor, detail)
       SELECT id, CAST(:at AS timestamptz), 'settlement.overdue', :actor, jsonb_build_object('expectedBy', expected_until)
       FROM marked
     )
     SELECT * FROM marked`,
    { id: row.id, at, expectedBy: row.expectedUntil, actor: CALENDAR },
  );
  return marked ?? readSettlement(deps.db, settlementId);
}

/**
 * Signals the workflows of open settlements that holidays on these days (YYYY-MM-DD, both included) have changed, in the
 * transaction of the edit. Skips settlements requested after these days, or expected long before. Returns their number.
 */
export async function enqueueCalendarChanged(tx: UnitOfWork, days: { from: string; until: string }): Promise<number> {
  const open = await rows<{ id: string }>(
    tx.trx,
    `SELECT id FROM settlement
     WHERE status IN ('REQUESTED', 'APPROVED', 'PROCESSING') AND requested_at < :until
       AND expected_until >= CAST(:from AS date) - CAST(:margin AS integer) ORDER BY id`,
    { from: days.from, until: endOfAddisDay(days.until), margin: MARGIN_DAYS },
  );
  await tx.enqueue(open.map(({ id }) => settlementMessage(id, 'calendarChanged')));
  return open.length;
}
