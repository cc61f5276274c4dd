import { useState } from 'react';

import { issueOf } from '../../ui/api-text.tsx';
import { Note } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { channelName } from '../../ui/channel-text.ts';
import { Code } from '../../ui/copy.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts, Section } from '../../ui/facts.tsx';
import { Check, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { birr } from '../../ui/format.ts';
import { RefundFailure, RefundState, refundUntil, type RefundRow } from '../../ui/refund-state.tsx';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { text as shared, typedBirr } from '../quote.tsx';
import { useChange, useRead, type TransactionWithTimeline } from '../routes.ts';
import { SecondPerson } from '../second-person.tsx';
import { text } from './refund-text.ts';

type Props = { transaction: TransactionWithTimeline };

const santim = (amount: number): number => Math.round(amount * 100);

/** What of a payment is refunded, or being refunded, and what is left, in santim. `but`: the reference of one to leave out. */
function sharesOf({ amount, receivedAmount, refunds }: TransactionWithTimeline, but?: string) {
  const counted = refunds.filter(({ status, reference }) => status !== 'FAILED' && reference !== but);
  const used = counted.reduce((sum, one) => sum + santim(one.paidAmount ?? one.amount), 0);
  return { used, left: santim(receivedAmount ?? amount) - used };
}

/** Why no refund can be requested; undefined: one can. */
function useBarrier(transaction: TransactionWithTimeline): string | undefined {
  const { whyNot } = useMember();
  if (transaction.status !== 'SUCCESS') return text.notPaid;
  if (transaction.held) return text.held;
  return sharesOf(transaction).left <= 0 ? text.nothingLeft : whyNot('refunds:write');
}

/** `typed`: the amount; null: all that was left at first. `isSent`: requested under this reference, perhaps without an answer. */
type Wish = { reference: string; typed: string | null; reason: string; returnFee: boolean; isSent: boolean };

const newWish = (): Wish => ({
  reference: `R-${crypto.randomUUID().slice(0, 13)}`,
  typed: null,
  reason: '',
  returnFee: false,
  isSent: false,
});

/** The refund that is asked for. Once it is sent, the tab keeps it until an answer came, over a reload too. */
function useWish(transactionId: string) {
  const storedAs = `meskot.refund.${environment}.${transactionId}`;
  const [wish, setWish] = useState<Wish>(() => ({
    ...newWish(),
    ...JSON.parse(sessionStorage.getItem(storedAs) ?? '{}'),
  }));
  const change = (next: Wish): void => {
    setWish(next);
    if (next.isSent) sessionStorage.setItem(storedAs, JSON.stringify(next));
    else sessionStorage.removeItem(storedAs);
  };
  return [wish, change] as const;
}

/**
 * The button that asks for a refund. What is asked for outlasts its window: sent again after a lost answer, it is the same
 * refund.
 */
export function RefundButton({ transaction }: Props) {
  const barrier = useBarrier(transaction);
  const [wish, setWish] = useWish(transaction.transactionId);
  return (
    <DialogButton label={text.refund} whyNot={barrier}>
      {(close) => {
        const form = {
          transaction,
          wish,
          onChange: setWish,
          onClose: close,
          onDone: () => (close(), setWish(newWish())),
        };
        return <RefundWindow {...form} />;
      }}
    </DialogButton>
  );
}

type FormProps = Props & { wish: Wish; onChange: (wish: Wish) => void; onClose: () => void; onDone: () => void };

/** The form, or what was requested by it before, if its answer was lost. */
function RefundWindow(props: FormProps) {
  const { transaction, wish, onDone } = props;
  const create = useChange('POST /api/checkout/txns/:transactionId/refunds');
  const requested = transaction.refunds.find(({ reference }) => reference === wish.reference);
  if (!wish.isSent || create.isPending || !requested) return <RefundForm {...props} create={create} />;
  return (
    <Dialog title={text.refundOf(transaction.checkoutOrderNo)} onClose={onDone}>
      <Note tone="info">{text.requestedBefore(birr(requested.amount), requested.reference)}</Note>
      <Button kind="primary" onClick={onDone}>
        {kit.close}
      </Button>
    </Dialog>
  );
}

type Create = ReturnType<typeof useChange<'POST /api/checkout/txns/:transactionId/refunds'>>;

function RefundForm({ transaction, wish, onChange, onClose, onDone, create }: FormProps & { create: Create }) {
  const { transactionId, checkoutOrderNo } = transaction;
  const { left } = sharesOf(transaction, wish.reference);
  // Another refund that is requested meanwhile does not change what is in the field.
  const [atFirst] = useState(String(left / 100));
  const typed = wish.typed ?? atFirst;
  const reference = wish.reference.trim();
  const amount = typedBirr(typed);
  const issue = issueOf(create.error, 'amount');
  const referenceIssue = issueOf(create.error, 'reference');
  const set = (changes: Partial<Wish>): void => onChange({ ...wish, ...changes });
  const submit = (): void => {
    if (amount === undefined || reference === '') return;
    const reason = wish.reason.trim();
    const body = { reference, amount, returnFee: wish.returnFee, ...(reason !== '' && { reason }) };
    set({ reference, typed, isSent: true });
    create.mutate({ params: { transactionId }, body }, { onSuccess: () => (onDone(), toast(text.requested)) });
  };
  return (
    <FormDialog
      title={text.refundOf(checkoutOrderNo)}
      action={text.refund}
      change={create}
      isErrorBeside={(issue ?? referenceIssue) !== undefined}
      isDisabled={amount === undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="text-quiet">{text.left(birr(left / 100))}</p>
      <TextField
        label={shared.amount}
        hint={text.amountHelp}
        inputMode="decimal"
        isRequired
        value={typed}
        error={typed !== '' && amount === undefined ? kit.wrongAmount : issue}
        onChange={({ target }) => {
          // What is under way keeps its button busy.
          if (!create.isPending) create.reset();
          set({ typed: target.value });
        }}
      />
      <TextField
        label={text.reason}
        maxLength={200}
        value={wish.reason}
        onChange={({ target }) => set({ reason: target.value })}
      />
      <TextField
        label={shared.requestId}
        isRequired
        maxLength={64}
        value={wish.reference}
        error={reference === '' ? kit.fillIn : referenceIssue}
        onChange={({ target }) => set({ reference: target.value, isSent: false })}
      />
      {transaction.feeReturnable && (
        <Check
          label={text.returnFee}
          isChecked={wish.returnFee}
          onChange={(isChecked) => set({ returnFee: isChecked })}
        />
      )}
      {amount !== undefined && <Consequence transaction={transaction} wish={wish} amount={amount} />}
    </FormDialog>
  );
}

/** What a refund of this amount does, and whether another person confirms it. */
function Consequence({ transaction, wish: { reference, returnFee }, amount }: Props & { wish: Wish; amount: number }) {
  const policy = useRead('GET /api/portal/withdrawal-policy', {});
  const from = policy.data?.data.secondPersonFrom;
  const sum = sharesOf(transaction, reference).used + santim(amount);
  const channel = channelName(transaction.transactionThrough ?? '');
  return (
    <>
      <Note tone="info">
        {text.consequence(birr(amount), channel)} {returnFee ? text.feeReturned : text.feeKept}
      </Note>
      {from === undefined && <Note tone="warn">{text.secondPersonPerhaps}</Note>}
      {typeof from === 'number' && sum >= santim(from) && <Note tone="warn">{text.secondPerson}</Note>}
    </>
  );
}

/** The refunds of a payment, with what a second person decides about one that waits. */
export function Refunds({ transaction }: Props) {
  const { refunds, status } = transaction;
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
            <Decision refund={refund} orderNo={transaction.checkoutOrderNo} />
            <RefundFacts refund={refund} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function RefundFacts({ refund }: { refund: RefundRow }) {
  const { paidAmount, feeReturned, feeTaxReturned, status, reason, requestedAt, reference, refundId } = refund;
  const fee = santim(feeReturned) + santim(feeTaxReturned);
  const until = refundUntil(refund);
  return (
    <Facts
      rows={{
        [text.paidAmount]: paidAmount !== undefined && birr(paidAmount),
        [text.feeBack]: status === 'SUCCESS' && fee > 0 && birr(fee / 100),
        [text.reason]: reason,
        [shared.totalDebit]: status !== 'FAILED' && birr(refund.totalDebit),
        [shared.requestedAt]: <Time at={requestedAt} seconds />,
        [text.unconfirmed]: until && <Time at={until} />,
        [shared.requestId]: <Code value={reference} name={shared.requestId} />,
        [text.refundId]: <Code value={refundId} name={text.refundId} />,
      }}
    />
  );
}

function Decision({ refund, orderNo }: { refund: RefundRow; orderNo: string }) {
  const { stage, refundId, amount, channel, reason } = refund;
  const confirm = useChange('POST /api/portal/refunds/:refundId/confirm');
  const decline = useChange('POST /api/portal/refunds/:refundId/decline');
  if (stage !== 'AWAITING_CONFIRMATION') return null;
  return (
    <div className="flex flex-wrap gap-2">
      <SecondPerson
        text={text}
        permission="refunds:write"
        id={refundId}
        params={{ refundId }}
        confirm={confirm}
        decline={decline}
        question={
          <>
            <p>{text.confirmQuestion(birr(amount), orderNo, channelName(channel))}</p>
            <Facts rows={{ [text.reason]: reason }} />
          </>
        }
      />
    </div>
  );
}
