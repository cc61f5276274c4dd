import { ApiText } from '../../ui/api-text.tsx';
import { Facts } from '../../ui/facts.tsx';
import { formatClock, formatDay, formatWeekday } from '../../ui/format.ts';
import type { SettlementQuote } from '../routes.ts';
import { HOLIDAYS } from './holidays.ts';
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
                <Why reason={reason} />
                {provisional && ` (${text.provisional})`}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

/** The names of the holidays of a day in Amharic; undefined: one has none. */
function amharicOf(names: string): string | undefined {
  const amharic = names.split(' and ').map((name) => HOLIDAYS[name]);
  return amharic.includes(undefined) ? undefined : amharic.join('፣ ');
}

/** Why a day does not count, without the day that the reason repeats; nothing for the days of a weekend. */
function Why({ reason }: { reason: string }) {
  const why = /^(.+), \w+ \d{1,2} \w+ \d{4}$/.exec(reason)?.[1];
  if (why === undefined) return null;
  const hour = /^requested after (\d+:\d+)$/.exec(why)?.[1];
  return (
    <>
      {' – '}
      {hour === undefined ? (
        <ApiText text={why} amharic={amharicOf(why)} />
      ) : (
        text.late(formatClock(new Date(`2000-01-01T${hour}:00+03:00`)))
      )}
    </>
  );
}
