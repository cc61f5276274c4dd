import { Note, type Tone } from '../../ui/badge.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { Code } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { birr } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';
import {
  confirmationFacts,
  destinationText,
  KINDS,
  PENDING_REASONS,
  WithdrawalFailure,
  WithdrawalState,
} from '../../ui/withdrawal-state.tsx';
import { CancelPayout, PayoutDrawer } from '../payout.tsx';
import { text as shared } from '../quote.tsx';
import { useChange, useRead, type WithdrawalRow } from '../routes.ts';
import { Decision } from './second-person.tsx';
import { text } from './text.ts';

const TONES: Readonly<Record<string, Tone>> = {
  'payout.succeeded': 'good',
  'review.approved': 'good',
  'confirmation.given': 'good',
  'confirmation.declined': 'bad',
  'confirmation.expired': 'bad',
  'payout.failed': 'bad',
  'review.rejected': 'bad',
  'provider.conflict': 'warn',
  'payout.reversed': 'warn',
};

/** A withdrawal beside the list. */
export function WithdrawalDrawer({ withdrawalId, onClose }: { withdrawalId: string; onClose: () => void }) {
  const query = useRead('GET /api/checkout/withdrawal/:withdrawalId', { params: { withdrawalId } });
  return (
    <PayoutDrawer
      id={withdrawalId}
      query={query}
      kinds={KINDS}
      tones={TONES}
      state={(data) => <WithdrawalState {...data} />}
      notes={(data) => <Notes withdrawal={data} />}
      actions={(data) => (
        <>
          <Decision withdrawal={data} />
          <Cancel withdrawal={data} />
        </>
      )}
      facts={(data) => <WithdrawalFacts withdrawal={data} />}
      onClose={onClose}
    />
  );
}

/** Why it is not paid yet, or was not. */
function Notes({ withdrawal: { stage, failure } }: { withdrawal: WithdrawalRow }) {
  return (
    <>
      {stage && stage !== 'COMPLETED' && <Note tone="info">{PENDING_REASONS[stage]}</Note>}
      {failure && <WithdrawalFailure failure={failure} />}
    </>
  );
}

function WithdrawalFacts({ withdrawal }: { withdrawal: WithdrawalRow }) {
  const { fee, feeTax, totalDebit, paidAmount, reason, providerReference, completedAt, reversedAt } = withdrawal;
  return (
    <Facts
      rows={{
        [shared.fee]: birr(fee),
        [shared.feeTax]: birr(feeTax),
        [shared.totalDebit]: birr(totalDebit),
        [text.paidAmount]: paidAmount !== undefined && birr(paidAmount),
        [text.channel]: channelName(withdrawal.channel),
        [text.destination]: destinationText(withdrawal),
        [text.reason]: reason,
        [text.providerReference]: providerReference && <Code value={providerReference} name={text.providerReference} />,
        [shared.requestedAt]: <Time at={withdrawal.requestedAt} seconds />,
        ...confirmationFacts(withdrawal),
        [text.completedAt]: completedAt && <Time at={completedAt} seconds />,
        [text.reversedAt]: reversedAt && <Time at={reversedAt} seconds />,
        [text.withdrawalId]: <Code value={withdrawal.withdrawalRequestId} name={text.withdrawalId} />,
      }}
    />
  );
}

/** Only a withdrawal that was not sent yet can be cancelled; one that waits for a second person is declined. */
function Cancel({ withdrawal: { status, stage, withdrawalRequestId: withdrawalId } }: { withdrawal: WithdrawalRow }) {
  const change = useChange('POST /api/checkout/withdrawal/:withdrawalId/cancel');
  if (status !== 'PENDING' || (stage !== 'CREATED' && stage !== 'UNDER_REVIEW')) return null;
  const input = { params: { withdrawalId }, body: {} };
  return <CancelPayout text={text} permission="withdrawals:write" change={change} input={input} />;
}
