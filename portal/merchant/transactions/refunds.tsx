import { useState } from 'react';

import { issueOf } from '../../ui/api-text.tsx';
import { Note } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Check, TextField } from '../../ui/field.tsx';
import { FormDialog, QuestionDialog } from '../../ui/form.tsx';
import { birr } from '../../ui/format.ts';
import { RefundFailure, RefundState, type RefundRow } from '../../ui/refund-state.tsx';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { text as shared, typedBirr } from '../quote.tsx';
import { useChange, useRead, type TransactionWithTimeline } from '../routes.ts';
import { text } from './refund-text.ts';

type Props = { transaction: TransactionWithTimeline };

const santim = (amount: number): number => Math.round(amount * 100);

/** What of a payment is refunded or being refunded, and what is left, in birr. */
function sharesOf({ amount, receivedAmount, refunds }: TransactionWithTimeline) {
  const counted = refunds.filter(({ status }) => status !== 'FAILED');
  const used = counted.reduce((sum, one) => sum + santim(one.amount), 0);
  return { used: used / 100, left: (santim(receivedAmount ?? amount) - used) / 100 };
}

/** Why no refund can be requested; undefined: one can. */
function useBarrier(transaction: TransactionWithTimeline): string | undefined {
  const { whyNot } = useMember();
  if (transaction.status !== 'SUCCESS') return text.notPaid;
  if (transaction.held) return text.held;
  return sharesOf(transaction).left <= 0 ? text.nothingLeft : whyNot('refunds:write');
}

/** The button that asks for a refund. */
export function RefundButton({ transaction }: Props) {
  const barrier = useBarrier(transaction);
  return (
    <DialogButton label={text.refund} whyNot={barrier}>
      {(close) => <RefundForm transaction={transaction} onClose={close} />}
    </DialogButton>
  );
}

/** Sent again, it is the same refund: its reference is made when the window opens. */
function RefundForm({ transaction, onClose }: Props & { onClose: () => void }) {
  const { transactionId, checkoutOrderNo, transactionThrough } = transaction;
  const [{ left, used }] = useState(() => sharesOf(transaction));
  const [reference] = useState(() => `R-${crypto.randomUUID().slice(0, 13)}`);
  const [typed, setTyped] = useState(String(left));
  const [reason, setReason] = useState('');
  const [returnFee, setReturnFee] = useState(false);
  const policy = useRead('GET /api/portal/withdrawal-policy', {});
  const create = useChange('POST /api/checkout/txns/:transactionId/refunds');
  const amount = typedBirr(typed);
  const from = policy.data?.data.secondPersonFrom ?? null;
  const issue = issueOf(create.error, 'amount');
  const submit = (): void => {
    if (amount === undefined) return;
    const body = { reference, amount, returnFee, ...(reason.trim() !== '' && { reason: reason.trim() }) };
    create.mutate({ params: { transactionId }, body }, { onSuccess: () => (onClose(), toast(text.requested)) });
  };
  return (
    <FormDialog
      title={text.refundOf(checkoutOrderNo)}
      action={text.refund}
      change={create}
      isErrorBeside={issue !== undefined}
      isDisabled={amount === undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="text-quiet">{text.left(birr(left))}</p>
      <TextField
        label={shared.amount}
        hint={text.amountHelp}
        inputMode="decimal"
        isRequired
        value={typed}
        error={typed !== '' && amount === undefined ? kit.wrongAmount : issue}
        onChange={({ target }) => (create.reset(), setTyped(target.value))}
      />
      <TextField
        label={text.reason}
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <Check label={text.returnFee} isChecked={returnFee} onChange={setReturnFee} />
      {amount !== undefined && (
        <Note tone="info">
          {text.consequence(birr(amount), transactionThrough ?? '')} {returnFee ? text.feeReturned : text.feeKept}
        </Note>
      )}
      {from !== null && amount !== undefined && used + amount >= from && <Note tone="warn">{text.secondPerson}</Note>}
    </FormDialog>
  );
}

/** The refunds of a payment, with what a second person decides about one that waits. */
export function Refunds({ transaction: { refunds, status } }: Props) {
  if (status !== 'SUCCESS') return null;
  return (
    <Section title={text.title}>
      {refunds.length === 0 && <p className="text-quiet">{text.none}</p>}
      <ul className="flex flex-col gap-3">
        {refunds.map((refund) => (
          <li key={refund.refundId} className="flex flex-col gap-2 border-t border-line pt-3">
            <div className="flex flex-wrap items-center gap-2">
              <strong className="font-semibold tabular-nums">{birr(refund.amount)}</strong>
              <RefundState {...refund} />
            </div>
            {refund.failure && <RefundFailure failure={refund.failure} />}
            <Decision refund={refund} />
            <RefundFacts refund={refund} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function RefundFacts({ refund }: { refund: RefundRow }) {
  const { feeReturned, feeTaxReturned, status, reason, requestedAt, reference, refundId } = refund;
  const fee = feeReturned + feeTaxReturned;
  return (
    <Facts
      rows={{
        [text.refunded]: status === 'SUCCESS' && fee > 0 && text.feeBack(birr(fee)),
        [text.reason]: reason,
        [shared.totalDebit]: status !== 'FAILED' && birr(refund.totalDebit),
        [shared.requestedAt]: <Time at={requestedAt} seconds />,
        [text.reference]: <Code value={reference} name={text.reference} />,
        [text.refundId]: <Code value={refundId} name={text.refundId} />,
      }}
    />
  );
}

function Decision({ refund }: { refund: RefundRow }) {
  const { whyNot } = useMember();
  if (refund.stage !== 'AWAITING_CONFIRMATION') return null;
  const reason = whyNot('refunds:write');
  return (
    <div className="flex flex-wrap gap-2">
      <DialogButton kind="primary" label={text.confirm} whyNot={reason}>
        {(close) => <ConfirmDialog refund={refund} onClose={close} />}
      </DialogButton>
      <DialogButton kind="danger" label={text.decline} whyNot={reason}>
        {(close) => <DeclineDialog refund={refund} onClose={close} />}
      </DialogButton>
    </div>
  );
}

type DialogProps = { refund: RefundRow; onClose: () => void };

function ConfirmDialog({ refund: { refundId, amount }, onClose }: DialogProps) {
  const confirm = useChange('POST /api/portal/refunds/:refundId/confirm');
  return (
    <QuestionDialog
      title={text.confirm}
      action={text.confirm}
      change={confirm}
      input={{ params: { refundId }, body: {} }}
      done={text.confirmed}
      onClose={onClose}
    >
      <p>{text.confirmQuestion(birr(amount) ?? '')}</p>
    </QuestionDialog>
  );
}

function DeclineDialog({ refund: { refundId }, onClose }: DialogProps) {
  const [reason, setReason] = useState('');
  const decline = useChange('POST /api/portal/refunds/:refundId/decline');
  return (
    <QuestionDialog
      title={text.declineTitle}
      action={text.decline}
      kind="danger"
      change={decline}
      isDisabled={reason.trim() === ''}
      input={{ params: { refundId }, body: { reason } }}
      done={text.declined}
      onClose={onClose}
    >
      <p>{text.declineHelp}</p>
      <TextField
        label={text.reason}
        isRequired
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </QuestionDialog>
  );
}
