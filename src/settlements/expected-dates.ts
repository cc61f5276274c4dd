import { isDeepStrictEqual } from 'node:util';

import { endOfAddisDay } from '../lib/dates.ts';
import { rows } from '../lib/db.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
import type { SettlementDates } from './calendar/business-days.ts';
import { readSettlementDates } from './calendar/operations.ts';
import { recordSettlementEvent } from './events.ts';
import { lockSettlement, overdueFrom, type SettlementRow } from './queries.ts';
import { IS_OPEN, isOpen } from './states.ts';
import { writeSettlement } from './transition.ts';
import { settlementMessage } from './workflow.ts';

/** The actor in the timeline of what no person did. */
const CALENDAR = 'calendar';
/** More than another, concurrent edit of the calendar can change an expected day by. */
const MARGIN_DAYS = 30;

/**
 * Recomputes the days of an open settlement by the current holidays, from the instant of its request: they may become
 * earlier or later. A change records `settlement.updated`. Marks it as overdue, once, when its last expected day is over.
 * Returns the current row. Throws NOT_FOUND.
 */
export async function updateDates(
  { runInTransaction }: { runInTransaction: RunInTransaction },
  settlementId: string,
  at: Date,
): Promise<SettlementRow> {
  return runInTransaction(async (tx) => {
    const row = await recompute(tx, await lockSettlement(tx, settlementId), at);
    if (!isOpen(row.status) || row.overdueAt !== null || at < overdueFrom(row)) return row;
    const overdue = { kind: 'settlement.overdue', detail: { expectedBy: row.expectedUntil } } as const;
    return writeSettlement(tx, row, { ...overdue, changes: { overdueAt: at }, operatorId: CALENDAR, at });
  });
}

async function recompute(tx: UnitOfWork, before: SettlementRow, at: Date): Promise<SettlementRow> {
  if (!isOpen(before.status)) return before;
  const dates = await readSettlementDates(tx.trx, before.requestedAt);
  const detail = { ...presentDates(dates), before: presentDates(before) };
  const isSame = isDeepStrictEqual(presentDates(dates), detail.before);
  if (isSame && isDeepStrictEqual(dates.skippedDays, before.skippedDays)) return before;
  const overdueAt = overdueFrom(dates) <= at ? before.overdueAt : null;
  const changes = { ...dates, overdueAt, version: before.version + 1 };
  const change = { kind: 'expected_dates.changed', detail, changes, operatorId: CALENDAR, at } as const;
  const row = await writeSettlement(tx, before, change);
  await recordSettlementEvent(tx, { row, event: 'settlement.updated', at });
  return row;
}

function presentDates({ effectiveDate, expectedFrom, expectedUntil }: SettlementDates) {
  return { effectiveDate, earliestExpected: expectedFrom, expectedBy: expectedUntil };
}

/**
 * Signals the workflows of open settlements that holidays on these days (YYYY-MM-DD, both included) have changed, in the
 * transaction of the edit. Skips settlements requested after these days, or expected long before. Returns their number.
 */
export async function enqueueCalendarChanged(tx: UnitOfWork, days: { from: string; until: string }): Promise<number> {
  const open = await rows<{ id: string }>(
    tx.trx,
    `SELECT id FROM settlement
     WHERE ${IS_OPEN} AND requested_at < :until
       AND expected_until >= CAST(:from AS date) - CAST(:margin AS integer) ORDER BY id`,
    { from: days.from, until: endOfAddisDay(days.until), margin: MARGIN_DAYS },
  );
  await tx.enqueue(open.map(({ id }) => settlementMessage(id, 'calendarChanged')));
  return open.length;
}
