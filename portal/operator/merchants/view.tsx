import { Link } from '@tanstack/react-router';

import { CHANNEL_NAMES, isLiveChannel } from '../../../src/merchants/channels/channel.ts';
import { Badge } from '../../ui/badge.tsx';
import { Code, Mono } from '../../ui/copy.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts, Fold, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { birr } from '../../ui/format.ts';
import { KYC_STATES } from '../../ui/kyc-text.ts';
import { CommandButton } from '../command-button.tsx';
import { Invitations } from '../invitations.tsx';
import { Actions } from '../parts.tsx';
import { REFRESH_MS, useRead, type MerchantDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';
import { Credentials } from './credentials.tsx';
import { Keys } from './keys.tsx';
import { Fees, Limits, ReviewPolicy, SettlementLimit } from './settings.tsx';
import { APPROVALS, CHANNEL_REASONS, text } from './text.ts';
import { Users } from './users.tsx';

/** A merchant: its state, its channels, and everything that operators set for it. */
export function MerchantView({ id }: { id: string }) {
  const query = useRead('GET /api/ops/merchants/:merchantId', { params: { merchantId: id } }, { everyMs: REFRESH_MS });
  return <Loaded query={query}>{({ data }) => <MerchantParts merchant={data} />}</Loaded>;
}

function MerchantParts({ merchant }: { merchant: Detail }) {
  const { merchantId, name, status, kycStatus } = merchant;
  const { channels, ...balance } = merchant[environment];
  const address = (verb: string): string => `/api/ops/merchants/${merchantId}/${verb}`;
  return (
    <>
      <Actions>
        {status === 'ACTIVE' ? (
          <CommandButton name="merchant.suspend" of={name} address={address('suspend')} />
        ) : (
          <CommandButton name="merchant.resume" of={name} address={address('resume')} />
        )}
      </Actions>
      <Facts
        rows={{
          [text.name]: name,
          [shared.merchantId]: <Code value={merchantId} name={shared.merchantId} />,
          [shared.status]: <Badge tone={status === 'ACTIVE' ? 'good' : 'bad'}>{text[status]}</Badge>,
          [text.verification]: (
            <Link to="/kyc/$id" params={{ id: merchantId }} className="text-brand underline">
              {KYC_STATES[kycStatus]}
            </Link>
          ),
          [text.bankAccount]: (
            <Link to="/bank-accounts/$id" params={{ id: merchantId }} className="text-brand underline">
              {text.bankAccount}
            </Link>
          ),
          [text.links]: <Links merchantId={merchantId} />,
        }}
      />
      <Section title={text.balance}>
        <Facts
          rows={{
            [text.available]: birr(balance.available),
            [text.reserved]: birr(balance.reserved),
            [text.feesToDate]: birr(balance.feesToDate),
            [text.netSettled]: birr(balance.netSettled),
          }}
        />
      </Section>
      <Fold title={text.channels}>
        {channels.map((channel) => (
          <Channel key={channel.channel} channel={channel} merchantId={merchantId} />
        ))}
      </Fold>
      <Users merchantId={merchantId} />
      <Keys merchantId={merchantId} />
      <Invitations of={{ merchantId }} part={Fold} />
      <Fees merchantId={merchantId} />
      <Limits merchantId={merchantId} />
      <ReviewPolicy merchantId={merchantId} />
      <SettlementLimit merchantId={merchantId} />
    </>
  );
}

const LISTS = ['transactions', 'refunds', 'withdrawals', 'settlements', 'deliveries'] as const;

/** The lists of one merchant. */
function Links({ merchantId }: { merchantId: string }) {
  return (
    <span className="flex flex-wrap gap-x-3">
      {LISTS.map((list) => (
        <Link
          key={list}
          to={`/${list}`}
          search={{ merchantId } as never}
          className="inline-flex min-h-6 text-brand underline"
        >
          {text[list]}
        </Link>
      ))}
    </span>
  );
}

type ChannelProps = { channel: Detail['live']['channels'][number]; merchantId: string };

function Channel({ channel: one, merchantId }: ChannelProps) {
  const { channel, approval, enabled, usable, reason, account, missingSettings } = one;
  const address = `/api/ops/merchants/${merchantId}/channels/${channel}`;
  const name = CHANNEL_NAMES[channel];
  const isApproved = approval === 'APPROVED';
  return (
    <section className="flex flex-col gap-3 rounded-lg border border-line p-3">
      <header className="flex flex-wrap items-center gap-2">
        <h3 className="font-semibold">{name}</h3>
        <Badge tone={usable ? 'good' : 'quiet'}>
          {usable ? text.usable : reason === null ? text.no : CHANNEL_REASONS[reason]}
        </Badge>
        <div className="ms-auto">
          {isApproved ? (
            <CommandButton name="channel.suspend" of={name} address={`${address}/suspend`} body={{ environment }} />
          ) : (
            <CommandButton name="channel.approve" of={name} address={`${address}/approve`} body={{ environment }} />
          )}
        </div>
      </header>
      <Facts
        rows={{
          [text.approval]: APPROVALS[approval],
          [text.enabled]: enabled ? text.yes : text.no,
          [text.account]: account && text[account],
          [text.missingSettings]: missingSettings.length > 0 && <Mono>{missingSettings.join(', ')}</Mono>,
        }}
      />
      {environment === 'live' && isLiveChannel(channel) && <Credentials merchantId={merchantId} channel={channel} />}
    </section>
  );
}
