import * as z from 'zod/mini';

import type { CallInput } from '../../ui/call.ts';
import { daysAgo, daysSinceMonday, type Days } from '../../ui/days.ts';
import { dayParameter, parameter, textParameter, wholeParameter } from '../../ui/search-params.ts';

/** Ranges of days that move with the calendar, by their name in the address: the days before today where it starts and ends. */
const RANGES = {
  today: [0, 0],
  yesterday: [1, 1],
  week: [daysSinceMonday(), 0],
  '7d': [6, 0],
  '30d': [29, 0],
  '90d': [89, 0],
} as const;
export type RangeName = keyof typeof RANGES;
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[];

/** What the address of the list holds: the filters by the API's names, the page, and the open row. */
export const TransactionSearch = z.object({
  /** In place of two days. */
  range: parameter(z.enum(RANGE_NAMES)),
  startDate: dayParameter,
  endDate: dayParameter,
  /** Comma lists. */
  status: textParameter,
  transactionThrough: textParameter,
  type: parameter(z.enum(['API', 'QRCODE'])),
  minAmount: textParameter,
  maxAmount: textParameter,
  search: textParameter,
  held: parameter(z.enum(['true', 'false'])),
  minAgeMinutes: wholeParameter,
  /** Without it, the newest first. */
  sort: parameter(z.enum(['-createdAt', 'createdAt', '-amount', 'amount'])),
  page: wholeParameter,
  limit: wholeParameter,
  open: textParameter,
});
export type TransactionSearch = z.output<typeof TransactionSearch>;

/** The search without any filter: every row of the last 30 days, the newest first. */
export const NO_FILTER: TransactionSearch = {
  range: undefined,
  startDate: undefined,
  endDate: undefined,
  status: undefined,
  transactionThrough: undefined,
  type: undefined,
  minAmount: undefined,
  maxAmount: undefined,
  search: undefined,
  held: undefined,
  minAgeMinutes: undefined,
};

/** The days of the list: the chosen ones, or the last 30. */
function daysOf({ range = '30d', startDate, endDate }: TransactionSearch): Days {
  return startDate !== undefined && endDate !== undefined ? { startDate, endDate } : daysAgo(RANGES[range]);
}

/** The filter as the API takes it: the same for the rows, their totals and the export. */
export function filterOf(search: TransactionSearch) {
  const { status, transactionThrough, type, minAmount, maxAmount, held, minAgeMinutes, search: wanted } = search;
  return {
    ...daysOf(search),
    status: status ?? 'ALL',
    currency: 'ETB',
    transactionThrough,
    type,
    minAmount,
    maxAmount,
    search: wanted,
    held,
    minAgeMinutes,
  } satisfies CallInput<never>['query'];
}
