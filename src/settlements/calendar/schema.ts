import { z } from 'zod';

import { id, reason } from '../../access/operator-schema.ts';
import { instant } from '../../lib/fields.ts';
import { calendarDate, HolidayChanges, NewHoliday } from './holiday-input.ts';
import { HOLIDAY_KINDS } from './holidays.ts';

export const CalendarQuery = z.strictObject({ startDate: calendarDate.optional(), endDate: calendarDate.optional() });

export const CalendarDay = z
  .object({
    date: z.string().meta({ format: 'date' }),
    businessDay: z.boolean().meta({ description: 'Whether settlements are counted on it' }),
    reason: z.string().nullable().meta({
      description: 'Why it is no business day; null when it is one',
      example: 'Timkat, Tuesday 19 January 2027',
    }),
    provisional: z.boolean().meta({ description: 'A holiday on it is not confirmed and may still move by a day' }),
    ethiopianDate: z.string().meta({ description: 'In the Ethiopian calendar', example: '11 Tir 2019' }),
  })
  .meta({ id: 'CalendarDay' });

export const HolidayParams = z.strictObject({ holidayId: id });
export const AddedHoliday = NewHoliday.extend({ reason: reason.optional() });
export const ChangedHoliday = HolidayChanges.extend({ reason: reason.optional() });

/** A holiday as operators see it. */
export const Holiday = z
  .object({
    holidayId: z.string(),
    date: z.string().meta({ format: 'date' }),
    name: z.string(),
    nameAm: z.string().nullable(),
    kind: z.enum(HOLIDAY_KINDS).meta({ description: 'Whether banks are closed' }),
    confirmed: z.boolean().meta({ description: 'false: provisional, the date may change by a day' }),
    active: z.boolean(),
    source: z.enum(['computed', 'operator']),
    updatedAt: instant.nullable(),
  })
  .meta({ id: 'OpsHoliday' });
