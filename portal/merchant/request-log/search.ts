import * as z from 'zod/mini';

import { dayParameter, textParameter, wholeParameter } from '../../ui/search-params.ts';

/** What the address of the request log holds: the filters by the API's names, the page, and the open call. */
export const RequestSearch = z.object({
  startDate: dayParameter,
  endDate: dayParameter,
  keyId: textParameter,
  requestId: textParameter,
  method: textParameter,
  route: textParameter,
  statusClass: textParameter,
  page: wholeParameter,
  limit: wholeParameter,
  open: textParameter,
});
export type RequestSearch = z.output<typeof RequestSearch>;
