import type { z } from 'zod';

import { rows, type Knex } from '../../lib/db.ts';
import { AppError, invalidFields, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { HolidayChanges, NewHoliday } from './holiday-input.ts';
import { findHoliday, HOLIDAY_COLUMNS, listHolidays, type Holiday } from './queries.ts';

type Edited = Omit<Holiday, 'createdAt' | 'updatedAt'>;

/**
 * Adds a holiday or a closure of one day. Throws VALIDATION_ERROR, and DUPLICATE_REFERENCE when an active holiday of
 * that date has the name already.
 */
export async function addHoliday(tx: UnitOfWork, input: NewHoliday): Promise<Holiday> {
  const added = checked(NewHoliday, input);
  await acquireLock(tx.trx);
  return save(tx.trx, { ...added, id: newId('hol'), source: 'operator' });
}

/**
 * Changes what is given and leaves the rest. A new date is the operator's word, so it confirms the holiday unless
 * `confirmed` says otherwise. Throws VALIDATION_ERROR, NOT_FOUND and DUPLICATE_REFERENCE.
 */
export async function changeHoliday(tx: UnitOfWork, id: string, changes: HolidayChanges): Promise<Holiday> {
  const changed = checked(HolidayChanges, changes);
  await acquireLock(tx.trx);
  const before = await find(tx.trx, id);
  const updated = changed.date !== undefined && changed.date !== before.date;
  return save(tx.trx, {
    ...before,
    date: changed.date ?? before.date,
    name: changed.name ?? before.name,
    nameAm: changed.nameAm === undefined ? before.nameAm : changed.nameAm,
    kind: changed.kind ?? before.kind,
    confirmed: changed.confirmed ?? (updated || before.confirmed),
    active: changed.active ?? before.active,
  });
}

/**
 * Removes what an operator added, and returns it as it was. Throws NOT_FOUND, and INVALID_STATE for a computed
 * holiday: it is switched off instead, which is remembered.
 */
export async function removeHoliday(tx: UnitOfWork, id: string): Promise<Holiday> {
  await acquireLock(tx.trx);
  const holiday = await find(tx.trx, id);
  if (holiday.source === 'computed') {
    throw new AppError(
      'INVALID_STATE',
      `${holiday.name} of ${holiday.date} is computed and cannot be removed: switch it off with "active": false.`,
    );
  }
  await rows(tx.trx, 'DELETE FROM holiday WHERE id = :id', { id });
  return holiday;
}

function checked<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw invalidFields(parsed.error.issues.map(({ path, message }) => ({ field: path.join('.'), issue: message })));
}

/** Edits are rare and wait for each other, so what one has read stays true until it writes; readers do not wait. */
async function acquireLock(trx: Knex.Transaction): Promise<void> {
  await rows(trx, 'LOCK TABLE holiday IN SHARE ROW EXCLUSIVE MODE');
}

async function find(trx: Knex.Transaction, id: string): Promise<Holiday> {
  const holiday = await findHoliday(trx, id);
  if (!holiday) throw notFound('holiday');
  return holiday;
}

async function save(trx: Knex.Transaction, edited: Edited): Promise<Holiday> {
  if (edited.active) await ensureNameUnused(trx, edited);
  const [saved] = await rows<Holiday>(
    trx,
    `INSERT INTO holiday (id, date, name, name_am, kind, confirmed, active, source)
     VALUES (:id, :date, :name, :nameAm, :kind, :confirmed, :active, :source)
     ON CONFLICT (id) DO UPDATE SET date = excluded.date, name = excluded.name, name_am = excluded.name_am,
       kind = excluded.kind, confirmed = excluded.confirmed, active = excluded.active, updated_at = now()
     RETURNING ${HOLIDAY_COLUMNS}`,
    edited,
  );
  if (!saved) throw new Error('saving a holiday returned no row');
  return saved;
}

async function ensureNameUnused(trx: Knex.Transaction, { id, date, name }: Edited): Promise<void> {
  const there = await listHolidays(trx, { from: date, until: date });
  const same = there.find(
    (other) => other.active && other.id !== id && other.name.toLowerCase() === name.toLowerCase(),
  );
  if (!same) return;
  const issue = `must differ from that of another holiday on ${date}, got ${JSON.stringify(name)}: change that one (${same.id}), or switch it off`;
  throw new AppError('DUPLICATE_REFERENCE', `name ${issue}`, {
    details: [{ field: 'name', issue }],
    existing: { holidayId: same.id },
  });
}
