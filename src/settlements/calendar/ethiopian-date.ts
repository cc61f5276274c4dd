/** The months in their order, as texts for people write them. */
const MONTHS = [
  ['Meskerem', 'መስከረም'],
  ['Tikimt', 'ጥቅምት'],
  ['Hidar', 'ኅዳር'],
  ['Tahsas', 'ታኅሣሥ'],
  ['Tir', 'ጥር'],
  ['Yekatit', 'የካቲት'],
  ['Megabit', 'መጋቢት'],
  ['Miazia', 'ሚያዝያ'],
  ['Ginbot', 'ግንቦት'],
  ['Sene', 'ሰኔ'],
  ['Hamle', 'ሐምሌ'],
  ['Nehase', 'ነሐሴ'],
  ['Pagumen', 'ጳጉሜን'],
] as const;

/** A day (YYYY-MM-DD) in the Ethiopian calendar: "13 Hidar 2019", in Amharic "ኅዳር 13 ቀን 2019". */
export function ethiopianDate(day: string, language: 'en' | 'am' = 'en'): string {
  const { year, month, day: dayOfMonth } = toEthiopian(day);
  const [english, amharic] = MONTHS[month - 1] ?? [];
  return language === 'am' ? `${amharic} ${dayOfMonth} ቀን ${year}` : `${dayOfMonth} ${english} ${year}`;
}

/** A day as another calendar counts it: months and days from 1. */
export type Reckoned = { year: number; month: number; day: number };

/** What that day (YYYY-MM-DD) is called. */
export type ToCalendar = (day: string) => Reckoned;

function reckoningOf(calendar: 'ethiopic' | 'islamic-umalqura'): ToCalendar {
  const format = new Intl.DateTimeFormat(`en-u-ca-${calendar}-nu-latn`, {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    timeZone: 'UTC',
  });
  return (day) => {
    const parts = new Map(format.formatToParts(new Date(day)).map(({ type, value }) => [type, Number(value)]));
    return { year: parts.get('year') ?? NaN, month: parts.get('month') ?? NaN, day: parts.get('day') ?? NaN };
  };
}

/** The Ethiopian calendar: twelve months of 30 days, then Pagumen of 5, or 6 before a Gregorian leap year. */
export const toEthiopian = reckoningOf('ethiopic');

/** The Islamic calendar of Umm al-Qura: known beforehand, but a day off where the moon is looked for. */
export const inIslamic = reckoningOf('islamic-umalqura');
