import { addDays, daysInRange, RANGE_DAYS_APART_MAX } from '../../src/lib/dates.ts';
import { Button } from './button.tsx';
import type { Days } from './days.ts';
import { Empty } from './feedback.tsx';
import { formatDays } from './format.ts';
import { catalogue } from './language.ts';
import type { Search } from './search-params.ts';

const DAYS_MAX = RANGE_DAYS_APART_MAX + 1;

const text = catalogue({
  reversed: ['The first day is after the last one.', 'የመጀመሪያው ቀን ከመጨረሻው ቀን በኋላ ነው።'],
  tooWide: (max: number) => [`At most ${max} days can be shown at a time.`, `በአንድ ጊዜ ሊታዩ የሚችሉት ቢበዛ ${max} ቀናት ናቸው።`],
  chosen: (days: string) => [`The address of this page asks for ${days}.`, `የዚህ ገጽ አድራሻ የሚጠይቀው ${days} ነው።`],
  show: (days: string) => [`Show ${days}`, `${days} ያሳዩ`],
  longer: [
    'For longer, go through the days in parts, or request reports.',
    'ከዚያ በላይ ለሆነ ጊዜ ቀናቱን በክፍል ይመልከቱ፣ ወይም ሪፖርቶችን ይጠይቁ።',
  ],
});

/** Days that the API takes, in place of those that it does not: the last ones of a longer range; null: these. */
function rightDays({ startDate, endDate }: Days): Days | null {
  const count = daysInRange(startDate, endDate);
  if (count < 1)
    return rightDays({ startDate: endDate, endDate: startDate }) ?? { startDate: endDate, endDate: startDate };
  return count <= DAYS_MAX ? null : { startDate: addDays(endDate, 1 - DAYS_MAX), endDate };
}

/** The days in the address as long as the API does not take them, which no choice of the pages makes; null: it does. */
export function wrongDaysOf({ startDate, endDate }: Search): Days | null {
  return startDate && endDate && rightDays({ startDate, endDate }) ? { startDate, endDate } : null;
}

/** What is wrong with these days, and the way out. */
export function WrongDays({ days, change }: { days: Days; change: (changes: Search) => void }) {
  const { startDate, endDate } = days;
  const right = rightDays(days) ?? days;
  const isTooWide = Math.abs(daysInRange(startDate, endDate)) > DAYS_MAX;
  return (
    <Empty title={isTooWide ? text.tooWide(DAYS_MAX) : text.reversed}>
      <p>
        {text.chosen(formatDays(days))} {isTooWide && text.longer}
      </p>
      <Button kind="primary" onClick={() => change(right)}>
        {text.show(formatDays(right))}
      </Button>
    </Empty>
  );
}
