import { Link } from '@tanstack/react-router';

import { buttonStyle } from '../../ui/button.tsx';
import { CHANNEL_VALUES, channelName } from '../../ui/channel-text.ts';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Fold } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { birr, formatBirr } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { destinationText, STATE_FILTERS, WithdrawalState } from '../../ui/withdrawal-state.tsx';
import { useMember } from '../member.ts';
import { text as shared } from '../quote.tsx';
import { useRead, type WithdrawalRow } from '../routes.ts';
import { ConfirmAll } from './confirm-all.tsx';
import { WithdrawalDrawer } from './detail.tsx';
import { WithdrawalForm } from './form.tsx';
import { SecondPersonPolicy } from './second-person.tsx';
import { text } from './text.ts';

const COLUMNS: readonly Column<WithdrawalRow>[] = [
  { header: shared.requestId, cell: ({ requestId }) => requestId },
  { header: shared.amountInBirr, align: 'end', narrow: 'second', cell: ({ amount }) => formatBirr(amount) },
  { header: text.channel, narrow: 'none', cell: ({ channel }) => channelName(channel) },
  { header: text.destination, cell: destinationText },
  { header: shared.status, narrow: 'second', cell: (row) => <WithdrawalState {...row} /> },
  { header: shared.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
];

const FILTERS: readonly Filter[] = [
  { kind: 'days' },
  ...STATE_FILTERS,
  { kind: 'one', name: 'channel', label: text.channel, values: CHANNEL_VALUES },
];

/** Withdrawals: what they may be, the list, and a new one. */
export function Withdrawals() {
  const { whyNot } = useMember();
  const state = useFilters(FILTERS);
  const query = useRead('GET /api/checkout/withdrawal', { query: state.query }, { enabled: !state.wrongDays });
  const create = (
    <>
      <Link to="/withdrawals/batch" className={buttonStyle()}>
        {text.fromFile}
      </Link>
      <DialogButton kind="primary" icon="plus" label={text.newWithdrawal} whyNot={whyNot('withdrawals:write')}>
        {(close) => <WithdrawalForm onClose={close} />}
      </DialogButton>
    </>
  );
  return (
    <Page title={text.title} actions={create}>
      <Limits />
      <SecondPersonPolicy />
      <Listing
        label={text.title}
        state={state}
        query={query}
        columns={COLUMNS}
        idOf={({ withdrawalRequestId }) => withdrawalRequestId}
        empty={text.noneYet}
        emptyHelp={state.isFiltered ? undefined : text.noneYetHelp}
        whyNot={whyNot('withdrawals:read')}
        drawer={({ id, close }) => <WithdrawalDrawer withdrawalId={id} onClose={close} />}
      >
        <ConfirmAll rows={query.data?.data ?? []} />
      </Listing>
    </Page>
  );
}

/** The limits of each channel that pays out, and what is left today. */
function Limits() {
  const limits = useRead('GET /api/checkout/limits', {});
  const columns = [
    { header: text.channel, cell: ({ channel }: { channel: string }) => channelName(channel) },
    ...(['min', 'max', 'daily', 'remainingToday'] as const).map((name) => ({
      header: { min: text.smallest, max: text.largest, daily: text.daily, remainingToday: text.leftToday }[name],
      align: 'end' as const,
      cell: ({ payOut }: { payOut: Record<typeof name, number | null> }) => {
        const amount = payOut[name];
        return amount === null ? text.noDaily : birr(amount);
      },
    })),
  ];
  return (
    <div className="card mb-4 px-3 pb-2 *:border-t-0">
      <Fold title={text.limits}>
        <p className="text-quiet">{text.limitsHelp}</p>
        <Loaded query={limits} skeletonRows={3}>
          {({ data }) => (
            <List
              label={text.limits}
              columns={columns}
              rows={data.filter(({ payoutTo }) => payoutTo.length > 0)}
              idOf={({ channel }) => channel}
            />
          )}
        </Loaded>
      </Fold>
    </div>
  );
}
