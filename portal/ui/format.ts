import type { Days } from './days.ts';
import { language } from './language.ts';

/** The calendars in which a person may read dates. */
export type Calendar = 'gregorian' | 'ethiopic' | 'both';

/** The clocks by which a person may read times. The Ethiopian one counts from 06:00 and from 18:00. */
export type Clock = '24h' | '12h' | 'ethiopian';

const ZONE = 'Africa/Addis_Ababa';
// British order: day, month, year, as in Ethiopia.
const LOCALE = { en: 'en-GB', am: 'am-ET' }[language];
/** For React Aria's calendar. */
export const ETHIOPIAN_LOCALE = `${LOCALE}-u-ca-ethiopic`;
export const GREGORIAN_LOCALE = LOCALE;

let calendar: Calendar = 'gregorian';

/** Sets the person's calendar, before anything is shown. */
export function setCalendar(chosen: Calendar): void {
  calendar = chosen;
}

let clock: Clock = '24h';

/** Sets the person's clock, before anything is shown. */
export function setClock(chosen: Clock): void {
  clock = chosen;
}

/** The calendar that date pickers open with. */
export const pickerCalendar = (): 'gregorian' | 'ethiopic' => (calendar === 'ethiopic' ? 'ethiopic' : 'gregorian');

type Options = Intl.DateTimeFormatOptions;
const DAY: Options = { day: 'numeric', month: 'short', year: 'numeric' };
const TIME: Options = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
const formats = new Map<string, Intl.DateTimeFormat>();

/** Ethiopian months that Intl spells otherwise than the API and its files do. */
const MONTHS: Readonly<Record<string, string>> = {
  Tekemt: 'Tikimt',
  Hedar: 'Hidar',
  Ter: 'Tir',
  Genbot: 'Ginbot',
  Nehasse: 'Nehase',
};

function formatParts(date: Date, options: Options, locale: string): string {
  const key = locale + JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.DateTimeFormat(locale, { timeZone: ZONE, ...options });
  formats.set(key, format);
  const parts = format.formatToParts(date);
  // Every year is of the era since the Incarnation.
  const isOfEra = (index: number): boolean => parts[index]?.type === 'era' || parts[index + 1]?.type === 'era';
  return parts
    .filter((_part, index) => !isOfEra(index))
    .map(({ type, value }) => (type === 'month' ? (MONTHS[value] ?? value) : value))
    .join('');
}

/** A day of the Gregorian or the Ethiopian calendar, and the other one for people who read both. */
export type DayText = { main: string; other: string | null };

function inCalendars(date: Date, options: Options): DayText {
  const [gregorian, ethiopian] = [GREGORIAN_LOCALE, ETHIOPIAN_LOCALE].map((locale) =>
    formatParts(date, options, locale),
  );
  const main = (calendar === 'ethiopic' ? ethiopian : gregorian) ?? '';
  return { main, other: calendar === 'both' ? (ethiopian ?? null) : null };
}

const noonOf = (day: string): Date => new Date(`${day}T12:00:00+03:00`);

/** A day written YYYY-MM-DD, in the person's calendars. */
export const dayText = (day: string): DayText => inCalendars(noonOf(day), DAY);

/** A day written YYYY-MM-DD, in the person's calendars, in one line. */
export const formatDay = (day: string): string => inOneLine(dayText(day));

/** Two days, or the one that they are. */
export const formatDays = ({ startDate, endDate }: Days): string =>
  startDate === endDate ? formatDay(startDate) : `${formatDay(startDate)} – ${formatDay(endDate)}`;

const inOneLine = ({ main, other }: DayText): string => (other === null ? main : `${main} (${other})`);

/** A day written YYYY-MM-DD, in the Gregorian calendar whichever the person has chosen. */
export const formatGregorianDay = (day: string): string => formatParts(noonOf(day), DAY, GREGORIAN_LOCALE);

/** A day written YYYY-MM-DD, in the Ethiopian calendar whichever the person has chosen. */
export const formatEthiopianDay = (day: string): string => formatParts(noonOf(day), DAY, ETHIOPIAN_LOCALE);

/** The year of a day in the Ethiopian calendar. */
export const ethiopianYear = (day: string): string => formatParts(noonOf(day), { year: 'numeric' }, ETHIOPIAN_LOCALE);

