import { isDeepStrictEqual } from 'node:util';

import { endOfAddisDay } from '../lib/dates.ts';
import { type Database, rows } from '../lib/db.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import type { SettlementDates } from './calendar/business-days.ts';
import { readSettlementDates } from './calendar/queries.ts';
import { recordSettlementEvent } from './events.ts';
import { lockSettlement, overdueFrom, type SettlementRow } from './queries.ts';
import { isOpen } from './states.ts';
import { writeSettlement } from './transition.ts';
import { settlementMessage } from './workflow.ts';

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
  return deps.runInTransaction(async (tx) => recompute(tx, settlementId, at));
}

async function recompute(tx: UnitOfWork, settlementId: string, at: Date): Promise<SettlementRow> {
  const before = await lockSettlement(tx, settlementId);
  if (!isOpen(before.status)) return before;
  const dates = await readSettlementDates(tx.trx, before.requestedAt);
  const detail = { ...presentDates(dates), before: presentDates(before) };
  const isSame = isDeepStrictEqual(presentDates(dates), detail.before);
  if (isSame && isDeepStrictEqual(dates.skippedDays, before.skippedDays)) return before;
  const overdueAt = overdueFrom(dates) <= at ? before.overdueAt : null;
  const changes = { ...dates, overdueAt, version: before.version + 1 };
  const change = { changes, kind: 'expected_dates.changed', detail, by: CALENDAR, at } as const;
  const row = await writeSettlement(tx, before, change);
  await recordSettlementEvent(tx, { row, event: 'settlement.updated', at });
  return row;
}

function presentDates({ effectiveDate, expectedFrom, expectedUntil }: SettlementDates) {
  return { effectiveDate, earliestExpected: expectedFrom, expectedBy: expectedUntil };
}

/** Marks an open settlement as overdue, once, when its last expected day is over. Returns the current row. Throws NOT_FOUND. */
export async function markOverdue(deps: DatesDeps, settlementId: string, at: Date): Promise<SettlementRow> {
  return deps.runInTransaction(async (tx) => {
    const row = await recompute(tx, settlementId, at);
    if (!isOpen(row.status) || row.overdueAt !== null || at < overdueFrom(row)) return row;
    const detail = { expectedBy: row.expectedUntil };
    const change = { changes: { overdueAt: at }, kind: 'settlement.overdue', detail, by: CALENDAR, at } as const;
    return writeSettlement(tx, row, change);
  });
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
