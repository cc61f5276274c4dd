import { channelName } from '../../ui/channel-text.ts';
import { Code } from '../../ui/copy.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { birr } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import { RefundFailure, RefundState } from '../../ui/refund-state.tsx';
import { Time } from '../../ui/time.tsx';
import { KINDS } from '../../ui/transaction-state.tsx';
import { outcomeText } from '../codes.ts';
import { CommandButton } from '../command-button.tsx';
import { Actions, Decisions, History, MerchantLine, Named, OtherEnvironment, Resource } from '../parts.tsx';
import { REFRESH_MS, useRead, type RefundDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';

const text = catalogue({
  transactionId: ['Transaction id', 'የግብይት መለያ'],
  totalDebit: ['Debited', 'ከሂሳቡ የወጣ'],
  paidAmount: ['Paid', 'የተከፈለ'],
  feeReturned: ['Fee given back', 'የተመለሰ የአገልግሎት ክፍያ'],
  confirmedBy: ['Confirmed by', 'ያረጋገጠው'],
  submittedAt: ['Sent at', 'የተላከበት ጊዜ'],
  lastOutcome: ['Last answer', 'የመጨረሻ ምላሽ'],
  reference: ['Reference of the merchant', 'የነጋዴው ማጣቀሻ'],
  refundId: ['Refund id', 'የተመላሽ ክፍያ መለያ'],
});

/** A refund: what its provider has answered, and the decisions. */
export function RefundView({ id }: { id: string }) {
  const query = useRead('GET /api/ops/refunds/:refundId', { params: { refundId: id } }, { everyMs: REFRESH_MS });
  return <Loaded query={query}>{({ data }) => <RefundDetail refund={data} />}</Loaded>;
}

function RefundDetail({ refund }: { refund: Detail }) {
  const { links, failure, providerReference, confirmedBy, submittedAt, feeReturned, feeTaxReturned } = refund;
  return (
    <>
      <OtherEnvironment of={refund.environment} path={`/refunds/${refund.refundId}`} />
      <div className="flex flex-wrap items-center gap-3">
        <span className="text-2xl font-semibold tabular-nums">{birr(refund.amount)}</span>
        <RefundState status={refund.status} stage={refund.stage} />
      </div>
      {failure && <RefundFailure failure={failure} />}
      <Actions temporalUrl={refund.temporalUrl}>
        {links['resolve'] && <CommandButton name="refund.resolve" address={links['resolve']} />}
      </Actions>
      <Facts
        rows={{
          [shared.merchant]: <MerchantLine of={refund} />,
          [text.transactionId]: (
            <Resource id={refund.transactionId} label={text.transactionId} of={refund.environment} />
          ),
          [shared.channel]: channelName(refund.channel),
          [text.totalDebit]: birr(refund.totalDebit),
          [text.paidAmount]: refund.paidAmount !== undefined && birr(refund.paidAmount),
          [text.feeReturned]: feeReturned > 0 && birr(feeReturned + feeTaxReturned),
          [shared.requestedBy]: (
            <Named id={refund.requestedBy} name={refund.requestedByName} label={shared.requestedBy} />
          ),
          [text.confirmedBy]: confirmedBy && (
            <Named id={confirmedBy} name={refund.confirmedByName} label={text.confirmedBy} />
          ),
          [shared.reason]: refund.reason,
          [shared.requestedAt]: <Time at={refund.requestedAt} seconds />,
          [text.submittedAt]: submittedAt && <Time at={submittedAt} seconds />,
          [text.lastOutcome]: refund.lastOutcome && outcomeText(refund.lastOutcome),
          [shared.providerReference]: providerReference && (
            <Code value={providerReference} name={shared.providerReference} />
          ),
          [text.reference]: <Code value={refund.reference} name={text.reference} />,
          [text.refundId]: <Code value={refund.refundId} name={text.refundId} />,
        }}
      />
      <Decisions decisions={refund.decisions} />
      <History steps={refund.timeline} kinds={KINDS} />
    </>
  );
}
