import { Link } from '@tanstack/react-router';

import { CHANNEL_NAMES } from '../../../src/merchants/channels/channel.ts';
import { Badge } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { birr, formatBirr, listed } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { RECEIPT_KINDS, RECEIPT_OUTCOMES } from '../codes.ts';
import { CommandButton } from '../command-button.tsx';
import { Actions } from '../parts.tsx';
import { REFRESH_MS, useRead, type Receipt } from '../routes.ts';
import { text as shared } from '../text.ts';
import { Subject } from '../views.tsx';
import { text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'reference', label: text.bankReference },
  { kind: 'one', name: 'waiting', label: text.waiting, values: [['true', text.yes]] },
];

const isWaiting = ({ kind, outcome, reversedAt }: Receipt): boolean =>
  kind === 'UNALLOCATED' && outcome === null && reversedAt === null;

function outcomeText(receipt: Receipt): string {
  if (receipt.reversedAt !== null) return text.reversed;
  return isWaiting(receipt) ? text.waiting : receipt.outcome === null ? '' : RECEIPT_OUTCOMES[receipt.outcome];
}

const COLUMNS: readonly Column<Receipt>[] = [
  { header: text.bankReference, cell: (row) => row.bankReference ?? row.providerReference },
  { header: shared.amountInBirr, align: 'end', narrow: 'second', cell: ({ amount }) => formatBirr(amount) },
  { header: text.kind, cell: ({ kind }) => RECEIPT_KINDS[kind] },
  {
    header: text.outcome,
    narrow: 'second',
    cell: (row) => outcomeText(row) && <Badge tone={isWaiting(row) ? 'warn' : 'quiet'}>{outcomeText(row)}</Badge>,
  },
  { header: shared.channel, narrow: 'none', cell: ({ channel }) => channel && CHANNEL_NAMES[channel] },
  { header: text.bookedAt, cell: ({ bookedAt }) => <Time at={bookedAt} /> },
];

/** The money that arrived at the bank, and what it is. */
export function Receipts() {
  const state = useFilters(FILTERS);
  const receipts = useRead(
    'GET /api/ops/receipts',
    { query: { ...state.query, environment } },
    { everyMs: REFRESH_MS },
  );
  return (
    <Page
      title={shared.receipts}
      actions={
        <>
          <CommandButton
            name="receipt.record-remittance"
            address="/api/ops/receipts/remittances"
            body={{ environment }}
          />
          <CommandButton
            name="receipt.record-unallocated"
            address="/api/ops/receipts/unallocated"
            body={{ environment }}
          />
        </>
      }
    >
      <Listing
        label={shared.receipts}
        state={state}
        query={receipts}
        columns={COLUMNS}
        idOf={({ receiptId }) => receiptId}
        empty={text.noReceipts}
        drawer={({ id, close }) => <ReceiptDrawer key={id} receiptId={id} onClose={close} />}
      />
    </Page>
  );
}

/** Mounted anew for each receipt: one's "Decide" never stands below another's facts. */
function ReceiptDrawer({ receiptId, onClose }: { receiptId: string; onClose: () => void }) {
  const query = useRead('GET /api/ops/receipts/:receiptId', { params: { receiptId } });
  const shown = query.data?.data;
  const title = shown ? shared.about(RECEIPT_KINDS[shown.kind], birr(shown.amount)) : receiptId;
  return (
    <Drawer title={title} onClose={onClose}>
      <Subject value={shown && listed([birr(shown.amount), shown.bankReference])}>
        <Loaded query={query}>{({ data }) => <ReceiptDetail receipt={data} />}</Loaded>
      </Subject>
    </Drawer>
  );
}

function ReceiptDetail({ receipt }: { receipt: Receipt }) {
  return (
    <>
      <Actions>
        {receipt.reversedAt === null && (
          <CommandButton name="receipt.decide" address={`/api/ops/receipts/${receipt.receiptId}/decide`} />
        )}
      </Actions>
      <Facts
        rows={{
          [shared.amount]: birr(receipt.amount),
          [text.kind]: RECEIPT_KINDS[receipt.kind],
          [text.outcome]: outcomeText(receipt),
          [shared.channel]: receipt.channel && CHANNEL_NAMES[receipt.channel],
          [text.bankReference]: receipt.bankReference && (
            <Code value={receipt.bankReference} name={text.bankReference} />
          ),
          [shared.providerReference]: receipt.providerReference,
          [shared.withdrawal]: receipt.withdrawalId && (
            <Link to="/withdrawals/$id" params={{ id: receipt.withdrawalId }} className="text-brand underline">
              {receipt.withdrawalId}
            </Link>
          ),
          [shared.refund]: receipt.refundId && (
            <Link to="/refunds/$id" params={{ id: receipt.refundId }} className="text-brand underline">
              {receipt.refundId}
            </Link>
          ),
          [text.receiptId]: <Code value={receipt.receiptId} name={text.receiptId} />,
          [text.bookedAt]: <Time at={receipt.bookedAt} seconds />,
        }}
      />
    </>
  );
}
