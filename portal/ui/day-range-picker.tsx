import {
  endOfMonth,
  EthiopicCalendar,
  GregorianCalendar,
  parseDate,
  startOfMonth,
  toCalendar,
  today,
  type CalendarDate,
  type DateValue,
} from '@internationalized/date';
import { use, useState } from 'react';
import {
  Button,
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
  I18nProvider,
  RangeCalendar,
  RangeCalendarStateContext,
} from 'react-aria-components';

import { RANGE_DAYS_APART_MAX } from '../../src/lib/dates.ts';
import type { Days } from './days.ts';
import { ETHIOPIAN_LOCALE, formatMonth, GREGORIAN_LOCALE, pickerCalendar } from './format.ts';
import { Icon } from './icon.tsx';
import { text } from './text.ts';

const ZONE = 'Africa/Addis_Ababa';
const CALENDARS = {
  gregorian: { name: text.gregorian, locale: GREGORIAN_LOCALE, system: new GregorianCalendar() },
  ethiopic: { name: text.ethiopian, locale: ETHIOPIAN_LOCALE, system: new EthiopicCalendar() },
} as const;
type CalendarName = keyof typeof CALENDARS;
const CALENDAR_NAMES = Object.keys(CALENDARS) as CalendarName[];
const MONTHS_SHOWN = 14;

const iso = (date: CalendarDate): string => toCalendar(date, CALENDARS.gregorian.system).toString();

/** No list takes days that are further apart. `first`: the day that was chosen; null: none yet. */
const isTooFar = (day: DateValue, first: CalendarDate | null): boolean =>
  first !== null && Math.abs(day.compare(first)) > RANGE_DAYS_APART_MAX;

/** A calendar of days in Addis Ababa, Gregorian or Ethiopian, to choose a range or a whole month. */
export function DayRangePicker({ value, onChange }: { value: Days | null; onChange: (days: Days) => void }) {
  const [name, setName] = useState<CalendarName>(pickerCalendar);
  const { locale, system } = CALENDARS[name];
  const now = today(ZONE);
  const months = monthsBefore(toCalendar(now, system));
  const chosenMonth = value ? months.findIndex((month) => iso(month) === value.startDate) : -1;
  const chooseMonth = (index: number): void => {
    const month = months[index];
    if (!month) return;
    const end = endOfMonth(month);
    onChange({ startDate: iso(month), endDate: iso(end.compare(now) > 0 ? now : end) });
  };
  return (
    <div className="flex w-72 flex-col gap-3">
      <div
        role="group"
        aria-label={text.calendar}
        className="grid grid-cols-2 rounded-md border border-strong-line p-0.5"
      >
        {CALENDAR_NAMES.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === name}
            onClick={() => setName(one)}
            className={`rounded px-2 py-1 font-medium ${one === name ? 'bg-brand text-on-brand' : 'hover:bg-sunken'}`}
          >
            {CALENDARS[one].name}
          </button>
        ))}
      </div>
      <label className="flex items-center justify-between gap-2">
        {text.month}
        <select className="control" value={chosenMonth} onChange={(event) => chooseMonth(Number(event.target.value))}>
          <option value={-1}>{text.chooseMonth}</option>
          {months.map((month, index) => (
            <option key={iso(month)} value={index}>
              {formatMonth(iso(month), locale)}
            </option>
          ))}
        </select>
      </label>
      <I18nProvider locale={locale}>
        <RangeCalendar
          key={name}
          aria-label={text.days}
          // In the shown calendar: React Aria would show the month of a limit in the limit's own one.
          maxValue={toCalendar(now, system)}
          isDateUnavailable={isTooFar}
          defaultFocusedValue={value ? parseDate(value.endDate) : now}
          defaultValue={value && { start: parseDate(value.startDate), end: parseDate(value.endDate) }}
          onChange={({ start, end }) =>
            onChange({ startDate: iso(start as CalendarDate), endDate: iso(end as CalendarDate) })
          }
        >
          <Month locale={locale} />
        </RangeCalendar>
      </I18nProvider>
      <p className="text-xs text-quiet">{text.daysMax(RANGE_DAYS_APART_MAX + 1)}</p>
    </div>
  );
}

/** The first days of this month and those before it. */
function monthsBefore(now: CalendarDate): CalendarDate[] {
  const month = startOfMonth(now);
  return Array.from({ length: MONTHS_SHOWN }, (_month, index) => month.subtract({ months: index }));
}

const STEP = 'flex size-9 items-center justify-center rounded-md hover:bg-sunken disabled:text-strong-line';
const CELL =
  'flex size-10 items-center justify-center rounded-md outline-offset-[-2px] hover:bg-sunken disabled:text-strong-line data-disabled:text-strong-line data-unavailable:bg-transparent! data-unavailable:text-quiet! data-unavailable:line-through data-outside-month:hidden data-selected:bg-brand-soft data-selected:text-brand data-selection-end:bg-brand data-selection-end:text-on-brand data-selection-start:bg-brand data-selection-start:text-on-brand';

function Month({ locale }: { locale: string }) {
  const calendar = use(RangeCalendarStateContext);
  return (
    <>
      <header className="flex items-center justify-between">
        <Button slot="previous" className={STEP}>
          <Icon name="left" />
        </Button>
        {/* React Aria reads a heading of its own, which has the era too. */}
        <span aria-hidden="true" className="font-semibold">
          {calendar && formatMonth(iso(calendar.visibleRange.start), locale)}
        </span>
        <Button slot="next" className={STEP}>
          <Icon name="right" />
        </Button>
      </header>
      <CalendarGrid weekdayStyle="short" className="w-full">
        <CalendarGridHeader>
          {(day) => <CalendarHeaderCell className="text-xs font-normal text-quiet">{day}</CalendarHeaderCell>}
        </CalendarGridHeader>
        <CalendarGridBody>{(date) => <CalendarCell date={date} className={CELL} />}</CalendarGridBody>
      </CalendarGrid>
    </>
  );
}
