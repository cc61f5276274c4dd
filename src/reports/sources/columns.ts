import { addisDay, inAddis } from '../../lib/dates.ts';
import type { Santim } from '../../lib/money.ts';
import { ethiopianDate } from '../../settlements/calendar/holidays.ts';

/** A cell's value: text, an amount in santim or a whole number; null is an empty cell. */
export type Cell = string | Santim | number | null;

/** A column's name in JSON and its heading in tables. `as`: its texts are days, or times as {@link timeText} formats them. */
export type ColumnHead = { key: string; heading: string; as?: 'day' | 'time' };

export type AmountField<Row> = { [Name in keyof Row]: Row[Name] extends Santim | null ? Name : never }[keyof Row];

/** One column of a report. `amount` names the field of rows that it contains, and that groups of rows sum up for it. */
export type Column<Row> = ColumnHead & ({ cell: (row: Row) => Cell } | { amount: AmountField<Row> });

/** "merchantId" as a heading: "Merchant ID". */
export function headingOf(name: string): string {
  return name
    .replace(/^./, (letter) => letter.toUpperCase())
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replace(/Id$/, 'ID');
}

type TextField<Row> = { [Name in keyof Row]: Row[Name] extends string | null ? Name : never }[keyof Row] & string;

/** Columns of the row's own texts, under their names. */
export function textColumns<Row>(...fields: TextField<Row>[]): Column<Row>[] {
  return fields.map((key) => ({ key, heading: headingOf(key), cell: (row) => row[key] as string | null }));
}

/**
 * The requested amount of withdrawals and settlements, and the part of it that the ledger has booked. Nothing is booked of those
 * that failed or were returned, so each column adds up to the ledger.
 */
export const PAYOUT_AMOUNTS = [
  { key: 'amount', heading: 'Amount', amount: 'amountSantim' },
  { key: 'paidAmount', heading: 'Paid Amount', amount: 'paidSantim' },
  { key: 'fee', heading: 'Fee', amount: 'feeSantim' },
  { key: 'feeTax', heading: 'Fee Tax', amount: 'feeTaxSantim' },
  { key: 'totalDebit', heading: 'Total Debit', amount: 'totalDebitSantim' },
  { key: 'reserved', heading: 'Reserved', amount: 'reservedSantim' },
] as const;

/** The zone of days and local times. */
export const ZONE = 'Africa/Addis_Ababa';

/** An instant to the second, in UTC: "2026-11-21 12:30:00". */
export function timeText(instant: Date): string {
  return instant.toISOString().slice(0, 19).replace('T', ' ');
}

type TimeField<Row> = { [Name in keyof Row]: Row[Name] extends Date | null ? Name : never }[keyof Row] & string;

/** Two columns of each of the row's instants: in Addis Ababa and in UTC. */
export function timeColumns<Row>(...fields: TimeField<Row>[]): Column<Row>[] {
  return fields.flatMap((field) => {
    const column = (suffix: string, zone: string, shift: (instant: Date) => Date): Column<Row> => ({
      key: `${field}${suffix}`,
      heading: `${headingOf(field).replace(/ At$/, ' at')} (${zone})`,
      as: 'time',
      cell: (row) => {
        const instant = row[field] as Date | null;
        return instant && timeText(shift(instant));
      },
    });
    return [column('Addis', 'Addis Ababa, UTC+3', inAddis), column('Utc', 'UTC', (instant) => instant)];
  });
}

/** Two columns of one day in Addis Ababa: in the Gregorian and in the Ethiopian calendar. */
export function dayColumns<Row>(key: string, instantOf: (row: Row) => Date): Column<Row>[] {
  const heading = headingOf(key);
  const day = (row: Row): string => addisDay(instantOf(row));
  return [
    { key, heading, as: 'day', cell: day },
    { key: `${key}Ethiopian`, heading: `${heading} (Ethiopian)`, cell: (row) => ethiopianDate(day(row)) },
  ];
}
