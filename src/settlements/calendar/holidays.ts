import { addDays, daysFrom } from '../../lib/dates.ts';
import { toEthiopian, toIslamic, type ToCalendar } from './ethiopian-date.ts';

/** closed: banks are closed; memorial: a working day. "Celebrated" and "memorial" in Proclamation 1334/2024. */
export const HOLIDAY_KINDS = ['closed', 'memorial'] as const;
export type HolidayKind = (typeof HOLIDAY_KINDS)[number];

/** A computed public holiday, with a stable id. */
export type ComputedHoliday = {
  id: string;
  /** YYYY-MM-DD */
  date: string;
  name: string;
  nameAm: string;
  kind: HolidayKind;
  /** It depends on a sighting of the moon: a day earlier or later is possible. */
  provisional: boolean;
};

type Rule = {
  /** The prefix of its ids. */
  key: string;
  name: string;
  nameAm: string;
  kind?: HolidayKind;
  provisional?: true;
  /** Years of its own calendar that may overlap a Gregorian year; by default the same year. */
  yearsIn?: (gregorianYear: number) => number[];
  /** The day in a year of its own calendar. */
  dayIn: (year: number) => string;
};

const RULES: readonly Rule[] = [
  // Christmas is always on 7 January: after a Pagumen of six days it is on 28 Tahsas instead of 29.
  { key: 'GENNA', name: 'Genna', nameAm: 'ገና', dayIn: gregorian('01-07') },
  { key: 'TIMKAT', name: 'Timkat', nameAm: 'ጥምቀት', dayIn: ethiopian(5, 11) },
  {
    key: 'YEKATIT',
    name: "Yekatit 12 Martyrs' Day",
    nameAm: 'የካቲት 12 የሰማዕታት ቀን',
    kind: 'memorial',
    dayIn: ethiopian(6, 12),
  },
  { key: 'ADWA', name: 'Adwa Victory Day', nameAm: 'የዓድዋ ድል በዓል', dayIn: ethiopian(6, 23) },
  { key: 'SIKLET', name: 'Siklet', nameAm: 'ስቅለት', dayIn: aroundFasika(-2) },
  { key: 'FASIKA', name: 'Fasika', nameAm: 'ፋሲካ', dayIn: aroundFasika(0) },
  { key: 'LABOUR', name: 'Labour Day', nameAm: 'የሠራተኞች ቀን', dayIn: gregorian('05-01') },
  { key: 'PATRIOTS', name: "Patriots' Day", nameAm: 'የአርበኞች ቀን', dayIn: ethiopian(8, 27) },
  { key: 'GINBOT', name: 'Ginbot 20', nameAm: 'ግንቦት 20', kind: 'memorial', dayIn: ethiopian(9, 20) },
  { key: 'ENKUTATASH', name: 'Enkutatash', nameAm: 'እንቁጣጣሽ', dayIn: ethiopian(1, 1) },
  { key: 'MESKEL', name: 'Meskel', nameAm: 'መስቀል', dayIn: ethiopian(1, 17) },
  {
    key: 'HIDAR',
    name: "Hidar 29 Nations, Nationalities and Peoples' Day",
    nameAm: 'ኅዳር 29 የብሔር ብሔረሰቦችና ሕዝቦች ቀን',
    kind: 'memorial',
    dayIn: ethiopian(3, 29),
  },
  { key: 'EIDALFITR', name: 'Eid al-Fitr', nameAm: 'ዒድ አል ፈጥር', ...islamic(10, 1) },
  { key: 'ARAFA', name: 'Arafa', nameAm: 'ዐረፋ', ...islamic(12, 10) },
  { key: 'MAWLID', name: 'Mawlid', nameAm: 'መውሊድ', ...islamic(3, 12) },
];

/** Ethiopia's public holidays in a Gregorian year, earliest first. An Islamic one may occur twice. */
export function computeHolidays(year: number): ComputedHoliday[] {
  return RULES.flatMap((rule) => ownYears(rule, year).map((own) => holidayOf(rule, own)))
    .filter(({ date }) => date.startsWith(`${year}-`))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
}

