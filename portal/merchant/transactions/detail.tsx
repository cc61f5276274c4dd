import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Note } from '../../ui/badge.tsx';
import { Button, buttonStyle } from '../../ui/button.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts, Section } from '../../ui/facts.tsx';
import { Failed, Loaded } from '../../ui/feedback.tsx';
import { birr } from '../../ui/format.ts';
import { onDemand } from '../../ui/on-demand.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { providerFailure, StatusBadge } from '../../ui/transaction-state.tsx';
import { useMember } from '../member.ts';
import { useChange, useRead, type TransactionWithTimeline } from '../routes.ts';
import { text } from './detail-text.ts';
import { History } from './history.tsx';
import { RefundButton, Refunds } from './refunds.tsx';
import { text as list } from './text.ts';

// With its library of QR codes.
const { Component: PaymentPageLink } = onDemand(() => import('./new-payment.tsx').then((file) => file.PaymentPageLink));

const useTransaction = (transactionId: string) =>
  useRead('GET /api/checkout/txns/:transactionId', { params: { transactionId } });

/** A transaction beside the list. */
export function TransactionDrawer({ transactionId, onClose }: { transactionId: string; onClose: () => void }) {
  const query = useTransaction(transactionId);
  return (
    <Drawer title={query.data?.data.checkoutOrderNo ?? (query.error ? transactionId : '…')} onClose={onClose}>
      <Loaded query={query}>
        {({ data }) => (
          <Detail key={data.transactionId} transaction={data}>
            <Link to="/transactions/$transactionId" params={{ transactionId }} className={buttonStyle()}>
              {text.asPage}
            </Link>
          </Detail>
        )}
      </Loaded>
    </Drawer>
  );
}

/** A transaction as a page of its own. */
export function TransactionPage() {
  const { transactionId } = useParams({ from: '/transactions/$transactionId' });
  const query = useTransaction(transactionId);
  return (
    <Page title={`${list.title} ${query.data?.data.checkoutOrderNo ?? ''}`}>
      <div className="card flex max-w-3xl flex-col gap-5 p-4 sm:p-6">
        <Loaded query={query}>
          {({ data }) => (
            <Detail key={data.transactionId} transaction={data}>
              <Link to="/transactions" className={buttonStyle()}>
                {text.back}
              </Link>
            </Detail>
          )}
        </Loaded>
      </div>
    </Page>
  );
}

function Detail({ transaction, children }: { transaction: TransactionWithTimeline; children: ReactNode }) {
  const { may } = useMember();
  const { failure, held, lateConfirmation, metadata, customerName, customerEmail, customerPhone } = transaction;
  const hasCustomer = (customerName ?? customerEmail ?? customerPhone) !== undefined;
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <span className="text-2xl font-semibold tabular-nums">{birr(transaction.amount)}</span>
        <StatusBadge status={transaction.status} />
      </div>
      {failure && (
        <Note tone="bad">
          {text.failedBecause}: {providerFailure(failure.code) ?? failure.code}{' '}
          <code className="font-mono text-xs">{failure.providerCode}</code>
        </Note>
      )}
      {held && <Note tone="warn">{text.held}</Note>}
      {lateConfirmation && <Note tone="info">{text.late}</Note>}
      <div className="flex flex-wrap items-start gap-2">
        {children}
        <RefundButton transaction={transaction} />
        <CurlButton transactionId={transaction.transactionId} />
      </div>
      {transaction.status === 'PENDING' && may('checkout:write') && (
        <PaymentPageLink sessionId={transaction.sessionId} />
      )}
      <PayerDecision transaction={transaction} />
      <PaymentFacts transaction={transaction} />
      <Refunds transaction={transaction} />
      <Section title={text.customer}>
        {hasCustomer ? (
          <Facts
            rows={{
              [list.customerName]: customerName,
              [list.customerEmail]: customerEmail,
              [list.customerPhone]: customerPhone,
            }}
          />
        ) : (
          <p className="text-quiet">{text.noCustomer}</p>
        )}
      </Section>
      {metadata && Object.keys(metadata).length > 0 && (
        <Section title={text.metadata}>
          <Facts rows={metadata} />
        </Section>
      )}
      <History transaction={transaction} />
    </>
  );
}

/** In the sandbox: decides on a payment that waits for its payer, in place of the payer. */
function PayerDecision({ transaction: { transactionId, attempts } }: { transaction: TransactionWithTimeline }) {
  const { whyNot } = useMember();
  const change = useChange('POST /api/checkout/sandbox/txns/:transactionId/decision');
  const isWaiting = attempts.some(({ status }) => status === 'PENDING');
  if (environment !== 'sandbox' || !isWaiting) return null;
  const decide = (decision: 'approve' | 'decline') => () =>
    change.mutate(
      { params: { transactionId }, body: { decision } },
      { onSuccess: () => toast(decision === 'approve' ? text.approved : text.declined) },
    );
  const button = { isBusy: change.isPending, whyNot: whyNot('checkout:write') };
  return (
    <Section title={text.payerDecision}>
      <p className="text-quiet">{text.payerDecisionHint}</p>
      <div className="flex flex-wrap gap-2">
        <Button {...button} onClick={decide('approve')}>
          {text.approveNow}
        </Button>
        <Button {...button} onClick={decide('decline')}>
          {text.declineNow}
        </Button>
      </div>
      {change.error && <Failed error={change.error} />}
    </Section>
  );
}

function PaymentFacts({ transaction }: { transaction: TransactionWithTimeline }) {
  const { fee, feeTax, netAmount, receivedAmount, providerReference, completedAt } = transaction;
  return (
    <Section title={text.payment}>
      <Facts
        rows={{
          [list.received]: birr(receivedAmount),
          [list.fee]: birr(fee),
          [list.feeTax]: birr(feeTax),
          [list.net]: birr(netAmount),
          [list.refunded]: birr(transaction.refundedAmount),
          [list.transactionThrough]: channelName(transaction.transactionThrough ?? list.notChosen),
          [list.providerReference]: providerReference && (
            <Code value={providerReference} name={list.providerReference} />
          ),
          [list.type]: transaction.type,
          [list.createdAt]: <Time at={transaction.createdAt} seconds />,
          [list.completedAt]: completedAt && <Time at={completedAt} seconds />,
          [list.transactionId]: <Code value={transaction.transactionId} name={list.transactionId} />,
          [list.sessionId]: <Code value={transaction.sessionId} name={list.sessionId} />,
        }}
      />
    </Section>
  );
}

function CurlButton({ transactionId }: { transactionId: string }) {
  const { apiUrl } = useMember();
  const command = `curl -H "x-api-key: $MESKOT_API_KEY" "${apiUrl}/api/checkout/txns/${transactionId}"`;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(command);
    toast(text.curlCopied);
  };
  return (
    <Button icon="copy" onClick={() => void copy()}>
      {text.copyCurl}
    </Button>
  );
}
