import { Code, Mono } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { text as frame } from '../../ui/frame-text.ts';
import { catalogue } from '../../ui/language.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { SaveButton } from '../../ui/save-button.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { ACTIONS, RESOURCES } from '../action-text.ts';
import { FieldChanges } from '../changes.tsx';
import { MERCHANT_FILTER } from '../merchant-filter.tsx';
import { useOperator } from '../operator.ts';
import { EnvironmentBadge, MerchantLine, Named, Resource } from '../parts.tsx';
import { REFRESH_MS, useRead, type AuditEntry } from '../routes.ts';
import { text as shared } from '../text.ts';
import { saveAudit } from './export.ts';

const text = catalogue({
  none: ['No operator changed anything in the last 30 days.', 'ባለፉት 30 ቀናት ኦፕሬተሮች የለወጡት ነገር የለም።'],
  at: ['Time', 'ጊዜ'],
  operator: ['Operator', 'ኦፕሬተር'],
  operatorId: ['Operator id', 'የኦፕሬተር መለያ'],
  action: ['Action', 'ተግባር'],
  resource: ['Resource', 'የተለወጠው'],
  changes: ['What was changed', 'ምን ተለወጠ'],
  proposedBy: ['Proposed by', 'ያቀረበው'],
  requestId: ['Request id', 'የጥያቄ መለያ'],
  export: ['Export CSV', 'CSV ያውርዱ'],
  cut: [
    'The file has the newest 5,000 changes. Narrow the filters for the others.',
    'ፋይሉ የቅርብ 5,000 ለውጦችን ይዟል። ለሌሎቹ ማጣሪያዎቹን ያጥብቡ።',
  ],
});

const COLUMNS: readonly Column<AuditEntry>[] = [
  { header: text.at, cell: ({ at }) => <Time at={at} seconds /> },
  { header: text.operator, narrow: 'second', cell: ({ operatorName }) => operatorName },
  { header: text.action, cell: ({ action }) => ACTIONS[action] },
  { header: shared.environment, narrow: 'second', cell: (row) => <EnvironmentBadge of={row.environment} /> },
  { header: shared.merchant, narrow: 'none', cell: ({ merchantName }) => merchantName },
  {
    header: text.resource,
    cell: ({ resourceType, resourceId }) => (
      <>
        {RESOURCES[resourceType]} <Mono>{resourceId}</Mono>
      </>
    ),
  },
  { header: shared.reason, narrow: 'none', cell: ({ reason }) => reason },
];

const FILTERS: readonly Filter[] = [
  { kind: 'days' },
  { kind: 'one', name: 'action', label: text.action },
  {
    kind: 'one',
    name: 'environment',
    label: shared.environment,
    values: [
      ['sandbox', frame.test],
      ['live', frame.live],
    ],
  },
  { kind: 'one', name: 'operatorId', label: text.operator },
  { kind: 'text', name: 'resourceId', label: text.resource },
  MERCHANT_FILTER,
];

/** Every change that operators made, in both environments. */
export function Audit() {
  const { permissions, denied } = useOperator();
  const actions = [...permissions, ...denied.map(({ permission }) => permission)];
  const operators = useRead('GET /api/ops/operators', {}).data?.data ?? [];
  const state = useFilters(FILTERS);
  const entries = useRead(
    'GET /api/ops/audit',
    { query: state.query },
    { everyMs: REFRESH_MS, enabled: !state.wrongDays },
  );
  const save = async (): Promise<void> => {
    if (await saveAudit(state.chosen)) toast(text.cut);
  };
  return (
    <Page title={shared.audit} actions={<SaveButton label={text.export} save={save} />}>
      <Listing
        label={shared.audit}
        state={state}
        query={entries}
        values={{
          action: actions.toSorted().map((one) => [one, ACTIONS[one]] as const),
          operatorId: operators.map(({ operatorId, name }) => [operatorId, name] as const),
        }}
        columns={COLUMNS}
        idOf={({ auditId }) => auditId}
        empty={text.none}
        rowDrawer={({ row, close }) => <EntryDrawer entry={row} onClose={close} />}
      />
    </Page>
  );
}

function EntryDrawer({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { auditId, action, proposedBy, resourceType, resourceId } = entry;
  return (
    <Drawer key={auditId} title={ACTIONS[action]} onClose={onClose}>
      <Section title={text.changes}>
        <FieldChanges before={entry.before} after={entry.after} of={resourceType} />
      </Section>
      <Facts
        rows={{
          [text.at]: <Time at={entry.at} seconds />,
          [text.operator]: <Named id={entry.operatorId} name={entry.operatorName} label={text.operatorId} />,
          [text.proposedBy]: proposedBy && (
            <Named id={proposedBy} name={entry.proposedByName} label={text.proposedBy} />
          ),
          [shared.reason]: entry.reason,
          [text.resource]: (
            <Resource id={resourceId} label={text.resource} name={RESOURCES[resourceType]} of={entry.environment} />
          ),
          [shared.merchant]: entry.merchantId && <MerchantLine of={entry} />,
          [shared.environment]: entry.environment && <EnvironmentBadge of={entry.environment} />,
          [text.requestId]: <Code value={entry.requestId} name={text.requestId} />,
        }}
      />
    </Drawer>
  );
}