/** The holiday of this id among those computed for a Gregorian year from `first` to `last`, or undefined. */
export function computeHoliday(id: string, { first, last }: { first: number; last: number }) {
  const [, key, digits] = /^hol_([A-Z]+)(\d{4})$/.exec(id) ?? [];
  const rule = RULES.find((one) => one.key === key);
  const own = Number(digits);
  if (!rule || own < Math.min(...ownYears(rule, first)) || own > Math.max(...ownYears(rule, last))) return undefined;
  return holidayOf(rule, own);
}

function ownYears({ yearsIn = (same) => [same] }: Rule, gregorianYear: number): number[] {
  return yearsIn(gregorianYear);
}

function holidayOf(rule: Rule, year: number): ComputedHoliday {
  const { key, name, nameAm, kind = 'closed', provisional = false } = rule;
  return { id: `hol_${key}${year}`, date: rule.dayIn(year), name, nameAm, kind, provisional };
}

/** The same day of every Gregorian year. */
function gregorian(monthAndDay: string): Rule['dayIn'] {
  return (year) => `${year}-${monthAndDay}`;
}

/** A day of the Ethiopian year, by the Gregorian year it falls in. */
function ethiopian(month: number, day: number): Rule['dayIn'] {
  return (year) => {
    const dayOfYearBegun = (begun: number) => addDays(ethiopianNewYear(begun), (month - 1) * 30 + day - 1);
    const early = dayOfYearBegun(year);
    return early.startsWith(`${year}-`) ? early : dayOfYearBegun(year - 1);
  };
}

/** 1 Meskerem: 11 September, or 12 when Pagumen had six days. */
function ethiopianNewYear(year: number): string {
  return dayNear(`${year}-09-12`, toEthiopian, { month: 1, day: 1 });
}

const ISLAMIC_YEAR_DAYS = 354.36707;
const MOON_DAYS = 29.53059;
const ISLAMIC_YEARS_A_YEAR = 1.0307;

/** A day of the Islamic year, which is eleven days shorter: once or twice in a Gregorian year. Provisional. */
function islamic(month: number, day: number): Pick<Rule, 'provisional' | 'yearsIn' | 'dayIn'> {
  return {
    provisional: true,
    yearsIn: (gregorianYear) => {
      const begun = Math.floor((gregorianYear - 622) * ISLAMIC_YEARS_A_YEAR);
      return [begun, begun + 1, begun + 2];
    },
    dayIn: (year) => {
      // 1 Muharram 1445 was 19 July 2023; months are 29 or 30 days long, so the mean is right to a day or two.
      const about = (year - 1445) * ISLAMIC_YEAR_DAYS + (month - 1) * MOON_DAYS + day - 1;
      return dayNear(addDays('2023-07-19', Math.round(about)), toIslamic, { month, day });
    },
  };
}

/** The day of this month and day in another calendar, within four days of `about`. */
function dayNear(about: string, convert: ToCalendar, { month, day }: { month: number; day: number }): string {
  const found = daysFrom(addDays(about, -4), addDays(about, 4)).find((date) => {
    const converted = convert(date);
    return converted.month === month && converted.day === day;
  });
  if (found === undefined) throw new Error(`no day ${day} of month ${month} near ${about}`);
  return found;
}

function aroundFasika(days: number): Rule['dayIn'] {
  return (year) => addDays(fasika(year), days);
}

/** Orthodox Easter: the Julian computus (Meeus, Astronomical Algorithms, chapter 8), as a Gregorian day. */
function fasika(year: number): string {
  const moon = (19 * (year % 19) + 15) % 30;
  const toSunday = (2 * (year % 4) + 4 * (year % 7) - moon + 34) % 7;
  const sinceMarch = moon + toSunday + 114;
  const julian = new Date(Date.UTC(year, Math.floor(sinceMarch / 31) - 1, (sinceMarch % 31) + 1));
  const julianBehindDays = Math.floor(year / 100) - Math.floor(year / 400) - 2;
  return addDays(julian.toISOString().slice(0, 10), julianBehindDays);
}
