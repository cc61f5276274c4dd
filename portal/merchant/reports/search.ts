import * as z from 'zod/mini';

import { dayParameter, parameter, textParameter, wholeParameter } from '../../ui/search-params.ts';
import { PERIODS } from './period.ts';

export const KINDS = ['payments', 'withdrawals', 'settlements'] as const;

/** What the address of the reports holds: kind and days of the report, its filters, and the page of the history. */
export const ReportSearch = z.object({
  kind: parameter(z.enum(KINDS)),
  calendar: parameter(z.enum(['gregorian', 'ethiopian'])),
  period: parameter(z.enum(PERIODS)),
  /** Any day of the period. */
  date: dayParameter,
  /** A comma list. */
  status: textParameter,
  channel: textParameter,
  page: wholeParameter,
  limit: wholeParameter,
});
export type ReportSearch = z.output<typeof ReportSearch>;
