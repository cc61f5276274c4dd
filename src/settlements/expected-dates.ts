import { endOfAddisDay, startOfAddisDay } from '../lib/dates.ts';
import { rows, type Knex } from '../lib/db.ts';
import type { UnitOfWork, RunInTransaction } from '../outbox/record.ts';
import type { SettlementDates } from './calendar/business-days.ts';
import { readSettlementDates } from './calendar/queries.ts';
import { autoDecide } from './decide.ts';
import { recordSettlementEvent } from './events.ts';
import { overdueFrom, readSettlement, SETTLEMENT_COLUMNS, type SettlementRow } from './queries.ts';
import { isOpen } from './states.ts';
import { settlementMessage } from './workflow-input.ts';

export type DatesDeps = { db: Knex; runInTransaction: RunInTransaction };

/** Under this name the timeline keeps what nobody did. */
const CALENDAR = 'calendar';
/** Another edit may just be moving a settlement's days, by less than this. */
const MARGIN_DAYS = 30;

/**
 * Counts the days of an open settlement again by the holidays as they stand, from the instant it was asked for: they
 * move both ways. A change is told by `settlement.updated`. Answers the settlement as it then stands. Throws NOT_FOUND.
 */
export async function recomputeDates(deps: DatesDeps, settlementId: string, at: Date): Promise<SettlementRow> {
  const row = await readSettlement(deps.db, settlementId);
  if (!isOpen(row.status)) return row;
  const { reasons, ...dates } = await readSettlementDates(deps.db, row.requestedAt);
  const { effectiveDate, expectedFrom, expectedUntil } = row;
  const before = { effectiveDate, earliestExpected: expectedFrom, expectedBy: expectedUntil };
  if (asText({ ...dates, reasons }) === asText({ ...before, reasons: row.skippedDays })) return row;
  const updated = await deps.runInTransaction(async (tx) => {
    const [changed] = await rows<SettlementRow>(
      tx.trx,
      `WITH updated AS (
         UPDATE settlement SET effective_date = :effectiveDate, expected_from = :earliestExpected,
           expected_until = :expectedBy, skipped_days = CAST(:reasons AS jsonb), version = version + 1,
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
        reasons: JSON.stringify(reasons),
        overdueFrom: overdueFrom({ expectedUntil: dates.expectedBy }),
        at,
        actor: CALENDAR,
        detail: JSON.stringify({ ...dates, before }),
      },
    );
    if (changed) await recordSettlementEvent(tx, { row: changed, event: 'settlement.updated', at });
    return changed;
  });
  // Somebody else has moved it since it was read, and wakes its workflow for another look.
  return updated ?? readSettlement(deps.db, settlementId);
}

/** What merchants see of them, in one order. */
function asText({ effectiveDate, earliestExpected, expectedBy, reasons }: SettlementDates): string {
  const skipped = reasons.map(({ date, reason, provisional }) => [date, reason, provisional]);
  return JSON.stringify([effectiveDate, earliestExpected, expectedBy, skipped]);
}

/** Marks an open settlement whose last expected day is over, once. Answers it as it then stands. Throws NOT_FOUND. */
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
 * Tells every open settlement that the calendar has changed on these days (YYYY-MM-DD, both included), so that its
 * workflow counts again: call it in the change that edits the holidays. Left out are those that were asked for after
 * these days or are expected long before. Returns how many are told.
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

/** What a settlement's workflow asks for; each answers where the settlement stands and what its days lead to. */
export function createSettlementSteps(deps: DatesDeps) {
  return {
    recomputeDates: async (id: string, at: Date) => reportOf(await recomputeDates(deps, id, at)),
    markOverdue: async (id: string, at: Date) => reportOf(await markOverdue(deps, id, at)),
    autoDecide: (id: string, at: Date) => autoDecide(deps, id, at),
  };
}

function reportOf(row: SettlementRow) {
  return {
    status: row.status,
    overdue: row.overdueAt !== null,
    earliestAtMs: startOfAddisDay(row.expectedFrom).getTime(),
    overdueAtMs: overdueFrom(row).getTime(),
  };
}
