import { addDays, daysFrom } from '../../lib/dates.ts';
import { FIRST_DAY, LAST_DAY } from './business-days.ts';

/** closed: banks are closed; memorial: a working day. "Celebrated" and "memorial" in Proclamation 1334/2024. */
export const HOLIDAY_KINDS = ['closed', 'memorial'] as const;
export type HolidayKind = (typeof HOLIDAY_KINDS)[number];

/** A holiday: a computed one, with a stable id, or a row of `holiday`, which an operator has added or edited. */
export type Holiday = {
  id: string;
  /** YYYY-MM-DD */
  date: string;
  name: string;
  nameAm: string | null;
  kind: HolidayKind;
  /** false: provisional, a day earlier or later is possible. */
  confirmed: boolean;
  /** false: ignored. */
  active: boolean;
  source: 'computed' | 'operator';
  /** null: computed, without a row. */
  createdAt: Date | null;
  updatedAt: Date | null;
};

/** Later years are provisional, and so are Islamic holidays of all years, which depend on a sighting of the moon. */
const LAST_CONFIRMED_YEAR = 2032;

/** `key`: the prefix of its ids. `on`: month and day of a calendar, or days from Easter. `kind`: closed by default. */
type Rule = { key: string; name: string; nameAm: string; on: string; kind?: HolidayKind };

const RULES: readonly Rule[] = [
  // Christmas is always on 7 January: after a Pagumen of six days it is on 28 Tahsas instead of 29.
  { key: 'GENNA', name: 'Genna', nameAm: 'ገና', on: 'gregorian 1-7' },
  { key: 'TIMKAT', name: 'Timkat', nameAm: 'ጥምቀት', on: 'ethiopian 5-11' },
  {
    key: 'YEKATIT',
    name: "Yekatit 12 Martyrs' Day",
    nameAm: 'የካቲት 12 የሰማዕታት ቀን',
    on: 'ethiopian 6-12',
    kind: 'memorial',
  },
  { key: 'ADWA', name: 'Adwa Victory Day', nameAm: 'የዓድዋ ድል በዓል', on: 'ethiopian 6-23' },
  { key: 'SIKLET', name: 'Siklet', nameAm: 'ስቅለት', on: 'easter -2' },
  { key: 'FASIKA', name: 'Fasika', nameAm: 'ፋሲካ', on: 'easter 0' },
  { key: 'LABOUR', name: 'Labour Day', nameAm: 'የሠራተኞች ቀን', on: 'gregorian 5-1' },
  { key: 'PATRIOTS', name: "Patriots' Day", nameAm: 'የአርበኞች ቀን', on: 'ethiopian 8-27' },
  { key: 'GINBOT', name: 'Ginbot 20', nameAm: 'ግንቦት 20', on: 'ethiopian 9-20', kind: 'memorial' },
  { key: 'ENKUTATASH', name: 'Enkutatash', nameAm: 'እንቁጣጣሽ', on: 'ethiopian 1-1' },
  { key: 'MESKEL', name: 'Meskel', nameAm: 'መስቀል', on: 'ethiopian 1-17' },
  {
    key: 'HIDAR',
    name: "Hidar 29 Nations, Nationalities and Peoples' Day",
    nameAm: 'ኅዳር 29 የብሔር ብሔረሰቦችና ሕዝቦች ቀን',
    on: 'ethiopian 3-29',
    kind: 'memorial',
  },
  { key: 'EIDALFITR', name: 'Eid al-Fitr', nameAm: 'ዒድ አል ፈጥር', on: 'islamic 10-1' },
  { key: 'ARAFA', name: 'Arafa', nameAm: 'ዐረፋ', on: 'islamic 12-10' },
  { key: 'MAWLID', name: 'Mawlid', nameAm: 'መውሊድ', on: 'islamic 3-12' },
];

const computed = new Map<number, Holiday[]>();

/** Ethiopia's public holidays in a Gregorian year, earliest first, computed once. An Islamic one may occur twice. */
export function computeHolidays(year: number): Holiday[] {
  const holidays = computed.get(year) ?? compute(year);
  computed.set(year, holidays);
  return holidays;
}

