import { Badge } from '../../ui/badge.tsx';
import { Mono } from '../../ui/copy.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { STATES } from '../kyc/text.ts';
import { useRead, type Merchant } from '../routes.ts';
import { text as shared } from '../text.ts';
import { ViewDrawer } from '../views.tsx';
import { text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'text', name: 'search', label: text.search },
  {
    kind: 'several',
    name: 'status',
    label: shared.status,
    values: [
      ['ACTIVE', text.ACTIVE],
      ['SUSPENDED', text.SUSPENDED],
    ],
  },
  { kind: 'several', name: 'kycStatus', label: text.verification, values: Object.entries(STATES) },
];

const COLUMNS: readonly Column<Merchant>[] = [
  { header: text.name, cell: ({ name }) => name },
  {
    header: shared.status,
    narrow: 'second',
    cell: ({ status }) => <Badge tone={status === 'ACTIVE' ? 'good' : 'bad'}>{text[status]}</Badge>,
  },
  { header: text.verification, cell: ({ kycStatus }) => STATES[kycStatus] ?? kycStatus },
  { header: shared.merchantId, narrow: 'none', cell: ({ merchantId }) => <Mono>{merchantId}</Mono> },
  { header: text.createdAt, narrow: 'second', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Every merchant. */
export function Merchants() {
  const state = useFilters(FILTERS);
  return (
    <Page title={text.title} actions={<CommandButton name="merchant.create" address="/api/ops/merchants" />}>
      <Listing
        label={text.title}
        state={state}
        query={useRead('GET /api/ops/merchants', { query: state.query })}
        columns={COLUMNS}
        idOf={({ merchantId }) => merchantId}
        empty={text.none}
        drawer={({ id, close }) => <ViewDrawer kind="merchant" id={id} onClose={close} />}
      />
    </Page>
  );
}
