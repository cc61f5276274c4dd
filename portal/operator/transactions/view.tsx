import { Link } from '@tanstack/react-router';

import { Badge, Note } from '../../ui/badge.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { Code } from '../../ui/copy.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { birr, listed } from '../../ui/format.ts';
import { RefundState } from '../../ui/refund-state.tsx';
import { Time } from '../../ui/time.tsx';
import { HELD_REASON_TEXTS, KINDS, providerFailure, StatusBadge } from '../../ui/transaction-state.tsx';
import { ATTEMPT_STATES, HOLD_DECISIONS, outcomeText } from '../codes.ts';
import { CommandButton } from '../command-button.tsx';
import { Actions, Decisions, History, MerchantLine, OtherEnvironment } from '../parts.tsx';
import { useRead, type TransactionDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';
import { viewPath } from '../views.tsx';
import { text } from './text.ts';

/** A transaction, every attempt to pay it, and the decisions about held money. */
export function TransactionView({ id }: { id: string }) {
  const endpoint = 'GET /api/ops/transactions/:transactionId';
  const query = useRead(endpoint, { params: { transactionId: id } });
  return <Loaded query={query}>{({ data }) => <TransactionDetail transaction={data} />}</Loaded>;
}

function TransactionDetail({ transaction }: { transaction: Detail }) {
  const { failure, held, uncertain, payments } = transaction;
  return (
    <>
      <OtherEnvironment of={transaction.environment} path={`/transactions/${transaction.transactionId}`} />
      <div className="flex flex-wrap items-center gap-3">
        <span className="text-2xl font-semibold tabular-nums">{birr(transaction.amount)}</span>
        <StatusBadge status={transaction.status} />
      </div>
      {held && <Note tone="warn">{shared.about(text.held, HELD_REASON_TEXTS[held])}</Note>}
      {uncertain && <Note tone="warn">{text.uncertain}</Note>}
      {failure && <Note tone="bad">{providerFailure(failure.code) ?? failure.code}</Note>}
      <TransactionFacts transaction={transaction} />
      <Section title={text.payments}>
        {payments.length === 0 && <p className="text-quiet">{text.noPayments}</p>}
        {payments.map((payment) => (
          <Payment key={payment.attemptId} payment={payment} />
        ))}
      </Section>
      <Refunds refunds={transaction.refunds} />
      <Decisions decisions={transaction.decisions} />
      <History steps={transaction.timeline} kinds={KINDS} />
    </>
  );
}

/** Each leads to its own view, where it can be resolved. */
function Refunds({ refunds }: Pick<Detail, 'refunds'>) {
  if (refunds.length === 0) return null;
  return (
    <Section title={shared.refunds}>
      <ul className="flex flex-col gap-2">
        {refunds.map(({ refundId, amount, ...refund }) => (
          <li key={refundId} className="flex flex-wrap items-center gap-2">
            <Link
              to={viewPath('refund', refundId) as '/deliveries'}
              className="font-semibold text-brand hover:underline"
            >
              {birr(amount)}
            </Link>
            <RefundState {...refund} />
            <Code value={refundId} name={shared.refund} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** One attempt to pay; held money is decided here. */
function Payment({ payment }: { payment: Detail['payments'][number] }) {
  const { attemptId, status, links, received, providerReference, failure, decision, endedAt } = payment;
  const body = { attemptId };
  return (
    <section className="flex flex-col gap-3 rounded-lg border border-line p-3">
      <header className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-semibold">
          {channelName(payment.channel)} · {payment.phone}
        </h3>
        <Badge tone={status === 'SUCCEEDED' ? 'good' : 'quiet'}>{ATTEMPT_STATES[status]}</Badge>
      </header>
      {failure && <p>{providerFailure(failure.code) ?? failure.code}</p>}
      <Actions temporalUrl={payment.temporalUrl}>
        {links['accept'] && <CommandButton name="payment.accept" address={links['accept']} body={body} />}
        {links['reject'] && <CommandButton name="payment.return" address={links['reject']} body={body} />}
      </Actions>
      <Facts
        rows={{
          [text.expected]: birr(payment.expected),
          [text.received]: birr(received),
          [text.decision]: decision && HOLD_DECISIONS[decision],
          [text.lastOutcome]: payment.lastOutcome && outcomeText(payment.lastOutcome),
          [shared.providerReference]: providerReference && (
            <Code value={providerReference} name={shared.providerReference} />
          ),
          [text.startedAt]: <Time at={payment.startedAt} seconds />,
          [text.endedAt]: endedAt && <Time at={endedAt} seconds />,
          [text.attemptId]: <Code value={attemptId} name={text.attemptId} />,
        }}
      />
    </section>
  );
}

function TransactionFacts({ transaction }: { transaction: Detail }) {
  const { fee, feeTax, netAmount, receivedAmount, completedAt } = transaction;
  return (
    <Facts
      rows={{
        [text.orderNo]: <Code value={transaction.checkoutOrderNo} name={text.orderNo} />,
        [shared.merchant]: <MerchantLine of={transaction} />,
        [shared.deliveries]: (
          <Link
            to="/deliveries"
            search={{ checkoutOrderNo: transaction.checkoutOrderNo } as never}
            className="inline-flex min-h-6 text-brand underline"
          >
            {text.deliveries}
          </Link>
        ),
        [text.received]: birr(receivedAmount),
        [shared.fee]: fee !== undefined && birr(fee + (feeTax ?? 0)),
        [text.net]: birr(netAmount),
        [shared.channel]: transaction.transactionThrough && channelName(transaction.transactionThrough),
        [text.customer]: listed([transaction.customerName, transaction.customerPhone, transaction.customerEmail]),
        [shared.createdAt]: <Time at={transaction.createdAt} seconds />,
        [text.completedAt]: completedAt && <Time at={completedAt} seconds />,
        [text.transactionId]: <Code value={transaction.transactionId} name={text.transactionId} />,
        [text.sessionId]: <Code value={transaction.sessionId} name={text.sessionId} />,
      }}
    />
  );
}
