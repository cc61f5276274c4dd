import { z } from 'zod';

import { environment, id } from '../access/operator-schema.ts';
import { instant } from '../lib/fields.ts';
import { pageQuery, statusParam } from '../lib/pagination.ts';

/** The query of a list of items of these kinds. */
export function workQueueQuery(kinds: readonly string[]) {
  return z.strictObject({
    kind: statusParam(kinds).optional(),
    merchantId: id.optional(),
    environment: environment.optional(),
    ...pageQuery,
  });
}

const WorkItem = z
  .object({
    kind: z.string(),
    id: z.string(),
    merchantId: z.string().nullable(),
    environment: environment.nullable(),
    amount: z.number().optional().meta({ description: 'ETB' }),
    since: instant.meta({ description: 'Since when it needs an operator, or is overdue' }),
    waitingSeconds: z.int(),
    what: z.string(),
    detail: z.record(z.string(), z.unknown()),
    links: z
      .record(z.string(), z.string())
      .meta({ description: 'Paths of this API by verb; workflow: its page in the Temporal UI' }),
  })
  .meta({ id: 'OpsAttentionItem' });

export const WorkItemList = z
  .object({
    counts: z.record(z.string(), z.int()).meta({ description: 'The number of items of each kind' }),
    items: z.array(WorkItem),
  })
  .meta({ id: 'OpsAttentionList' });
