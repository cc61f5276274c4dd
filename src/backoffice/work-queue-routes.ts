import { ANY_OPERATOR } from '../access/permissions.ts';
import { readRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { readPage } from '../lib/pagination.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import { workQueueQuery, WorkItemList } from './work-queue-schema.ts';
import { linksOf, listWorkItems, REVIEW_ITEMS, STALLED_ITEMS, type WorkItemRow } from './work-queue.ts';

export type WorkQueueRouteDeps = {
  db: Knex;
  clock: Clock;
  /** Where a workflow is seen in the Temporal UI; null where no UI is known. */
  workflowUrl: (workflowId: string) => string | null;
};

/** What waits for a person, and what is stuck. */
export function workQueueRoutes(deps: WorkQueueRouteDeps): Route[] {
  const queue = workQueueRoute(deps, {
    path: '/api/ops/queue',
    operationId: 'opsListQueue',
    summary: 'Everything that waits for a person, what waits longest first',
    source: REVIEW_ITEMS,
  });
  const stalled = workQueueRoute(deps, {
    path: '/api/ops/stuck',
    operationId: 'opsListStuck',
    summary: 'Everything that should have gone on by itself and has not, the latest first to have been due',
    source: STALLED_ITEMS,
  });
  return [queue, stalled];
}

type Described = { path: string; operationId: string; summary: string; source: WorkItemSource };

function workQueueRoute({ db, clock, workflowUrl }: WorkQueueRouteDeps, { source, ...described }: Described): Route {
  return readRoute({
    ...described,
    method: 'GET',
    tag: 'Operators',
    auth: ANY_OPERATOR,
    rateLimit: 'list',
    query: workQueueQuery(source.kinds),
    responses: { 200: WorkItemList },
    paginated: true,
    handle: async ({ query }) => {
      const at = clock();
      const { kind, merchantId, environment } = query;
      const filter = { kinds: kind, merchantId, environment };
      const { rows, pagination, counts } = await listWorkItems(db, source, { filter, page: readPage(query), at });
      const items = rows.map((row) => presentWorkItem(row, { at, workflowUrl }));
      return { message: 'Retrieved', data: { counts, items }, pagination };
    },
  });
}

function presentWorkItem(
  row: WorkItemRow,
  { at, workflowUrl }: { at: Date; workflowUrl: WorkQueueRouteDeps['workflowUrl'] },
) {
  const { kind, id, merchantId, environment, amountSantim, since, what, detail } = row;
  return {
    kind,
    id,
    merchantId,
    environment,
    ...(amountSantim === null ? {} : { amount: toBirr(amountSantim) }),
    since: since.toISOString(),
    waitingSeconds: Math.max(0, Math.round((at.getTime() - since.getTime()) / 1000)),
    what,
    detail,
    links: linksOf(row, workflowUrl),
  };
}