function compute(year: number): Holiday[] {
  const easter = fasika(year);
  const goodFriday = addDays(easter, -2);
  return daysFrom(`${year}-01-01`, `${year}-12-31`).flatMap((date) => {
    const [, month, day] = date.split('-').map(Number);
    const [ethiopian, islamic] = [toEthiopian(date), toIslamic(date)];
    const occasions = [
      `gregorian ${month}-${day}`,
      `ethiopian ${ethiopian.month}-${ethiopian.day}`,
      `islamic ${islamic.month}-${islamic.day}`,
      date === easter ? 'easter 0' : date === goodFriday ? 'easter -2' : '',
    ];
    return RULES.filter(({ on }) => occasions.includes(on)).map(({ key, name, nameAm, on, kind = 'closed' }) => {
      const isIslamic = on.startsWith('islamic');
      const id = `hol_${key}${isIslamic ? islamic.year : year}`;
      const confirmed = !isIslamic && year <= LAST_CONFIRMED_YEAR;
      const unsaved = { active: true, source: 'computed', createdAt: null, updatedAt: null } as const;
      return { id, date, name, nameAm, kind, confirmed, ...unsaved };
    });
  });
}

export function computeHoliday(id: string): Holiday | undefined {
  const year = Number(/^hol_[A-Z]+(\d{4})$/.exec(id)?.[1]);
  // An Islamic year is shorter, and begins in one Gregorian year and ends in the next one, or in the same.
  const begins = year < yearOf(FIRST_DAY) ? Math.floor(year * 0.970224 + 621.57) : year;
  const years = [begins, begins + 1].filter((one) => one >= yearOf(FIRST_DAY) && one <= yearOf(LAST_DAY));
  return years.flatMap(computeHolidays).find((holiday) => holiday.id === id);
}

/** The year of a day, YYYY-MM-DD. */
export const yearOf = (day: string): number => Number(day.slice(0, 4));

/** Orthodox Easter: the Julian computus (Meeus, Astronomical Algorithms, chapter 8), as a Gregorian day. */
function fasika(year: number): string {
  const moon = (19 * (year % 19) + 15) % 30;
  const toSunday = (2 * (year % 4) + 4 * (year % 7) - moon + 34) % 7;
  const sinceMarch = moon + toSunday + 114;
  const julian = new Date(Date.UTC(year, Math.floor(sinceMarch / 31) - 1, (sinceMarch % 31) + 1));
  const julianBehindDays = Math.floor(year / 100) - Math.floor(year / 400) - 2;
  return addDays(julian.toISOString().slice(0, 10), julianBehindDays);
}

/** The months in English, in their order. Intl has the Amharic names. */
const MONTHS = 'Meskerem Tikimt Hidar Tahsas Tir Yekatit Megabit Miazia Ginbot Sene Hamle Nehase Pagumen'.split(' ');

const AMHARIC_MONTH = new Intl.DateTimeFormat('am-u-ca-ethiopic', { month: 'long', timeZone: 'UTC' });

/** A day (YYYY-MM-DD) in the Ethiopian calendar: "13 Hidar 2019", in Amharic "ኅዳር 13 ቀን 2019". */
export function ethiopianDate(day: string, language: 'en' | 'am' = 'en'): string {
  const date = toEthiopian(day);
  if (language === 'am') return `${AMHARIC_MONTH.format(new Date(day))} ${date.day} ቀን ${date.year}`;
  return `${date.day} ${MONTHS[date.month - 1]} ${date.year}`;
}

/** Converts days (YYYY-MM-DD) to another calendar, with months and days from 1. */
function converterTo(calendar: 'ethiopic' | 'islamic-umalqura') {
  const format = new Intl.DateTimeFormat(`en-u-ca-${calendar}-nu-latn`, {
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    timeZone: 'UTC',
  });
  return (day: string) => {
    // "3/13/2019 AM"
    const [month = NaN, dayOfMonth = NaN, year = NaN] = format.format(new Date(day)).split(/\D/).map(Number);
    return { year, month, day: dayOfMonth };
  };
}

/** The Ethiopian calendar: twelve months of 30 days, then Pagumen of 5, or 6 before a Gregorian leap year. */
export const toEthiopian = converterTo('ethiopic');

/** The Islamic calendar of Umm al-Qura, computed in advance: a sighting of the moon may differ by a day. */
export const toIslamic = converterTo('islamic-umalqura');
