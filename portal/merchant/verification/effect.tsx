import { type Channel, CHANNEL_NAMES, CHANNELS, isLiveChannel } from '../../../src/merchants/channels/channel.ts';
import { Badge, Note } from '../../ui/badge.tsx';
import { environment } from '../../ui/environment.ts';
import { Panel } from '../../ui/facts.tsx';
import type { Kyc } from '../routes.ts';
import { text } from './text.ts';

/** What the verification opens: each channel with its limits, and live as a whole. */
export function Effect({ kyc }: { kyc: Kyc }) {
  const { verificationApproved, sandboxPaymentMade } = kyc.liveKeys;
  return (
    <>
      <Panel title={text.opens}>
        {environment === 'sandbox' && <Note tone="quiet">{text.inTest}</Note>}
        <ul className="flex flex-col">
          {CHANNELS.map((channel) => (
            <li key={channel} className="border-b border-line py-2 last:border-0">
              <p className="font-medium">{CHANNEL_NAMES[channel]}</p>
              <p className="text-quiet">{effectOn(channel, kyc)}</p>
            </li>
          ))}
        </ul>
      </Panel>
      <Panel title={text.liveNeeds}>
        <ul className="flex flex-col gap-1.5">
          <Need isDone={verificationApproved}>{text.needsApproval}</Need>
          <Need isDone={sandboxPaymentMade}>{text.needsPayment}</Need>
        </ul>
      </Panel>
    </>
  );
}

/** What a verification means for one channel. */
function effectOn(channel: Channel, { status, tier }: Kyc): string {
  if (!isLiveChannel(channel)) return text.comingSoon;
  if (environment === 'sandbox') return text.opensNow;
  if (status !== 'APPROVED') return text.opensThen;
  if (tier.channels !== null && !tier.channels.includes(channel)) return text.notInTier(tier.name);
  const limits = [
    tier.paymentMax !== null && text.paymentMax(tier.paymentMax),
    tier.payoutDailyMax !== null && text.payoutMax(tier.payoutDailyMax),
  ];
  return [text.opensNow, ...limits].filter(Boolean).join(' · ');
}

function Need({ isDone, children }: { isDone: boolean; children: string }) {
  return (
    <li className="flex flex-wrap items-center gap-2">
      {children} <Badge tone={isDone ? 'good' : 'warn'}>{isDone ? text.isDone : text.isOpen}</Badge>
    </li>
  );
}
