import { Badge, Note } from '../../ui/badge.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { Code } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { birr, formatCount, listed } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';
import {
  confirmationFacts,
  destinationText,
  KINDS,
  WithdrawalFailure,
  WithdrawalState,
} from '../../ui/withdrawal-state.tsx';
import { outcomeText } from '../codes.ts';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { Actions, Decisions, History, MerchantLine, Named, OtherEnvironment } from '../parts.tsx';
import { useRead, type WithdrawalDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';
import { REASONS, text } from './text.ts';

/** A withdrawal: why it is reviewed, what was paid before, and the decisions. */
export function WithdrawalView({ id }: { id: string }) {
  const { whyNot } = useOperator();
  const endpoint = 'GET /api/ops/withdrawals/:withdrawalId';
  const query = useRead(endpoint, { params: { withdrawalId: id } });
  return (
    <Loaded query={query} whyNot={whyNot('withdrawal.approve')}>
      {({ data }) => <WithdrawalDetail withdrawal={data} />}
    </Loaded>
  );
}

function WithdrawalDetail({ withdrawal }: { withdrawal: Detail }) {
  const { links, reviewReasons, approvalsMissing, failure } = withdrawal;
  const barrier = useBarrier(withdrawal);
  return (
    <>
      <OtherEnvironment of={withdrawal.environment} path={`/withdrawals/${withdrawal.withdrawalId}`} />
      <div className="flex flex-wrap items-center gap-3">
        <span className="text-2xl font-semibold tabular-nums">{birr(withdrawal.amount)}</span>
        <WithdrawalState status={withdrawal.status} stage={withdrawal.stage} />
      </div>
      {reviewReasons.length > 0 && (
        <div className="flex flex-wrap gap-1.5">
          {reviewReasons.map((reason) => (
            <Badge key={reason} tone="warn">
              {REASONS[reason]}
            </Badge>
          ))}
        </div>
      )}
      {approvalsMissing > 0 && links['approve'] && <Note tone="info">{text.missing(approvalsMissing)}</Note>}
      {failure && <WithdrawalFailure failure={failure} />}
      <Actions temporalUrl={withdrawal.temporalUrl}>
        {links['approve'] && <CommandButton name="withdrawal.approve" address={links['approve']} whyNot={barrier} />}
        {links['reject'] && <CommandButton name="withdrawal.reject" address={links['reject']} />}
        {links['resolve'] && <CommandButton name="withdrawal.resolve" address={links['resolve']} whyNot={barrier} />}
      </Actions>
      <WithdrawalFacts withdrawal={withdrawal} />
      <Decisions decisions={withdrawal.decisions} />
      <History steps={withdrawal.timeline} kinds={KINDS} />
    </>
  );
}

/** Why this operator may not decide. */
function useBarrier({ environment, requestedWith, approvals }: Detail): string | undefined {
  const { operatorId } = useOperator();
  if (approvals.some((one) => one.operatorId === operatorId)) return shared.youApproved;
  const isOwn = environment === 'live' && requestedWith?.createdBy === operatorId;
  return isOwn ? shared.yourInvitation : undefined;
}

function WithdrawalFacts({ withdrawal }: { withdrawal: Detail }) {
  const { fee, feeTax, totalDebit, paidAmount, paidBefore, providerReference, lastOutcome, submittedAt } = withdrawal;
  const before = paidBefore.count > 0 && `${formatCount(paidBefore.count)} · ${birr(paidBefore.amount)}`;
  return (
    <Facts
      rows={{
        [shared.merchant]: <MerchantLine of={withdrawal} />,
        [text.to]: destinationText(withdrawal),
        [text.paidBefore]: before || text.never,
        [text.otherNames]: listed(paidBefore.accountNames),
        [shared.channel]: channelName(withdrawal.channel),
        [shared.fee]: birr(fee + feeTax),
        [text.totalDebit]: birr(totalDebit),
        [text.paidAmount]: birr(paidAmount),
        [shared.requestedBy]: (
          <Named id={withdrawal.requestedBy} name={withdrawal.requestedByName} label={shared.requestedBy} />
        ),
        [text.confirmedBy]: withdrawal.confirmedBy && (
          <Named id={withdrawal.confirmedBy} name={withdrawal.confirmedByName} label={text.confirmedBy} />
        ),
        [shared.reason]: withdrawal.reason,
        [shared.requestedAt]: <Time at={withdrawal.requestedAt} seconds />,
        ...confirmationFacts(withdrawal),
        [text.submittedAt]: submittedAt && <Time at={submittedAt} seconds />,
        [text.lastOutcome]: lastOutcome && outcomeText(lastOutcome),
        [shared.providerReference]: providerReference && (
          <Code value={providerReference} name={shared.providerReference} />
        ),
        [text.requestId]: <Code value={withdrawal.requestId} name={text.requestId} />,
        [text.withdrawalId]: <Code value={withdrawal.withdrawalId} name={text.withdrawalId} />,
      }}
    />
  );
}
