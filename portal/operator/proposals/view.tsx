import { Badge } from '../../ui/badge.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { Time } from '../../ui/time.tsx';
import { ACTIONS } from '../action-text.ts';
import { FieldChanges } from '../changes.tsx';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { Actions, MerchantLine, Named } from '../parts.tsx';
import { useRead, type Proposal } from '../routes.ts';
import { text as shared } from '../text.ts';
import { STATES, text } from './text.ts';

/** A change that another operator confirms: its fields before and after. */
export function ProposalView({ id }: { id: string }) {
  const query = useRead('GET /api/ops/proposals/:proposalId', { params: { proposalId: id } });
  return <Loaded query={query}>{({ data }) => <ProposalDetail proposal={data} />}</Loaded>;
}

function ProposalDetail({ proposal }: { proposal: Proposal }) {
  const { operatorId, whyNot } = useOperator();
  const { proposalId, status, action, proposedBy, decidedAt } = proposal;
  const isOwn = proposedBy === operatorId;
  const address = (verb: string): string => `/api/ops/proposals/${proposalId}/${verb}`;
  const barrier = whyNot(action) ?? (isOwn ? text.yours : undefined);
  return (
    <>
      {status === 'PENDING' && (
        <Actions>
          <CommandButton name="proposal.confirm" address={address('confirm')} whyNot={barrier} />
          {isOwn ? (
            <CommandButton name="proposal.withdraw" address={address('withdraw')} />
          ) : (
            <CommandButton name="proposal.reject" address={address('reject')} whyNot={barrier} />
          )}
        </Actions>
      )}
      <Section title={text.changes}>
        <FieldChanges before={proposal.before} after={proposal.after} of={proposal.resourceType} />
      </Section>
      <Facts
        rows={{
          [shared.status]: <Badge tone={status === 'PENDING' ? 'info' : 'quiet'}>{STATES[status]}</Badge>,
          [text.action]: ACTIONS[action],
          [shared.reason]: proposal.reason,
          [shared.merchant]: proposal.merchantId && <MerchantLine of={proposal} />,
          [text.proposedBy]: <Named id={proposedBy} name={proposal.proposedByName} label={text.proposedBy} />,
          [text.proposedAt]: <Time at={proposal.proposedAt} seconds />,
          [text.expiresAt]: <Time at={proposal.expiresAt} />,
          [text.decidedBy]: proposal.decidedBy && (
            <Named id={proposal.decidedBy} name={proposal.decidedByName} label={text.decidedBy} />
          ),
          [text.decidedAt]: decidedAt && <Time at={decidedAt} seconds />,
          [text.decisionReason]: proposal.decisionReason,
        }}
      />
    </>
  );
}
