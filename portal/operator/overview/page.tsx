import { Link } from '@tanstack/react-router';

import { Badge, type Tone } from '../../ui/badge.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { BASES, environment } from '../../ui/environment.ts';
import { Facts, Panel } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { formatClock, formatCount, formatDuration } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import { Page } from '../../ui/page.tsx';
import { stringifySearch } from '../../ui/search-params.ts';
import { Day, Time } from '../../ui/time.tsx';
import { EnvironmentBadge } from '../parts.tsx';
import { kindText } from '../queue/text.ts';
import { RESULTS } from '../reconciliation/text.ts';
import { REFRESH_MS, useRead, type Overview as Data } from '../routes.ts';
import { text as shared } from '../text.ts';

const text = catalogue({
  queue: ['Needs an operator', 'ኦፕሬተር የሚፈልግ'],
  stalled: ['Is stalled', 'የቆመ'],
  nothing: ['Nothing.', 'ምንም የለም።'],
  oldest: ['Oldest', 'የቆየው'],
  open: ['Not final', 'ያልተጠናቀቁ'],
  deadLetters: ['Dead letters', 'ያልደረሱ መልእክቶች'],
  pastDue: ['Most overdue attempt', 'በጣም የዘገየ ሙከራ'],
  outbox: ['Messages for Temporal', 'ወደ Temporal የሚሄዱ መልእክቶች'],
  waiting: ['Waiting', 'በመጠባበቅ ላይ'],
  channels: ['Channels', 'የክፍያ መንገዶች'],
  reconciliation: ['Latest comparisons', 'የመጨረሻ ማመሳከሪያዎች'],
  noReconciliation: ['No day was compared yet.', 'እስካሁን የተመሳከረ ቀን የለም።'],
  AVAILABLE: ['Available', 'ይሠራል'],
  COMING_SOON: ['Coming soon', 'በቅርቡ'],
  MAINTENANCE: ['Maintenance', 'በጥገና ላይ'],
  unavailable: ['does not respond; tried again at', 'ምላሽ አይሰጥም፤ እንደገና የሚሞከረው በ'],
  asOf: (time: string) => [`As of ${time}`, `በ${time} የነበረ`],
});

/** The state of the platform, in both environments. */
export function Overview() {
  const query = useRead('GET /api/ops/overview', {}, { everyMs: REFRESH_MS });
  return (
    <Page title={shared.overview}>
      <Loaded query={query}>
        {({ data }) => (
          <>
            <p className="mb-3 text-quiet">{text.asOf(formatClock(new Date(data.at), { seconds: true }))}</p>
            <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
              <Counts title={text.queue} counts={data.queue} to="/queue" />
              <Counts title={text.stalled} counts={data.stalled} to="/stalled" />
              <Numbers overview={data} />
              <Channels channels={data.channels} />
              <Comparisons days={data.reconciliation} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

type CountsProps = { title: string; counts: Data['queue']; to: '/queue' | '/stalled' };

/** Items by kind; those of the other environment are counted too. */
function Counts({ title, counts, to }: CountsProps) {
  return (
    <Panel title={title}>
      {counts.length === 0 && <p className="text-quiet">{text.nothing}</p>}
      <ul className="flex flex-col gap-2">
        {counts.map(({ kind, environment: of, count, oldestAt }) => (
          <li key={`${kind}-${of}`} className="grid grid-cols-[2rem_1fr] gap-x-2">
            <strong className="text-end tabular-nums">{formatCount(count)}</strong>
            <span className="flex flex-wrap items-center gap-x-2">
              {of === null || of === environment ? (
                <Link to={to} search={{ kind } as never} className="text-brand hover:underline">
                  {kindText(kind)}
                </Link>
              ) : (
                <a href={`${BASES[of]}${to}${stringifySearch({ kind })}`} className="text-brand hover:underline">
                  {kindText(kind)}
                </a>
              )}
              <EnvironmentBadge of={of} />
            </span>
            <span className="col-start-2 text-xs text-quiet">
              {text.oldest} <Time at={oldestAt} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Numbers({ overview: { deliveries, outbox } }: { overview: Data }) {
  return (
    <>
      <Panel title={shared.deliveries}>
        <Facts
          rows={{
            [text.open]: formatCount(deliveries.open),
            [text.deadLetters]: formatCount(deliveries.deadLetters),
            [text.pastDue]: formatDuration(Math.round(deliveries.pastDueSeconds)),
          }}
        />
      </Panel>
      <Panel title={text.outbox}>
        <Facts
          rows={{
            [text.waiting]: formatCount(outbox.rows),
            [text.oldest]: formatDuration(Math.round(outbox.oldestSeconds)),
          }}
        />
      </Panel>
    </>
  );
}

function Channels({ channels }: { channels: Data['channels'] }) {
  return (
    <Panel title={text.channels}>
      <ul className="flex flex-col gap-2">
        {channels.map(({ channel, state, unavailableUntil }) => (
          <li key={channel} className="flex flex-wrap items-center gap-2">
            <span className="font-medium">{channelName(channel)}</span>
            <Badge tone={unavailableUntil !== null ? 'bad' : state === 'AVAILABLE' ? 'good' : 'quiet'}>
              {text[state]}
            </Badge>
            {unavailableUntil !== null && (
              <span>
                {text.unavailable} <Time at={unavailableUntil} seconds />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const DAY_TONES: Record<Data['reconciliation'][number]['status'], Tone> = {
  CLEAN: 'good',
  DISCREPANCIES: 'bad',
  INCOMPLETE: 'warn',
};

function Comparisons({ days }: { days: Data['reconciliation'] }) {
  return (
    <Panel title={text.reconciliation}>
      {days.length === 0 && <p className="text-quiet">{text.noReconciliation}</p>}
      <ul className="flex flex-col gap-2">
        {days.map(({ environment: of, channel, day, status }) => (
          <li key={`${of}-${channel}`} className="flex flex-wrap items-center gap-2">
            <span className="font-medium">{channelName(channel)}</span>
            <EnvironmentBadge of={of} />
            <Day day={day} />
            <Badge tone={DAY_TONES[status]}>{RESULTS[status]}</Badge>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
