import * as z from 'zod/mini';

import { dayParameter, parameter, textParameter, wholeParameter } from '../../ui/search-params.ts';

/** What the address of the balance holds: the filters of its entries by the API's names, and the page. */
export const BalanceSearch = z.object({
  account: parameter(z.enum(['available', 'reserved'])),
  /** In place of two days. */
  allDays: parameter(z.enum(['true'])),
  startDate: dayParameter,
  endDate: dayParameter,
  /** A comma list. */
  type: textParameter,
  resourceId: textParameter,
  page: wholeParameter,
  limit: wholeParameter,
});
export type BalanceSearch = z.output<typeof BalanceSearch>;
