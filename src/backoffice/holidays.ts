import { recordAudit, type AuditEntry, type AuditContext } from '../access/audit.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import {
  addHoliday,
  changeHoliday,
  removeHoliday,
  type HolidayChanges,
  type NewHoliday,
} from '../settlements/calendar/operations.ts';
import { findHoliday, type Holiday } from '../settlements/calendar/queries.ts';

/** Told in the change that edits the holidays, with the days (YYYY-MM-DD, both included) on which it matters. */
export type CalendarChanged = (tx: UnitOfWork, days: { from: string; until: string }) => Promise<unknown>;

type Deps = { calendarChanged: CalendarChanged };
type Reason = { reason?: string | undefined };

/** Adds a holiday or a closure. Throws VALIDATION_ERROR, DUPLICATE_REFERENCE. */
export async function declareHoliday(
  context: AuditContext,
  { reason, ...holiday }: NewHoliday & Reason,
  deps: Deps,
): Promise<Holiday> {
  const added = await addHoliday(context.tx, holiday);
  await deps.calendarChanged(context.tx, { from: added.date, until: added.date });
  await recordAudit(context, { action: 'holiday.add', ...about(added.id), after: shown(added), reason });
  return added;
}

/** Moves, renames, confirms or switches one. Throws VALIDATION_ERROR, NOT_FOUND, DUPLICATE_REFERENCE. */
export async function editHoliday(
  context: AuditContext,
  { holidayId, reason, ...changes }: HolidayChanges & Reason & { holidayId: string },
  deps: Deps,
): Promise<Holiday> {
  const before = await findHoliday(context.tx.trx, holidayId);
  const after = await changeHoliday(context.tx, holidayId, changes);
  if (before && JSON.stringify(shown(before)) === JSON.stringify(shown(after))) return after;
  const [from = after.date, until = after.date] = [before?.date ?? after.date, after.date].toSorted();
  await deps.calendarChanged(context.tx, { from, until });
  const was = before ? { before: shown(before) } : {};
  await recordAudit(context, { action: 'holiday.change', ...about(holidayId), ...was, after: shown(after), reason });
  return after;
}

/** Removes what an operator added. Throws NOT_FOUND, and INVALID_STATE for a computed one. */
export async function withdrawHoliday(
  context: AuditContext,
  { holidayId, reason }: Reason & { holidayId: string },
  deps: Deps,
): Promise<Holiday> {
  const removed = await removeHoliday(context.tx, holidayId);
  await deps.calendarChanged(context.tx, { from: removed.date, until: removed.date });
  await recordAudit(context, { action: 'holiday.remove', ...about(holidayId), before: shown(removed), reason });
  return removed;
}

function about(holidayId: string): Pick<AuditEntry, 'resourceType' | 'resourceId'> {
  return { resourceType: 'holiday', resourceId: holidayId };
}

function shown({ date, name, nameAm, kind, confirmed, active }: Holiday) {
  return { date, name, nameAm, kind, confirmed, active };
}
