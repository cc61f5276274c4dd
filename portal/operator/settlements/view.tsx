import { ApiText } from '../../ui/api-text.tsx';
import { Note } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { birr, formatCount } from '../../ui/format.ts';
import { KINDS, SettlementState } from '../../ui/settlement-state.tsx';
import { Day, Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import type { CommandName } from '../commands.ts';
import { useOperator } from '../operator.ts';
import { Actions, Decisions, History, MerchantLine, Named, OtherEnvironment } from '../parts.tsx';
import { useRead, type SettlementDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';
import { text } from './text.ts';

/** The commands of a settlement by the verbs of its links. */
const COMMANDS: readonly (readonly [verb: string, name: CommandName])[] = [
  ['approve', 'settlement.approve'],
  ['sent', 'settlement.sent'],
  ['credited', 'settlement.credited'],
  ['book-credit', 'settlement.book-credit'],
  ['reject', 'settlement.reject'],
  ['failed', 'settlement.failed'],
  ['returned', 'settlement.returned'],
  ['dismiss-credit', 'settlement.dismiss-credit'],
];

/** A settlement: its account, its days, and the decisions. */
export function SettlementView({ id }: { id: string }) {
  const { whyNot } = useOperator();
  const endpoint = 'GET /api/ops/settlements/:settlementId';
  const query = useRead(endpoint, { params: { settlementId: id } });
  return (
    <Loaded query={query} whyNot={whyNot('settlement.approve')}>
      {({ data }) => <SettlementDetail settlement={data} />}
    </Loaded>
  );
}

function SettlementDetail({ settlement }: { settlement: Detail }) {
  const { links, failure, overdueAt, lateCredit } = settlement;
  const barrierOf = useBarrier(settlement);
  return (
    <>
      <OtherEnvironment of={settlement.environment} path={`/settlements/${settlement.settlementId}`} />
      <div className="flex flex-wrap items-center gap-3">
        <span className="text-2xl font-semibold tabular-nums">{birr(settlement.amount)}</span>
        <SettlementState status={settlement.status} />
      </div>
      {overdueAt !== null && <Note tone="warn">{text.overdue}</Note>}
      {failure && (
        <Note tone="bad">
          <ApiText text={failure.message} />
        </Note>
      )}
      {lateCredit?.ended === null && <Note tone="warn">{text.creditedLate}</Note>}
      <Actions temporalUrl={settlement.temporalUrl}>
        {COMMANDS.map(
          ([verb, name]) =>
            links[verb] !== undefined && (
              <CommandButton key={verb} name={name} address={links[verb]} whyNot={barrierOf(name)} />
            ),
        )}
      </Actions>
      <SettlementFacts settlement={settlement} />
      <Decisions decisions={settlement.decisions} />
      <History steps={settlement.timeline} kinds={KINDS} />
    </>
  );
}

/** Why this operator may not approve or send: in live these are two people, neither of them the requester. */
function useBarrier({ environment, requestedWith, approvedBy }: Detail) {
  const { operatorId } = useOperator();
  return (name: CommandName): string | undefined => {
    if (environment !== 'live') return undefined;
    if (name === 'settlement.approve' && requestedWith?.createdBy === operatorId) return shared.yourInvitation;
    return name === 'settlement.sent' && approvedBy === operatorId ? text.youApproved : undefined;
  };
}

function SettlementFacts({ settlement }: { settlement: Detail }) {
  const { bankAccount, settledBefore, bankReference, sentAt, creditedOn, fee, feeTax } = settlement;
  const before = settledBefore.count > 0 && `${formatCount(settledBefore.count)} · ${birr(settledBefore.amount)}`;
  return (
    <Facts
      rows={{
        [shared.merchant]: <MerchantLine of={settlement} />,
        [text.account]: (
          <>
            {bankAccount.accountName}, {settlement.bankName}{' '}
            <Code value={bankAccount.accountNumber} name={text.account} />
          </>
        ),
        [text.settledBefore]: before || text.never,
        [shared.fee]: birr(fee + feeTax),
        [text.totalDebit]: birr(settlement.totalDebit),
        [text.expectedBy]: <Day day={settlement.expectedBy} />,
        [shared.requestedBy]: (
          <Named id={settlement.requestedBy} name={settlement.requestedByName} label={shared.requestedBy} />
        ),
        [shared.requestedAt]: <Time at={settlement.requestedAt} seconds />,
        [text.approvedBy]: settlement.approvedBy && (
          <Named id={settlement.approvedBy} name={settlement.approvedByName} label={text.approvedBy} />
        ),
        [text.sentBy]: settlement.sentBy && (
          <Named id={settlement.sentBy} name={settlement.sentByName} label={text.sentBy} />
        ),
        [text.sentAt]: sentAt && <Time at={sentAt} seconds />,
        [text.creditedOn]: creditedOn && <Day day={creditedOn} />,
        [text.bankReference]: bankReference && <Code value={bankReference} name={text.bankReference} />,
        [text.requestId]: <Code value={settlement.requestId} name={text.requestId} />,
        [text.settlementId]: <Code value={settlement.settlementId} name={text.settlementId} />,
      }}
    />
  );
}
