import { Link } from '@tanstack/react-router';

import { ApiText } from '../../ui/api-text.tsx';
import { Badge, Note, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts } from '../../ui/facts.tsx';
import { Failed, Loaded } from '../../ui/feedback.tsx';
import { Switch } from '../../ui/field.tsx';
import { formatInstant } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { toast } from '../../ui/toast.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { useMember } from '../member.ts';
import { useChange, useRead, type Channel } from '../routes.ts';
import { text } from './text.ts';

/** The payment channels with their toggles. */
export function Channels() {
  const { whyNot } = useMember();
  const channels = useRead('GET /api/checkout/channels', {}, { everyMs: REFRESH_MS });
  return (
    <Page title={text.title}>
      <p className="mb-4 text-quiet">
        {text.intro} {environment === 'sandbox' && text.introTest}
      </p>
      <Loaded query={channels} skeletonRows={6} whyNot={whyNot('channels:read')}>
        {({ data }) => (
          <>
            {!data.some(({ usable }) => usable) && (
              <div className="mb-4">
                <Note tone="warn">{text.noneUsable}</Note>
              </div>
            )}
            <ul aria-label={text.title} className="grid items-start gap-4 xl:grid-cols-2">
              {data.map((channel) => (
                <ChannelCard key={channel.channel} channel={channel} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** One channel: whether it works and why not, its approval, its limits. */
function ChannelCard({ channel }: { channel: Channel }) {
  const { displayName, approval, reason, limits, maintenance } = channel;
  const isAnnounced = reason === 'COMING_SOON';
  return (
    <li className="card flex flex-col gap-3 p-4">
      <header className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{displayName}</h2>
        <StateBadge channel={channel} />
      </header>
      <p id={`${channel.channel}-state`}>
        {stateText(channel)}{' '}
        {reason === 'KYC_TIER' && (
          <Link to="/verification" className="text-brand underline">
            {text.toVerification}
          </Link>
        )}
      </p>
      <ChannelControl channel={channel} />
      {!isAnnounced && (
        <Facts
          rows={{
            [text.approval]: <Badge tone={APPROVAL_TONES[approval]}>{text[approval]}</Badge>,
            [text.plannedMaintenance]: maintenance && <Maintenance {...maintenance} />,
            [text.perPayment]: text.between(limits.payIn.min, limits.payIn.max),
            [text.perDay]: limits.payIn.daily !== null && text.upTo(limits.payIn.daily),
            [text.perWithdrawal]: text.between(limits.payOut.min, limits.payOut.max),
            [text.withdrawnPerDay]: limits.payOut.daily !== null && text.upTo(limits.payOut.daily),
          }}
        />
      )}
    </li>
  );
}

const APPROVAL_TONES: Record<Channel['approval'], Tone> = {
  NONE: 'quiet',
  REQUESTED: 'info',
  APPROVED: 'good',
  SUSPENDED: 'bad',
};

function StateBadge({ channel: { usable, reason } }: { channel: Channel }) {
  if (usable) return <Badge tone="good">{text.usable}</Badge>;
  if (reason === 'COMING_SOON') return <Badge tone="info">{text.comingSoon}</Badge>;
  if (reason === 'MAINTENANCE') return <Badge tone="warn">{text.inMaintenance}</Badge>;
  return reason === 'DISABLED' ? <Badge tone="quiet">{text.off}</Badge> : <Badge tone="warn">{text.notUsable}</Badge>;
}

/** Why a channel can be used or not, and who can change it. */
function stateText({ reason, approval, maintenance }: Channel): string {
  if (reason === null) return text.works;
  if (reason === 'MAINTENANCE' && maintenance) return text.maintenanceUntil(formatInstant(maintenance.endsAt));
  if (reason !== 'NOT_APPROVED') return text[reason];
  if (approval === 'SUSPENDED') return text.suspended;
  return approval === 'REQUESTED' ? text.waits : text.NOT_APPROVED;
}

/** Reasons that keep a channel from being switched on or requested. */
const BLOCKING: ReadonlySet<Channel['reason']> = new Set(['COMING_SOON', 'MAINTENANCE', 'NOT_CONFIGURED', 'KYC_TIER']);

/** The toggle of an approved channel, or the request for approval. One that cannot be used gives its reason. */
function ChannelControl({ channel: { channel, displayName, approval, enabled, reason } }: { channel: Channel }) {
  const { whyNot } = useMember();
  const change = useChange('PATCH /api/checkout/channels/:channel');
  const isBlocked = !enabled && (approval === 'SUSPENDED' || BLOCKING.has(reason));
  // The sentence above the control has the reason of the channel itself, which nobody of the team can change.
  const shared = { isBusy: change.isPending, whyNot: isBlocked ? undefined : whyNot('channels:write') };
  const turn = (isOn: boolean): void =>
    change.mutate(
      { params: { channel }, body: { enabled: isOn } },
      {
        onSuccess: ({ data }) => {
          if (approval === 'REQUESTED') toast(text.isWithdrawn(displayName));
          else if (data.approval === 'REQUESTED') toast(text.isRequested(displayName));
          else toast(isOn ? text.isOn(displayName) : text.isOff(displayName));
        },
      },
    );
  return (
    <>
      {approval === 'NONE' && !isBlocked && environment === 'live' ? (
        <Button {...shared} className="self-start" onClick={() => turn(true)}>
          {text.request}
        </Button>
      ) : approval === 'REQUESTED' ? (
        <Button {...shared} className="self-start" onClick={() => turn(false)}>
          {text.withdraw}
        </Button>
      ) : (
        <Switch
          {...shared}
          label={text.offer(displayName)}
          isOn={enabled}
          reasonId={isBlocked ? `${channel}-state` : undefined}
          onChange={turn}
        />
      )}
      {change.error && <Failed error={change.error} />}
    </>
  );
}

function Maintenance({ startsAt, endsAt, reason, reasonAm }: NonNullable<Channel['maintenance']>) {
  return (
    <>
      <p>{text.fromUntil(formatInstant(startsAt), formatInstant(endsAt))}</p>
      <p className="text-quiet">
        <ApiText text={reason} amharic={reasonAm ?? undefined} />
      </p>
    </>
  );
}