/** The name of the day of the week. */
export const formatWeekday = (day: string): string => formatParts(noonOf(day), { weekday: 'long' }, GREGORIAN_LOCALE);

/** The month of a day, by its name and year. */
export const formatMonth = (day: string, locale: string): string =>
  formatParts(noonOf(day), { month: 'long', year: 'numeric' }, locale);

/** An instant as day and clock of Addis Ababa. */
export function instantText(iso: string, { seconds = false } = {}): DayText {
  const date = new Date(iso);
  const { main, other } = inCalendars(date, DAY);
  return { main: `${main}, ${formatClock(date, { seconds })}`, other };
}

/** An instant as day and clock of Addis Ababa, in one line. */
export const formatInstant = (iso: string): string => inOneLine(instantText(iso));

/** The time in Addis Ababa by the person's clock: 12:53 or 12:53:20, 12:53 pm, 6:53 day. */
export function formatClock(date: Date, { seconds = false } = {}): string {
  const options: Options = seconds ? { ...TIME, second: '2-digit' } : TIME;
  if (clock === '12h') return formatParts(date, { ...options, hour: 'numeric', hourCycle: 'h12' }, LOCALE);
  const text = formatParts(date, options, 'en-GB');
  return clock === 'ethiopian' ? toEthiopianClock(text) : text;
}

/** By the hour of the other clock: the first that is not later. */
const PARTS_OF_DAY = {
  en: { 0: 'night', 6: 'day', 18: 'night' },
  am: { 0: 'ሌሊት', 6: 'ጠዋት', 12: 'ከሰዓት', 18: 'ማታ' },
}[language];

/** 14:30 as 8:30 of the day: hours are counted from 06:00 and from 18:00. */
function toEthiopianClock(text: string): string {
  const hour = Number(text.slice(0, 2));
  const part = Object.entries(PARTS_OF_DAY).findLast(([from]) => Number(from) <= hour)?.[1] ?? '';
  const counted = `${(hour + 6) % 12 || 12}${text.slice(2)}`;
  return language === 'am' ? `${part} ${counted}` : `${counted} ${part}`;
}

/** "2026-11-23 09:53:20 UTC" */
export const formatUtc = (iso: string): string => `${new Date(iso).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const money = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const whole = new Intl.NumberFormat(LOCALE);
const percent = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 });

/** Birr with two decimals, without the currency, as in a column of amounts. */
export const formatBirr = (amount: number): string => money.format(amount);
/** The currency in words. */
export const BIRR = { en: 'ETB', am: 'ብር' }[language];
/** An amount with its currency; nothing for none. */
export function birr(amount: number): string;
export function birr(amount: number | null | undefined): string | undefined;
export function birr(amount: number | null | undefined): string | undefined {
  return amount === null || amount === undefined ? undefined : `${money.format(amount)} ${BIRR}`;
}

const COMMA = { en: ', ', am: '፣ ' }[language];
/** What there is of these, one after another. */
export const listed = (parts: readonly (string | false | null | undefined)[]): string =>
  parts.filter(Boolean).join(COMMA);

const either = new Intl.ListFormat(LOCALE, { type: 'disjunction' });

/** Names of which any one will do: "owner, admin or finance". */
export const anyOf = (names: readonly string[]): string => either.format(names);

export const formatCount = (count: number): string => whole.format(count);
export const formatShare = (share: number): string => percent.format(share);

/** A duration as its two largest units: "2 h 5 min", "14 s". */
export function formatDuration(seconds: number): string {
  const units = [
    ['day', Math.floor(seconds / 86_400)],
    ['hour', Math.floor(seconds / 3_600) % 24],
    ['minute', Math.floor(seconds / 60) % 60],
    ['second', seconds % 60],
  ] as const;
  const largest = units.findIndex(([, count]) => count > 0);
  const first = largest === -1 ? units.length - 1 : largest;
  return units
    .slice(first, first + 2)
    .filter(([, count], index) => index === 0 || count > 0)
    .map(([unit, count]) => new Intl.NumberFormat(LOCALE, { style: 'unit', unit, unitDisplay: 'short' }).format(count))
    .join(' ');
}
