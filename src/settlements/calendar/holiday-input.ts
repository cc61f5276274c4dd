import { z } from 'zod';

import { isDay } from '../../lib/dates.ts';
import { presentValue } from '../../lib/echo.ts';
import { dateParam } from '../../lib/pagination.ts';
import { FIRST_DAY, LAST_DAY } from './days.ts';
import { HOLIDAY_KINDS } from './holidays.ts';

const NAME_CHARACTERS_MAX = 100;

const mustBe = (what: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : `must be ${what}, got ${presentValue(issue.input, { isPublic: true })}`;

/** A day that there is a calendar for. */
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
  confirmed: yesOrNo.meta({ description: 'false: provisional, it may still move by a day' }),
  active: yesOrNo.meta({ description: 'false: switched off, as if it were not there' }),
};

/** A holiday that an operator adds; confirmed and active unless said otherwise. */
export const NewHoliday = z.strictObject({
  ...fields,
  nameAm: fields.nameAm.default(null),
  confirmed: fields.confirmed.default(true),
  active: fields.active.default(true),
});
export type NewHoliday = z.input<typeof NewHoliday>;

/** What an operator changes of one; the rest stays. */
export const HolidayChanges = z.strictObject(fields).partial();
export type HolidayChanges = z.input<typeof HolidayChanges>;
