import { CHANNEL_NAMES } from '../../../src/merchants/channels/channel.ts';
import { Badge } from '../../ui/badge.tsx';
import { CHANNEL_VALUES } from '../../ui/channel-text.ts';
import { Code, Mono } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts } from '../../ui/facts.tsx';
import { DAY, useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { birr } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Day, Time } from '../../ui/time.tsx';
import { orderTypeText } from '../codes.ts';
import { CommandButton } from '../command-button.tsx';
import { fieldText } from '../field-words.ts';
import { Actions, Named } from '../parts.tsx';
import { REFRESH_MS, useRead, type Discrepancy } from '../routes.ts';
import { text as shared } from '../text.ts';
import { Subject } from '../views.tsx';
import { KINDS, text } from './text.ts';

const FILTERS: readonly Filter[] = [
  {
    kind: 'one',
    name: 'state',
    label: text.state,
    values: [
      ['OPEN', text.open],
      ['CLOSED', text.closed],
    ],
  },
  { kind: 'one', name: 'kind', label: text.kind, values: Object.entries(KINDS) },
  { kind: 'one', name: 'channel', label: shared.channel, values: CHANNEL_VALUES },
  { kind: 'text', name: 'day', label: text.day, typed: DAY },
];

const COLUMNS: readonly Column<Discrepancy>[] = [
  { header: text.kind, cell: ({ kind }) => KINDS[kind] },
  {
    header: text.state,
    narrow: 'second',
    cell: ({ closedAt }) => (
      <Badge tone={closedAt === null ? 'bad' : 'quiet'}>{closedAt === null ? text.open : text.closed}</Badge>
    ),
  },
  { header: text.day, cell: ({ day }) => <Day day={day} /> },
  { header: shared.channel, narrow: 'second', cell: ({ channel }) => CHANNEL_NAMES[channel] },
  { header: text.order, cell: ({ orderId }) => <Mono>{orderId}</Mono> },
  { header: text.ours, align: 'end', narrow: 'none', cell: ({ ours }) => birr(ours) },
  { header: text.theirs, align: 'end', narrow: 'none', cell: ({ theirs }) => birr(theirs) },
];

/** What statements of providers and our ledger do not agree on. */
export function Discrepancies() {
  const state = useFilters(FILTERS);
  const query = { ...state.query, environment };
  const discrepancies = useRead('GET /api/ops/reconciliation/discrepancies', { query }, { everyMs: REFRESH_MS });
  return (
    <Page title={shared.discrepancies}>
      <Listing
        label={shared.discrepancies}
        state={state}
        query={discrepancies}
        columns={COLUMNS}
        idOf={({ discrepancyId }) => discrepancyId}
        empty={text.noDiscrepancies}
        rowDrawer={({ row, close }) => <DiscrepancyDrawer of={row} onClose={close} />}
      />
    </Page>
  );
}

function DiscrepancyDrawer({ of, onClose }: { of: Discrepancy; onClose: () => void }) {
  const { discrepancyId, kind, closedAt, providerReference } = of;
  const address = `/api/ops/reconciliation/discrepancies/${discrepancyId}/close`;
  return (
    <Drawer key={discrepancyId} title={KINDS[kind]} onClose={onClose}>
      <Subject value={of.orderId}>
        <Actions>{closedAt === null && <CommandButton name="reconciliation.close" address={address} />}</Actions>
      </Subject>
      <Facts
        rows={{
          [text.day]: <Day day={of.day} />,
          [shared.channel]: CHANNEL_NAMES[of.channel],
          [text.type]: orderTypeText(of.type),
          [text.order]: <Code value={of.orderId} name={text.order} />,
          [text.ours]: birr(of.ours),
          [text.theirs]: birr(of.theirs),
          [text.ourStatus]: of.ourStatus && fieldText('ourStatus', of.ourStatus),
          [text.account]: of.account,
          [shared.providerReference]: providerReference && (
            <Code value={providerReference} name={shared.providerReference} />
          ),
          [text.detectedAt]: <Time at={of.detectedAt} seconds />,
          [text.closed]: closedAt && <Time at={closedAt} seconds />,
          [text.closedBy]: of.closedBy && <Named id={of.closedBy} name={of.closedByName} label={text.closedBy} />,
          [text.note]: of.resolutionNote,
        }}
      />
    </Drawer>
  );
}
