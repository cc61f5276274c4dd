import { Badge, type Tone } from '../../ui/badge.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { catalogue } from '../../ui/language.ts';
import { Time } from '../../ui/time.tsx';
import { CHECKS } from '../codes.ts';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { Actions, Named } from '../parts.tsx';
import { useRead, type Credentials as CredentialSet } from '../routes.ts';
import { text as shared } from '../text.ts';

const text = catalogue({
  title: ['Credentials of its own account', 'የራሱ ሂሳብ መለያዎች'],
  none: [
    'None: orders use the account of the platform. They are entered on the command line (meskot channels add-credentials).',
    'የሉም፦ ትዕዛዞች የመድረኩን ሂሳብ ይጠቀማሉ። በትዕዛዝ መስመር ይገባሉ (meskot channels add-credentials)።',
  ],
  account: ['Account', 'ሂሳብ'],
  payoutAccount: ['Account of payouts', 'የወጪ ሂሳብ'],
  checked: ['Last check', 'የመጨረሻ ፍተሻ'],
  never: ['never', 'አያውቅም'],
  createdBy: ['Entered by', 'ያስገባው'],
  confirmedBy: ['Activated by', 'ሥራ ላይ ያዋለው'],
  activeFrom: ['Active from', 'የሚሠራው ከ'],
  retiresAt: ['Used until', 'ጥቅም ላይ የሚውለው እስከ'],
  expiresAt: ['Expires at', 'የሚያበቃበት ጊዜ'],
});

const STATES = catalogue({
  PENDING: ['To activate', 'ሥራ ላይ መዋል ይጠብቃል'],
  ACTIVE: ['Active', 'በሥራ ላይ'],
  RETIRING: ['Replaced', 'ተተክቷል'],
  RETIRED: ['No longer used', 'ከሥራ ውጭ'],
  REVOKED: ['Revoked', 'ተሰርዟል'],
});
const TONES: Record<CredentialSet['state'], Tone> = {
  PENDING: 'warn',
  ACTIVE: 'good',
  RETIRING: 'info',
  RETIRED: 'quiet',
  REVOKED: 'quiet',
};

type Place = { merchantId: string; channel: string };

/** The sets of credentials of a merchant's own account at a provider, without their values. Hidden from who may not read them. */
export function Credentials({ merchantId, channel }: Place) {
  const { whyNot } = useOperator();
  return whyNot('channel.add-credentials') === undefined ? <Sets merchantId={merchantId} channel={channel} /> : null;
}

function Sets(params: Place) {
  const query = useRead('GET /api/ops/merchants/:merchantId/channels/:channel/credentials', { params });
  return (
    <Section title={text.title}>
      <Loaded query={query} skeletonRows={1}>
        {({ data: sets }) =>
          sets.length === 0 ? (
            <p className="text-quiet">{text.none}</p>
          ) : (
            <ul className="flex flex-col gap-4">
              {sets.map((set) => (
                <li key={set.credentialId}>
                  <OneSet set={set} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function OneSet({ set }: { set: CredentialSet }) {
  const { operatorId } = useOperator();
  const { credentialId, merchantId, channel, state, checkedAt, confirmedBy, activeFrom, retiresAt, expiresAt } = set;
  const address = (verb: string): string =>
    `/api/ops/merchants/${merchantId}/channels/${channel}/credentials/${credentialId}/${verb}`;
  const isUsable = state === 'PENDING' || state === 'ACTIVE' || state === 'RETIRING';
  const entered = set.createdBy === operatorId ? shared.youEntered : undefined;
  return (
    <>
      <Facts
        rows={{
          [shared.status]: <Badge tone={TONES[state]}>{STATES[state]}</Badge>,
          [text.account]: set.account,
          [text.payoutAccount]: set.payoutAccount,
          [text.checked]: checkedAt ? (
            <>
              {set.checkOutcome && CHECKS[set.checkOutcome]} · <Time at={checkedAt} />
            </>
          ) : (
            text.never
          ),
          [text.createdBy]: <Named id={set.createdBy} name={set.createdByName} label={text.createdBy} />,
          [text.confirmedBy]: confirmedBy && (
            <Named id={confirmedBy} name={set.confirmedByName} label={text.confirmedBy} />
          ),
          [text.activeFrom]: activeFrom && <Time at={activeFrom} />,
          [text.retiresAt]: retiresAt && <Time at={retiresAt} />,
          [text.expiresAt]: expiresAt && <Time at={expiresAt} />,
        }}
      />
      {isUsable && (
        <div className="mt-3">
          <Actions>
            <CommandButton name="channel.check-credentials" of={set.account} address={address('check')} />
            {state === 'PENDING' && (
              <CommandButton
                name="channel.activate-credentials"
                of={set.account}
                address={address('activate')}
                whyNot={entered}
              />
            )}
            <CommandButton name="channel.revoke-credentials" of={set.account} address={address('revoke')} />
          </Actions>
        </div>
      )}
    </>
  );
}
