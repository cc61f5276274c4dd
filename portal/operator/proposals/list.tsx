import { Badge } from '../../ui/badge.tsx';
import { Mono } from '../../ui/copy.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { EnvironmentBadge } from '../parts.tsx';
import { useRead, type Proposal } from '../routes.ts';
import { text as shared } from '../text.ts';
import { ViewDrawer } from '../views.tsx';
import { STATES, text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'several', name: 'status', label: shared.status, values: Object.entries(STATES) },
];

const COLUMNS: readonly Column<Proposal>[] = [
  { header: text.action, cell: ({ action }) => <Mono>{action}</Mono> },
  {
    header: shared.status,
    narrow: 'second',
    cell: ({ status }) => <Badge tone={status === 'PENDING' ? 'info' : 'quiet'}>{STATES[status]}</Badge>,
  },
  { header: shared.merchant, cell: ({ merchantName }) => merchantName },
  { header: text.resource, narrow: 'none', cell: ({ resourceId }) => <Mono>{resourceId}</Mono> },
  { header: text.proposedBy, narrow: 'none', cell: ({ proposedByName }) => proposedByName },
  { header: shared.environment, cell: (row) => <EnvironmentBadge of={row.environment} /> },
  { header: shared.reason, cell: ({ reason }) => reason },
  { header: text.proposedAt, cell: ({ proposedAt }) => <Time at={proposedAt} /> },
];

/** Changes that need a second operator, in both environments. */
export function Proposals() {
  const state = useFilters(FILTERS);
  return (
    <Page title={text.title}>
      <Listing
        label={text.title}
        state={state}
        query={useRead('GET /api/ops/proposals', { query: state.query })}
        columns={COLUMNS}
        idOf={({ proposalId }) => proposalId}
        empty={text.none}
        drawer={({ id, close }) => <ViewDrawer kind="proposal" id={id} onClose={close} />}
      />
    </Page>
  );
}
