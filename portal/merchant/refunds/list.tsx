import { useState } from 'react';

import { CHANNEL_VALUES, channelName } from '../../ui/channel-text.ts';
import { Drawer } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { formatBirr } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { RefundState, STATE_FILTERS, type RefundRow } from '../../ui/refund-state.tsx';
import { Time } from '../../ui/time.tsx';
import { useMember } from '../member.ts';
import { text as shared } from '../quote.tsx';
import { useRead } from '../routes.ts';
import { TransactionDrawer } from '../transactions/detail.tsx';
import { text as ofTransactions } from '../transactions/text.ts';

const text = catalogue({
  title: ['Refunds', 'ተመላሽ ክፍያዎች'],
  search: ['Reference or id', 'ማጣቀሻ ወይም መለያ'],
  none: ['No refund in these days.', 'በእነዚህ ቀናት ተመላሽ ክፍያ የለም።'],
  totalDebit: ['Taken from the balance (ETB)', 'ከቀሪ ሂሳብ የሚቀነስ (ብር)'],
  noneHelp: ['A payment is refunded on its page.', 'ክፍያ የሚመለሰው በራሱ ገጽ ላይ ነው።'],
});

const COLUMNS: readonly Column<RefundRow>[] = [
  { header: shared.requestId, cell: ({ reference }) => reference },
  {
    header: shared.amountInBirr,
    align: 'end',
    narrow: 'second',
    cell: ({ amount, paidAmount }) => formatBirr(paidAmount ?? amount),
  },
  { header: ofTransactions.channel, narrow: 'none', cell: ({ channel }) => channelName(channel) },
  {
    header: text.totalDebit,
    align: 'end',
    narrow: 'none',
    cell: ({ status, totalDebit }) => status !== 'FAILED' && formatBirr(totalDebit),
  },
  { header: shared.status, narrow: 'second', cell: (row) => <RefundState {...row} /> },
  { header: shared.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

const FILTERS: readonly Filter[] = [
  { kind: 'text', name: 'search', label: text.search },
  { kind: 'days' },
  ...STATE_FILTERS,
  { kind: 'one', name: 'channel', label: ofTransactions.channel, values: CHANNEL_VALUES },
];

/** The refunds of all payments. Each opens its payment, where it is decided. */
export function Refunds() {
  const { whyNot } = useMember();
  const state = useFilters(FILTERS);
  const query = useRead('GET /api/checkout/refunds', { query: state.query }, { enabled: !state.wrongDays });
  return (
    <Page title={text.title}>
      <Listing
        label={text.title}
        state={state}
        query={query}
        columns={COLUMNS}
        idOf={({ refundId }) => refundId}
        empty={text.none}
        emptyHelp={text.noneHelp}
        whyNot={whyNot('refunds:read')}
        drawer={({ id, row, close }) => <RefundDrawer key={id} refundId={id} row={row} onClose={close} />}
      />
    </Page>
  );
}

type DrawerProps = { refundId: string; row: RefundRow | undefined; onClose: () => void };

/** Its payment, which stays when the refund leaves the list because it was decided. */
function RefundDrawer({ refundId, row, onClose }: DrawerProps) {
  const [listed] = useState(row?.transactionId);
  const query = useRead('GET /api/checkout/refunds/:refundId', { params: { refundId } }, { enabled: !listed });
  const transactionId = listed ?? query.data?.data.transactionId;
  if (transactionId !== undefined) return <TransactionDrawer transactionId={transactionId} onClose={onClose} />;
  return (
    <Drawer title="…" onClose={onClose}>
      <Loaded query={query}>{() => null}</Loaded>
    </Drawer>
  );
}
