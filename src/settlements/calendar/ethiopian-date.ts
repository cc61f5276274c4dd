import { toEthiopian } from './calendar-conversion.ts';

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
