import { CHANNEL_NAMES, CHANNELS } from '../../../src/merchants/channels/channel.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { CHANNEL_VALUES } from '../../ui/channel-text.ts';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts, Section } from '../../ui/facts.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import { formatInstant } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { Actions, Named } from '../parts.tsx';
import { REFRESH_MS, useRead, type Maintenance } from '../routes.ts';
import { text as shared } from '../text.ts';
import { Subject } from '../views.tsx';

const text = catalogue({
  title: ['Maintenance windows of channels', 'የክፍያ መንገዶች የጥገና ጊዜያት'],
  none: ['No window is announced for this environment.', 'ለዚህ አካባቢ የተነገረ የጥገና ጊዜ የለም።'],
  announce: ['Announce', 'ያሳውቁ'],
  window: (channel: string, start: string) => [`${channel} from ${start}`, `${channel} ከ${start} ጀምሮ`],
  startsAt: ['Begins', 'የሚጀምርበት'],
  endsAt: ['Ends', 'የሚያበቃበት'],
  reasonAm: ['Reason in Amharic', 'ምክንያት በአማርኛ'],
  createdBy: ['Announced by', 'ያሳወቀው'],
  cancelledAt: ['Ended or cancelled at', 'ያበቃበት ወይም የተሰረዘበት ጊዜ'],
  cancelledBy: ['Ended or cancelled by', 'ያበቃው ወይም የሰረዘው'],
  id: ['Maintenance id', 'የጥገና መለያ'],
});

const STATES = catalogue({
  PLANNED: ['Announced', 'ተነግሯል'],
  OPEN: ['Open now', 'አሁን ክፍት'],
  OVER: ['Over', 'አብቅቷል'],
  CANCELLED: ['Cancelled', 'ተሰርዟል'],
});
const TONES: Record<Maintenance['state'], Tone> = { PLANNED: 'info', OPEN: 'warn', OVER: 'quiet', CANCELLED: 'quiet' };

const FILTERS: readonly Filter[] = [{ kind: 'one', name: 'channel', label: shared.channel, values: CHANNEL_VALUES }];

const COLUMNS: readonly Column<Maintenance>[] = [
  { header: shared.channel, cell: ({ channel }) => CHANNEL_NAMES[channel] },
  { header: shared.status, narrow: 'second', cell: ({ state }) => <Badge tone={TONES[state]}>{STATES[state]}</Badge> },
  { header: text.startsAt, cell: ({ startsAt }) => <Time at={startsAt} /> },
  { header: text.endsAt, cell: ({ endsAt }) => <Time at={endsAt} /> },
  { header: shared.reason, narrow: 'none', cell: ({ reason }) => reason },
];

/** The times in which channels take no new payments and withdrawals, in an environment. */
export function MaintenanceWindows() {
  const state = useFilters(FILTERS);
  const reason = useOperator().whyNot('channel.plan-maintenance');
  return (
    <Page title={text.title}>
      <div className="card mb-4 p-3">
        <Section title={text.announce}>
          {reason !== undefined ? (
            <p className="text-quiet">{reason}</p>
          ) : (
            <div className="grid gap-x-8 gap-y-2 sm:grid-cols-2">
              {CHANNELS.map((channel) => (
                <div key={channel} className="flex flex-wrap items-center justify-between gap-2">
                  <span>{CHANNEL_NAMES[channel]}</span>
                  <CommandButton
                    name="channel.plan-maintenance"
                    of={CHANNEL_NAMES[channel]}
                    address={`/api/ops/channels/${channel}/maintenance`}
                    body={{ environment }}
                  />
                </div>
              ))}
            </div>
          )}
        </Section>
      </div>
      <Listing
        label={text.title}
        state={state}
        query={useRead(
          'GET /api/ops/channels/maintenance',
          { query: { ...state.query, environment } },
          { everyMs: REFRESH_MS },
        )}
        columns={COLUMNS}
        idOf={({ maintenanceId }) => maintenanceId}
        empty={text.none}
        rowDrawer={({ row, close }) => <WindowDrawer of={row} onClose={close} />}
      />
    </Page>
  );
}

function WindowDrawer({ of, onClose }: { of: Maintenance; onClose: () => void }) {
  const { maintenanceId, channel, state, cancelledAt, cancelledBy } = of;
  const title = text.window(CHANNEL_NAMES[channel], formatInstant(of.startsAt));
  const canEnd = state === 'PLANNED' || state === 'OPEN';
  return (
    <Drawer key={maintenanceId} title={title} onClose={onClose}>
      <Subject value={title}>
        <Actions>
          {canEnd && (
            <CommandButton
              name="channel.cancel-maintenance"
              address={`/api/ops/channels/maintenance/${maintenanceId}/cancel`}
            />
          )}
        </Actions>
      </Subject>
      <Facts
        rows={{
          [shared.status]: <Badge tone={TONES[state]}>{STATES[state]}</Badge>,
          [text.startsAt]: <Time at={of.startsAt} seconds />,
          [text.endsAt]: <Time at={of.endsAt} seconds />,
          [shared.reason]: of.reason,
          [text.reasonAm]: of.reasonAm,
          [text.createdBy]: <Named id={of.createdBy} name={of.createdByName} label={text.createdBy} />,
          [text.cancelledAt]: cancelledAt && <Time at={cancelledAt} seconds />,
          [text.cancelledBy]: cancelledBy && (
            <Named id={cancelledBy} name={of.cancelledByName} label={text.cancelledBy} />
          ),
          [text.id]: <Code value={maintenanceId} name={text.id} />,
        }}
      />
    </Drawer>
  );
}
