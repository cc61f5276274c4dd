import { Badge } from '../../ui/badge.tsx';
import { Mono } from '../../ui/copy.tsx';
import type { Filter } from '../../ui/filter-bar.tsx';
import type { Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { ACTIONS, RESOURCES } from '../action-text.ts';
import { listPage } from '../list-page.tsx';
import { EnvironmentBadge } from '../parts.tsx';
import { REFRESH_MS, useRead, type Proposal } from '../routes.ts';
import { text as shared } from '../text.ts';
import { STATES, text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'several', name: 'status', label: shared.status, values: Object.entries(STATES) },
];

const COLUMNS: readonly Column<Proposal>[] = [
  { header: text.action, cell: ({ action }) => ACTIONS[action] },
  {
    header: shared.status,
    narrow: 'second',
    cell: ({ status }) => <Badge tone={status === 'PENDING' ? 'info' : 'quiet'}>{STATES[status]}</Badge>,
  },
  { header: shared.merchant, cell: ({ merchantName }) => merchantName },
  {
    header: text.resource,
    narrow: 'none',
    cell: ({ resourceType, resourceId }) => (
      <>
        {RESOURCES[resourceType]} {resourceId && <Mono>{resourceId}</Mono>}
      </>
    ),
  },
  { header: text.proposedBy, narrow: 'none', cell: ({ proposedByName }) => proposedByName },
  { header: shared.environment, cell: (row) => <EnvironmentBadge of={row.environment} /> },
  { header: shared.reason, cell: ({ reason }) => reason },
  { header: text.proposedAt, cell: ({ proposedAt }) => <Time at={proposedAt} /> },
];

/** Changes that need a second operator, in both environments. */
export const Proposals = listPage<Proposal>({
  title: shared.proposals,
  filters: FILTERS,
  columns: COLUMNS,
  useRows: (query) => useRead('GET /api/ops/proposals', { query }, { everyMs: REFRESH_MS }),
  idOf: ({ proposalId }) => proposalId,
  empty: text.none,
  view: 'proposal',
});
