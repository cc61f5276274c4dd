import { daysAgo, daysSinceMonday, lastDays, type Days } from '../ui/days.ts';
import type { Filter } from '../ui/filter-bar.tsx';
import { catalogue } from '../ui/language.ts';
import type { Search } from '../ui/search-params.ts';

const text = catalogue({
  today: ['Today', 'ዛሬ'],
  yesterday: ['Yesterday', 'ትናንት'],
  thisWeek: ['This week', 'በዚህ ሳምንት'],
  days7: ['Last 7 days', 'ያለፉት 7 ቀናት'],
  days30: ['Last 30 days', 'ያለፉት 30 ቀናት'],
  days90: ['Last 90 days', 'ያለፉት 90 ቀናት'],
});

type Range = { name: string; days: () => Days };
const DEFAULT: Range = { name: text.days30, days: () => lastDays(30) };

/** Ranges of days that move with the calendar, by their name in the address. */
const RANGES: Readonly<Record<string, Range>> = {
  today: { name: text.today, days: () => lastDays(1) },
  yesterday: { name: text.yesterday, days: () => daysAgo(1, 1) },
  week: { name: text.thisWeek, days: () => daysAgo(daysSinceMonday(), 0) },
  '7d': { name: text.days7, days: () => lastDays(7) },
  '30d': DEFAULT,
  '90d': { name: text.days90, days: () => lastDays(90) },
};

/** A filter of one of these ranges or of two days; the last 30 days without either. */
export const RANGE_FILTER: Filter = {
  kind: 'days',
  preset: DEFAULT.name,
  presets: Object.entries(RANGES).map(([range, { name }]) => [name, { range }] as const),
};

/** The days that the filter has chosen, as of now. */
export function daysOf({ range = '', startDate, endDate }: Search): Days {
  return startDate && endDate ? { startDate, endDate } : (RANGES[range] ?? DEFAULT).days();
}
