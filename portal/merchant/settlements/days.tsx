import { Facts } from '../../ui/facts.tsx';
import { formatDay } from '../../ui/format.ts';
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
                {reason}
                {provisional && ` (${text.provisional})`}
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
