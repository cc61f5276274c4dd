import { operatorReadRoute } from '../access/operator-route.ts';
import type { Endpoint, Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { readPage } from '../lib/pagination.ts';
import type { WorkItemSource } from '../outbox/work-items.ts';
import { workQueueQuery, WorkItemList } from './work-queue-schema.ts';
import { linksOf, listWorkItems, REVIEW_ITEMS, STALLED_ITEMS, type WorkItemRow } from './work-queue.ts';

type Deps = {
  db: Database;
  clock: Clock;
  /** The page of a workflow in the Temporal UI; null if no UI is configured. */
  workflowUrl: (workflowId: string) => string | null;
};

/** The work queue: what operators must review, and what is stalled. */
export function workQueueRoutes(deps: Deps): Route[] {
  const queue = workQueueRoute(deps, {
    endpoint: 'GET /api/ops/queue',
    operationId: 'opsListQueue',
    cli: { name: 'work list', columns: 'since kind id merchantId amount what' },
    summary: 'List everything that needs an operator, longest waiting first',
    source: REVIEW_ITEMS,
  });
  const stalled = workQueueRoute(deps, {
    endpoint: 'GET /api/ops/stuck',
    operationId: 'opsListStuck',
    cli: 'work list --stalled',
    summary: 'List everything that is stalled, most overdue first',
    source: STALLED_ITEMS,
  });
  return [queue, stalled];
}

type WorkQueueRoute = {
  endpoint: Endpoint<'GET'>;
  operationId: string;
  cli: Route['cli'];
  summary: string;
  source: WorkItemSource;
};

function workQueueRoute({ db, clock, workflowUrl }: Deps, { endpoint, source, ...declared }: WorkQueueRoute): Route {
  return operatorReadRoute(endpoint, {
    ...declared,
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

function presentWorkItem(row: WorkItemRow, { at, workflowUrl }: { at: Date; workflowUrl: Deps['workflowUrl'] }) {
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
