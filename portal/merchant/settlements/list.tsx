import { DialogButton } from '../../ui/dialog-button.tsx';
import { Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { birr, formatBirr, formatDay } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { SettlementState, STATES } from '../../ui/settlement-state.tsx';
import { Time } from '../../ui/time.tsx';
import { useMember } from '../member.ts';
import { Price, text as shared } from '../quote.tsx';
import { useRead, type SettlementRow } from '../routes.ts';
import { ExpectedDays } from './days.tsx';
import { SettlementDrawer } from './detail.tsx';
import { SettlementForm } from './form.tsx';
import { text } from './text.ts';

const COLUMNS: readonly Column<SettlementRow>[] = [
  { header: shared.requestId, cell: ({ requestId }) => requestId },
  { header: shared.amountInBirr, align: 'end', narrow: 'second', cell: ({ amount }) => formatBirr(amount) },
  { header: text.bankAccount, cell: ({ bankAccount }) => `${bankAccount.bankCode} ${bankAccount.accountNumber}` },
  { header: shared.status, narrow: 'second', cell: ({ status }) => <SettlementState status={status} /> },
  { header: text.expectedBy, narrow: 'none', cell: ({ expectedBy }) => formatDay(expectedBy) },
  { header: shared.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

const FILTERS: readonly Filter[] = [
  { kind: 'days' },
  { kind: 'several', name: 'status', label: shared.status, values: Object.entries(STATES) },
];

/** Settlements: what one requested now would cost and when it arrives, the list, and a new one. */
export function Settlements() {
  const { whyNot } = useMember();
  const state = useFilters(FILTERS);
  const create = (
    <DialogButton kind="primary" icon="plus" label={text.newSettlement} whyNot={whyNot('settlements:write')}>
      {(close) => <SettlementForm onClose={close} />}
    </DialogButton>
  );
  return (
    <Page title={text.title} actions={create}>
      <IfNow />
      <Listing
        label={text.title}
        state={state}
        query={useRead('GET /api/checkout/settlement', { query: state.query }, { enabled: !state.wrongDays })}
        columns={COLUMNS}
        idOf={({ settlementId }) => settlementId}
        empty={text.noneYet}
        emptyHelp={state.isFiltered ? undefined : text.noneYetHelp}
        whyNot={whyNot('settlements:read')}
        drawer={({ id, close }) => <SettlementDrawer settlementId={id} onClose={close} />}
      />
    </Page>
  );
}

/** The price and the days of a settlement of the whole balance, before anything is typed. */
function IfNow() {
  const quote = useRead('GET /api/checkout/settlement/quote', {});
  return (
    <div className="card mb-4 p-3">
      <Section title={text.ifNow}>
        <Loaded query={quote} skeletonRows={4}>
          {({ data }) => (
            <div className="grid gap-4 lg:grid-cols-2">
              <Price quote={data} />
              <div className="flex flex-col gap-2">
                <ExpectedDays days={data} />
                <p className="text-quiet">
                  {text.limits}: {birr(data.limits.min)} – {birr(data.limits.max)}
                </p>
              </div>
            </div>
          )}
        </Loaded>
      </Section>
    </div>
  );
}
