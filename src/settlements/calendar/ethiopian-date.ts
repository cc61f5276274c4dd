/** The months in their order, in English and Amharic. */
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

/** A date in another calendar: months and days from 1. */
export type CalendarDate = { year: number; month: number; day: number };

/** Converts a day (YYYY-MM-DD) to another calendar. */
export type ToCalendar = (day: string) => CalendarDate;

function converterTo(calendar: 'ethiopic' | 'islamic-umalqura'): ToCalendar {
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
export const toEthiopian = converterTo('ethiopic');

/** The Islamic calendar of Umm al-Qura, computed in advance: a sighting of the moon may differ by a day. */
export const toIslamic = converterTo('islamic-umalqura');
