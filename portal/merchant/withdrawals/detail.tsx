import { Link } from '@tanstack/react-router';

import { Note, type Tone } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { Time } from '../../ui/time.tsx';
import { Timeline } from '../../ui/timeline.tsx';
import { toast } from '../../ui/toast.tsx';
import { destinationText, KINDS, WithdrawalState } from '../../ui/withdrawal-state.tsx';
import { CancelButton } from '../cancel.tsx';
import { useMember } from '../member.ts';
import { birr } from '../quote.tsx';
import { useChange, useRead, type WithdrawalRow } from '../routes.ts';
import { Decision } from './second-person.tsx';
import { text } from './text.ts';

const TONES: Readonly<Record<string, Tone>> = {
  'payout.succeeded': 'good',
  'review.approved': 'good',
  'confirmation.given': 'good',
  'confirmation.declined': 'bad',
  'payout.failed': 'bad',
  'review.rejected': 'bad',
  'provider.conflict': 'warn',
  'payout.reversed': 'warn',
};

/** A withdrawal beside the list. */
export function WithdrawalDrawer({ withdrawalId, onClose }: { withdrawalId: string; onClose: () => void }) {
  const query = useRead('GET /api/checkout/withdrawal/:withdrawalId', { params: { withdrawalId } });
  return (
    <Drawer title={query.data?.data.requestId ?? '…'} onClose={onClose}>
      <Loaded query={query}>
        {({ data }) => (
          <>
            <div className="flex flex-wrap items-center gap-3">
              <span className="text-2xl font-semibold tabular-nums">{birr(data.amount)}</span>
              <WithdrawalState {...data} />
            </div>
            {data.pendingReason && <Note tone="info">{data.pendingReason}</Note>}
            {data.failure && <Note tone="bad">{data.failure.message}</Note>}
            <div className="flex flex-wrap gap-2">
              <Link to="/balance" search={{ resourceId: withdrawalId }} className={buttonStyle()}>
                {text.entries}
              </Link>
              <Decision withdrawal={data} />
              <Cancel withdrawal={data} />
            </div>
            <WithdrawalFacts withdrawal={data} />
            <Section title={text.timeline}>
              <Timeline
                items={data.timeline.map(({ at, kind }, index) => ({
                  id: `${index}`,
                  at,
                  title: KINDS[kind as keyof typeof KINDS],
                  tone: TONES[kind] ?? 'quiet',
                }))}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

function WithdrawalFacts({ withdrawal }: { withdrawal: WithdrawalRow }) {
  const { fee, feeTax, totalDebit, paidAmount, reason, providerReference, completedAt, reversedAt } = withdrawal;
  return (
    <Facts
      rows={{
        [text.fee]: birr(fee),
        [text.feeTax]: birr(feeTax),
        [text.totalDebit]: birr(totalDebit),
        [text.paidAmount]: paidAmount !== undefined && birr(paidAmount),
        [text.channel]: withdrawal.channel,
        [text.destination]: destinationText(withdrawal),
        [text.reason]: reason,
        [text.providerReference]: providerReference && <Code value={providerReference} name={text.providerReference} />,
        [text.requestedAt]: <Time at={withdrawal.requestedAt} seconds />,
        [text.completedAt]: completedAt && <Time at={completedAt} seconds />,
        [text.reversedAt]: reversedAt && <Time at={reversedAt} seconds />,
        [text.withdrawalId]: <Code value={withdrawal.withdrawalRequestId} name={text.withdrawalId} />,
      }}
    />
  );
}

/** Only a withdrawal that was not sent yet can be cancelled; one that waits for a second person is declined. */
function Cancel({ withdrawal: { status, stage, withdrawalRequestId: withdrawalId } }: { withdrawal: WithdrawalRow }) {
  const { whyNot } = useMember();
  const cancel = useChange('POST /api/checkout/withdrawal/:withdrawalId/cancel');
  if (status !== 'PENDING' || (stage !== 'CREATED' && stage !== 'UNDER_REVIEW')) return null;
  return (
    <CancelButton
      label={text.cancel}
      question={text.cancelQuestion}
      whyNot={whyNot('withdrawals:write')}
      change={cancel}
      onConfirm={(close) =>
        cancel.mutate(
          { params: { withdrawalId }, body: {} },
          {
            onSuccess: () => {
              close();
              toast(text.cancelled);
            },
          },
        )
      }
    />
  );
}
