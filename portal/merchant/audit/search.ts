import * as z from 'zod/mini';

import { dayParameter, textParameter, wholeParameter } from '../../ui/search-params.ts';

/** What the address of the audit log holds: the filters by the API's names, the page, and the open change. */
export const AuditSearch = z.object({
  startDate: dayParameter,
  endDate: dayParameter,
  actor: textParameter,
  action: textParameter,
  resourceId: textParameter,
  requestId: textParameter,
  page: wholeParameter,
  limit: wholeParameter,
  open: textParameter,
});
export type AuditSearch = z.output<typeof AuditSearch>;
