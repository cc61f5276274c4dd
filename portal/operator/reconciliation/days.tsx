import { Link } from '@tanstack/react-router';

import { CHANNEL_NAMES, CHANNELS } from '../../../src/merchants/channels/channel.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { lastDays } from '../../ui/days.ts';
import { Drawer } from '../../ui/dialog.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts, Section } from '../../ui/facts.tsx';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { FilterBar, useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { birr, formatCount, formatDay, listed } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { Day, Time } from '../../ui/time.tsx';
import { WrongDays } from '../../ui/wrong-days.tsx';
import { CommandButton } from '../command-button.tsx';
import { Actions } from '../parts.tsx';
import { useRead, type ReconciledDay } from '../routes.ts';
import { text as shared } from '../text.ts';
import { RESULTS, text } from './text.ts';

const FILTERS: readonly Filter[] = [{ kind: 'days', preset: text.lastWeek }];
const DAYS_DEFAULT = 7;
const TONES: Record<ReconciledDay['status'], Tone> = { CLEAN: 'good', DISCREPANCIES: 'bad', INCOMPLETE: 'warn' };
const idOf = ({ day, channel }: ReconciledDay): string => `${day}:${channel}`;

/** Every day and channel with the result of its comparison. */
export function Reconciliation() {
  const state = useFilters(FILTERS);
  const { startDate, endDate } = state.chosen;
  const days = startDate && endDate ? { startDate, endDate } : lastDays(DAYS_DEFAULT);
  const compared = useRead(
    'GET /api/ops/reconciliation',
    { query: { ...days, environment } },
    { enabled: !state.wrongDays },
  );
  const open = compared.data?.data.find((one) => idOf(one) === state.open);
  return (
    <Page
      title={shared.reconciliation}
      actions={<CommandButton name="reconciliation.run" address="/api/ops/reconciliation/run" body={{ environment }} />}
    >
      <div className="card">
        <FilterBar state={state} />
        {state.wrongDays ? (
          <WrongDays days={state.wrongDays} change={state.change} />
        ) : (
          <Loaded query={compared}>
            {({ data }) =>
              data.length === 0 ? (
                <Empty title={text.none} />
              ) : (
                <DayTable days={data} onOpen={(id) => state.go({ open: id })} />
              )
            }
          </Loaded>
        )}
      </div>
      {open && <DayDrawer of={open} onClose={state.close} />}
    </Page>
  );
}

type TableProps = { days: readonly ReconciledDay[]; onOpen: (id: string) => void };

/** Days down, channels across. */
function DayTable({ days, onOpen }: TableProps) {
  const dates = [...new Set(days.map(({ day }) => day))].toSorted().toReversed();
  const channels = CHANNELS.filter((channel) => days.some((one) => one.channel === channel));
  const columns: readonly Column<string>[] = [
    { header: text.day, isRowHeader: true, cell: (date) => <Day day={date} /> },
    ...channels.map((channel): Column<string> => ({
      header: CHANNEL_NAMES[channel],
      narrow: 'labelled',
      cell: (date) => <Result of={days.find((one) => one.day === date && one.channel === channel)} onOpen={onOpen} />,
    })),
  ];
  return <List label={shared.days} columns={columns} rows={dates} idOf={(date) => date} />;
}

function Result({ of, onOpen }: { of: ReconciledDay | undefined; onOpen: TableProps['onOpen'] }) {
  if (of === undefined) return '–';
  const { status, discrepancies, isRunning, day, channel } = of;
  const result = isRunning ? text.running : RESULTS[status];
  const count = discrepancies > 0 && formatCount(discrepancies);
  return (
    <button
      type="button"
      aria-label={shared.about(listed([formatDay(day), CHANNEL_NAMES[channel]]), count ? `${result} ${count}` : result)}
      className="inline-flex items-center gap-1.5 rounded-md px-1 py-0.5 hover:bg-sunken"
      onClick={() => onOpen(idOf(of))}
    >
      <Badge tone={isRunning ? 'info' : TONES[status]}>{result}</Badge> {count}
    </button>
  );
}

function DayDrawer({ of, onClose }: { of: ReconciledDay; onClose: () => void }) {
  const { day, channel, status, error, comparedAt, discrepancies, owed, temporalUrl } = of;
  return (
    <Drawer key={idOf(of)} title={listed([CHANNEL_NAMES[channel], formatDay(day)])} onClose={onClose}>
      {error !== null && <p lang="en">{error}</p>}
      <Actions temporalUrl={temporalUrl}>
        <CommandButton
          name="reconciliation.run"
          address="/api/ops/reconciliation/run"
          body={{ environment }}
          initial={{ day, channel }}
        />
      </Actions>
      <Facts
        rows={{
          [text.state]: <Badge tone={TONES[status]}>{RESULTS[status]}</Badge>,
          [shared.discrepancies]: (
            <Link to="/discrepancies" search={{ day, channel } as never} className="text-brand underline">
              {formatCount(discrepancies)}
            </Link>
          ),
          [text.compare]: comparedAt && <Time at={comparedAt} seconds />,
          [text.owed]: birr(owed),
        }}
      />
      <Sums title={text.theirs} sums={of.theirs} />
      <Sums title={text.ours} sums={of.ours} />
    </Drawer>
  );
}

function Sums({ title, sums }: { title: string; sums: ReconciledDay['ours'] }) {
  if (sums === null) return null;
  const line = ({ count, amount }: { count: number; amount: number }): string =>
    `${formatCount(count)} · ${birr(amount)}`;
  return (
    <Section title={title}>
      <Facts
        rows={{
          [text.payments]: line(sums.payments),
          [text.payouts]: line(sums.payouts),
          [text.reversals]: line(sums.reversals),
          [text.refunds]: line(sums.refunds),
        }}
      />
    </Section>
  );
}
