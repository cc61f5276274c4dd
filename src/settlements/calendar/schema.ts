import { z } from 'zod';

import { calendarDate } from './holiday-input.ts';

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
