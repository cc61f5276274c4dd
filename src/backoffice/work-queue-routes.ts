import { z } from 'zod';

import { operatorReadRoute } from '../access/operator-route.ts';
import { environment, id } from '../access/operator-schema.ts';
import type { Endpoint, Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { instant } from '../lib/fields.ts';
import { toBirr } from '../lib/money.ts';
import { pageQuery, readPage, statusParam } from '../lib/pagination.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import { linksOf, listWorkItems, REVIEW_ITEMS, STALLED_ITEMS } from './work-queue.ts';

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

const WorkItemList = z
  .object({
    counts: z.record(z.string(), z.int()).meta({ description: 'The number of items of each kind' }),
    items: z.array(WorkItem),
  })
  .meta({ id: 'OpsAttentionList' });

type Deps = {
  db: Database;
  clock: Clock;
  /** The page of a workflow in the Temporal UI; null if no UI is configured. */
  workflowUrl: (workflowId: string) => string | null;
};

/** The work queue: what operators must review, and what is stalled. */
export function workQueueRoutes({ db, clock, workflowUrl }: Deps): Route[] {
  const route = (
    endpoint: Endpoint<'GET'>,
    source: WorkItemSource,
    declared: Pick<Route, 'operationId' | 'cli' | 'summary'>,
  ): Route =>
    operatorReadRoute(endpoint, {
      ...declared,
      rateLimit: 'list',
      query: z.strictObject({
        kind: statusParam(source.kinds).optional(),
        merchantId: id.optional(),
        environment: environment.optional(),
        ...pageQuery,
      }),
      responses: { 200: WorkItemList },
      paginated: true,
      handle: async ({ query }) => {
        const at = clock();
        const page = readPage(query);
        const { rows, pagination, counts } = await listWorkItems(db, source, { filter: query, page, at });
        const items = rows.map((row) => ({
          ...row,
          amount: row.amountSantim === null ? undefined : toBirr(row.amountSantim),
          since: row.since.toISOString(),
          waitingSeconds: Math.max(0, Math.round((at.getTime() - row.since.getTime()) / 1000)),
          links: linksOf(row, workflowUrl),
        }));
        return { message: 'Retrieved', data: { counts, items }, pagination };
      },
    });
  return [
    route('GET /api/ops/queue', REVIEW_ITEMS, {
      operationId: 'opsListQueue',
      cli: { name: 'work list', columns: 'since kind id merchantId amount what' },
      summary: 'List everything that needs an operator, longest waiting first',
    }),
    route('GET /api/ops/stuck', STALLED_ITEMS, {
      operationId: 'opsListStuck',
      cli: 'work list --stalled',
      summary: 'List everything that is stalled, most overdue first',
    }),
  ];
}
