import * as z from 'zod/mini';

import { dayParameter, textParameter, wholeParameter } from '../../ui/search-params.ts';

/** What the address of the list of withdrawals holds: the filters by the API's names, the page, and the open row. */
export const WithdrawalSearch = z.object({
  startDate: dayParameter,
  endDate: dayParameter,
  /** A comma list. */
  status: textParameter,
  channel: textParameter,
  page: wholeParameter,
  limit: wholeParameter,
  open: textParameter,
});
export type WithdrawalSearch = z.output<typeof WithdrawalSearch>;
