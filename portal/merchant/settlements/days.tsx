import { Facts } from '../../ui/facts.tsx';
import { formatClock, formatDay, formatWeekday } from '../../ui/format.ts';
import type { SettlementQuote } from '../routes.ts';
import { text } from './text.ts';

type Days = Pick<SettlementQuote, 'effectiveDate' | 'earliestExpected' | 'expectedBy' | 'dateReasons'>;

/** The day for which a settlement counts, those on which it is expected, and why days between do not count. */
export function ExpectedDays({ days: { effectiveDate, earliestExpected, expectedBy, dateReasons } }: { days: Days }) {
  return (
    <>
      <Facts
        rows={{
          [text.counts]: formatDay(effectiveDate),
          [text.expected]: (
            <strong className="font-semibold">
              {text.between(formatDay(earliestExpected), formatDay(expectedBy))}
            </strong>
          ),
        }}
      />
      {dateReasons.length > 0 && (
        <div>
          <p className="text-quiet">{text.skipped}:</p>
          <ul className="list-inside list-disc">
            {dateReasons.map(({ date, reason, provisional }) => (
              <li key={`${date} ${reason}`}>
                {formatWeekday(date)}, {formatDay(date)}
                {whyOf(reason)}
                {provisional && ` (${text.provisional})`}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

/** Why a day does not count, without the day that the reason repeats; nothing for the days of a weekend. */
function whyOf(reason: string): string {
  const why = /^(.+), \w+ \d{1,2} \w+ \d{4}$/.exec(reason)?.[1];
  if (why === undefined) return '';
  const hour = /^requested after (\d+:\d+)$/.exec(why)?.[1];
  return ` – ${hour === undefined ? why : text.late(formatClock(new Date(`2000-01-01T${hour}:00+03:00`)))}`;
}
