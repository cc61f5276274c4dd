import { z } from 'zod';

import { isDay } from '../../lib/dates.ts';
import { rows, type Trx } from '../../lib/db.ts';
import { AppError, invalidFields, notFound } from '../../lib/errors.ts';
import { mustBe } from '../../lib/fields.ts';
import { newId } from '../../lib/ids.ts';
import { dateParam } from '../../lib/pagination.ts';
import type { UnitOfWork } from '../../outbox/record.ts';
import { FIRST_DAY, LAST_DAY } from './business-days.ts';
import { HOLIDAY_KINDS } from './holidays.ts';
import { findHoliday, listHolidays, type Holiday } from './queries.ts';

type Edited = Omit<Holiday, 'createdAt' | 'updatedAt'>;

/**
 * Adds a holiday or a closure of one day. Throws VALIDATION_ERROR, and DUPLICATE_REFERENCE for an active holiday of the same
 * date and name.
 */
export async function addHoliday(tx: UnitOfWork, input: NewHoliday): Promise<Holiday> {
  const added = checked(NewHoliday, input);
  await acquireLock(tx.trx);
  return save(tx.trx, { ...added, id: newId('hol'), source: 'operator' });
}

/**
 * Changes the given fields. A new date confirms the holiday unless `confirmed` is given.
 * Throws VALIDATION_ERROR, NOT_FOUND and DUPLICATE_REFERENCE.
 */
export async function changeHoliday(tx: UnitOfWork, id: string, changes: HolidayChanges): Promise<Holiday> {
  const changed = checked(HolidayChanges, changes);
  await acquireLock(tx.trx);
  const { createdAt: _created, updatedAt: _updated, ...before } = await find(tx.trx, id);
  const isRescheduled = changed.date !== undefined && changed.date !== before.date;
  return save(tx.trx, {
    ...before,
    date: changed.date ?? before.date,
    name: changed.name ?? before.name,
    nameAm: changed.nameAm === undefined ? before.nameAm : changed.nameAm,
    kind: changed.kind ?? before.kind,
    confirmed: changed.confirmed ?? (isRescheduled || before.confirmed),
    active: changed.active ?? before.active,
  });
}

/**
 * Removes a holiday that an operator added, and returns it. Throws NOT_FOUND, and INVALID_STATE for a computed holiday,
 * which can only be disabled.
 */
export async function removeHoliday(tx: UnitOfWork, id: string): Promise<Holiday> {
  await acquireLock(tx.trx);
  const holiday = await find(tx.trx, id);
  if (holiday.source === 'computed') {
    throw new AppError(
      'INVALID_STATE',
      `${holiday.name} of ${holiday.date} is computed and cannot be removed: disable it with "active": false.`,
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

/** Edits are rare and run one after the other, so each writes what it has read; readers do not wait. */
async function acquireLock(trx: Trx): Promise<void> {
  await rows(trx, 'LOCK TABLE holiday IN SHARE ROW EXCLUSIVE MODE');
}

async function find(trx: Trx, id: string): Promise<Holiday> {
  const holiday = await findHoliday(trx, id);
  if (!holiday) throw notFound('holiday');
  return holiday;
}

async function save(trx: Trx, edited: Edited): Promise<Holiday> {
  if (edited.active) await ensureNameUnused(trx, edited);
  const [saved] = await trx<Holiday>('holiday')
    .insert(edited)
    .onConflict('id')
    .merge({ ...edited, updatedAt: trx.raw('now()') })
    .returning('*');
  if (!saved) throw new Error('saving a holiday returned no row');
  return saved;
}

async function ensureNameUnused(trx: Trx, { id, date, name }: Edited): Promise<void> {
  const others = await listHolidays(trx, { from: date, until: date });
  const same = others.find(
    (other) => other.active && other.id !== id && other.name.toLowerCase() === name.toLowerCase(),
  );
  if (!same) return;
  const issue = `must differ from that of another holiday on ${date}, got ${JSON.stringify(name)}: change that one (${same.id}), or disable it`;
  throw new AppError('DUPLICATE_REFERENCE', `name ${issue}`, {
    details: [{ field: 'name', issue }],
    existing: { holidayId: same.id },
  });
}

const NAME_CHARACTERS_MAX = 100;

/** A day within the calendar. */
export const calendarDate = dateParam.refine((text) => !isDay(text) || (text >= FIRST_DAY && text <= LAST_DAY), {
  error: mustBe(`from ${FIRST_DAY} to ${LAST_DAY}`),
});

const nameRule = mustBe(`a text of 1 to ${NAME_CHARACTERS_MAX} characters, none of them for control`);
const holidayName = z
  .string({ error: nameRule })
  .max(NAME_CHARACTERS_MAX, { abort: true, error: nameRule })
  .transform((text) => text.trim().replaceAll(/ +/g, ' '))
  .refine((text) => text.length >= 1 && text.length <= NAME_CHARACTERS_MAX && !/[\p{Cc}\p{Cs}]/u.test(text), {
    error: nameRule,
  });

const yesOrNo = z.boolean({ error: mustBe('true or false') });

const fields = {
  date: calendarDate,
  name: holidayName,
  nameAm: holidayName.nullable().meta({ description: 'The name in Amharic, if it has one' }),
  kind: z
    .enum(HOLIDAY_KINDS, { error: mustBe('closed or memorial') })
    .meta({ description: 'Whether banks are closed' }),
  confirmed: yesOrNo.meta({ description: 'false: provisional, it may still be a day earlier or later' }),
  active: yesOrNo.meta({ description: 'false: disabled, ignored by the calendar' }),
};

/** A holiday that an operator adds; by default confirmed and active. */
export const NewHoliday = z.strictObject({
  ...fields,
  nameAm: fields.nameAm.default(null),
  confirmed: fields.confirmed.default(true),
  active: fields.active.default(true),
});
export type NewHoliday = z.input<typeof NewHoliday>;

/** An operator's changes of a holiday; omitted fields do not change. */
export const HolidayChanges = z.strictObject(fields).partial();
export type HolidayChanges = z.input<typeof HolidayChanges>;
