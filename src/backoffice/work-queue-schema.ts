import { z } from 'zod';

import { instant } from '../lib/fields.ts';
import { pageQuery, statusParam } from '../lib/pagination.ts';
import { environment, id } from './schema.ts';

/** The query of a list whose rows are of these kinds. */
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
    since: instant.meta({ description: 'Since when it waits, or is late' }),
    waitingSeconds: z.int(),
    what: z.string(),
    detail: z.record(z.string(), z.unknown()),
    links: z
      .record(z.string(), z.string())
      .meta({ description: 'What can be done: a path of this API by its verb; workflow: its page in the Temporal UI' }),
  })
  .meta({ id: 'OpsAttentionItem' });

export const WorkItemList = z
  .object({
    counts: z.record(z.string(), z.int()).meta({ description: 'How many there are of each kind' }),
    items: z.array(WorkItem),
  })
  .meta({ id: 'OpsAttentionList' });
