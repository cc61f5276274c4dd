import { useNavigate, useSearch } from '@tanstack/react-router';

import { addDays } from '../../../src/lib/dates.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { ETHIOPIAN_LOCALE, formatEthiopianDay, formatMonth } from '../../ui/format.ts';
import { catalogue, language } from '../../ui/language.ts';
import { Page } from '../../ui/page.tsx';
import { Day } from '../../ui/time.tsx';
import { useToday } from '../../ui/today.ts';
import { HOLIDAY_KINDS } from '../codes.ts';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { Actions } from '../parts.tsx';
import { REFRESH_MS, useRead, type Holiday } from '../routes.ts';

const text = catalogue({
  title: (year: number) => [`Holidays of ${year} E.C.`, `የ${year} ዓ.ም. በዓላት`],
  earlier: ['Earlier year', 'ቀዳሚ ዓመት'],
  later: ['Later year', 'ቀጣይ ዓመት'],
  none: ['None', 'የለም'],
  provisional: ['provisional', 'ጊዜያዊ'],
  inactive: ['turned off', 'ጠፍቷል'],
  computed: ['computed', 'የተሰላ'],
});

const MONTHS = 13;
const DAYS_OF_MONTH = 30;

/** The first day of an Ethiopian year: September 11, or 12 before a Gregorian leap year. */
const newYear = (year: number): string => `${year + 7}-09-${(year + 8) % 4 === 0 ? 12 : 11}`;

function yearOf(day: string): number {
  const year = Number(day.slice(0, 4)) - 7;
  return day < newYear(year) ? year - 1 : year;
}

/** The days on which banks are closed, by the months of an Ethiopian year. */
export function Holidays() {
  const { year: given }: { year?: string } = useSearch({ strict: false });
  const navigate = useNavigate();
  const thisYear = yearOf(useToday());
  const year = Number(given) || thisYear;
  const query = { startDate: newYear(year), endDate: addDays(newYear(year + 1), -1) };
  const holidays = useRead('GET /api/ops/holidays', { query }, { everyMs: REFRESH_MS });
  const show = (wanted: number): void => void navigate({ to: '/holidays', search: { year: wanted } as never });
  const months = Array.from({ length: MONTHS }, (_month, index) => addDays(query.startDate, index * DAYS_OF_MONTH));
  return (
    <Page
      title={text.title(year)}
      actions={
        <>
          <Button icon="left" onClick={() => show(year - 1)}>
            {text.earlier}
          </Button>
          <Button icon="right" onClick={() => show(year + 1)}>
            {text.later}
          </Button>
          <CommandButton name="holiday.add" address="/api/ops/holidays" />
        </>
      }
    >
      <Loaded query={holidays}>
        {({ data }) => (
          <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
            {months.map((first, index) => (
              <Month
                key={first}
                first={first}
                holidays={data.filter(({ date }) => date >= first && date < (months[index + 1] ?? '9999'))}
              />
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  );
}

function Month({ first, holidays }: { first: string; holidays: readonly Holiday[] }) {
  return (
    <Panel title={formatMonth(first, ETHIOPIAN_LOCALE)}>
      {holidays.length === 0 && <p className="text-quiet">{text.none}</p>}
      <ul className="flex flex-col gap-3">
        {holidays.map((holiday) => (
          <OneHoliday key={holiday.holidayId} holiday={holiday} />
        ))}
      </ul>
    </Panel>
  );
}

function OneHoliday({ holiday }: { holiday: Holiday }) {
  const { holidayId, date, name, nameAm, kind, confirmed, active, source } = holiday;
  // Why not stands at the button of the page.
  const { may } = useOperator();
  const address = `/api/ops/holidays/${holidayId}`;
  const shownName = language === 'am' ? (nameAm ?? name) : name;
  const initial = {
    date,
    name,
    nameAm: nameAm ?? '',
    kind,
    confirmed: String(confirmed),
    active: String(active),
  };
  return (
    <li className="flex flex-col gap-1.5 border-t border-line pt-3 first:border-0 first:pt-0">
      <span className="font-medium">{shownName}</span>
      <span className="text-quiet">
        {formatEthiopianDay(date)} · <Day day={date} />
      </span>
      <span className="flex flex-wrap gap-1.5">
        <Badge tone={kind === 'closed' ? 'info' : 'quiet'}>{HOLIDAY_KINDS[kind]}</Badge>
        {!confirmed && <Badge tone="warn">{text.provisional}</Badge>}
        {!active && <Badge tone="quiet">{text.inactive}</Badge>}
        {source === 'computed' && <Badge tone="quiet">{text.computed}</Badge>}
      </span>
      {may('holiday.change') && (
        <Actions>
          <CommandButton name="holiday.change" of={shownName} address={address} initial={initial} />
          {source === 'operator' && <CommandButton name="holiday.remove" of={shownName} address={address} />}
        </Actions>
      )}
    </li>
  );
}
