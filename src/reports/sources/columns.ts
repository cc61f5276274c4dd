import { addisDay, inAddis } from '../../lib/dates.ts';
import type { Santim } from '../../lib/money.ts';
import { ethiopianDate } from '../../settlements/calendar/ethiopian-date.ts';

/** What stands in a cell: text, an amount in santim, a whole number; null leaves it empty. */
export type Cell = string | Santim | number | null;

/** A column's name in JSON and its heading in tables; its texts are days or times as {@link clockText} writes them. */
export type ColumnHead = { key: string; heading: string; as?: 'day' | 'time' };

/** One column of a report, and its cell of a row. */
export type Column<Row> = ColumnHead & { cell: (row: Row) => Cell };

/** The zone that days and local times are in. */
export const ZONE = 'Africa/Addis_Ababa';

/** An instant in both clocks, each saying which it is: "2026-11-21 12:30:00". */
export function timeColumns<Row>(key: string, heading: string, at: (row: Row) => Date | null): Column<Row>[] {
  const shown = (instant: Date | null): string | null => instant && clockText(instant);
  const addis = (row: Row): Date | null => {
    const instant = at(row);
    return instant && inAddis(instant);
  };
  return [
    { key: `${key}Addis`, heading: `${heading} (Addis Ababa, UTC+3)`, as: 'time', cell: (row) => shown(addis(row)) },
    { key: `${key}Utc`, heading: `${heading} (UTC)`, as: 'time', cell: (row) => shown(at(row)) },
  ];
}

/** To the second. */
export function clockText(instant: Date): string {
  return instant.toISOString().slice(0, 19).replace('T', ' ');
}

/** The day in Addis Ababa, in both calendars. */
export function dayColumns<Row>(key: string, heading: string, at: (row: Row) => Date): Column<Row>[] {
  const toEthiopian = remembering(ethiopianDate);
  return [
    { key, heading, as: 'day', cell: (row) => addisDay(at(row)) },
    { key: `${key}Ethiopian`, heading: `${heading} (Ethiopian)`, cell: (row) => toEthiopian(addisDay(at(row))) },
  ];
}

/** Reckoning takes longer than all else of a row, and rows of a day stand together. */
function remembering(reckon: (day: string) => string): (day: string) => string {
  let last: { day: string; text: string } | null = null;
  return (day) => {
    if (last?.day !== day) last = { day, text: reckon(day) };
    return last.text;
  };
}

/** What spreadsheets take for a formula when it begins a text, in full width too. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

/** Text as a cell of a table may show it: never a formula of whoever wrote it. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}
