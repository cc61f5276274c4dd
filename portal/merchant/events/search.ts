import * as z from 'zod/mini';

import { dayParameter, textParameter, wholeParameter } from '../../ui/search-params.ts';

/** What the address of the list of events holds: the filters by the API's names, the page, and the open event. */
export const EventSearch = z.object({
  startDate: dayParameter,
  endDate: dayParameter,
  /** A comma list. */
  status: textParameter,
  event: textParameter,
  subscriptionId: textParameter,
  resourceId: textParameter,
  page: wholeParameter,
  limit: wholeParameter,
  open: textParameter,
  /** A bulk resend, whose progress is shown. */
  job: textParameter,
});
export type EventSearch = z.output<typeof EventSearch>;
