import * as z from 'zod/mini';

import { dayParameter, textParameter, wholeParameter } from '../../ui/search-params.ts';

/** What the address of the list of settlements holds: the filters by the API's names, the page, and the open row. */
export const SettlementSearch = z.object({
  startDate: dayParameter,
  endDate: dayParameter,
  /** A comma list. */
  status: textParameter,
  page: wholeParameter,
  limit: wholeParameter,
  open: textParameter,
});
export type SettlementSearch = z.output<typeof SettlementSearch>;
