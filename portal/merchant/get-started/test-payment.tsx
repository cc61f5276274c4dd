import { useState } from 'react';

import { Button, buttonStyle } from '../../ui/button.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { StatusBadge } from '../../ui/transaction-state.tsx';
import { useMember } from '../member.ts';
import { useChange, useRead, type CreatedSession } from '../routes.ts';
import { text } from './text.ts';

const POLL_MS = 2_000;
const AMOUNT_BIRR = 100;

/** Creates a test payment, leads to its checkout page, and shows its status. */
export function TestPayment({ isFirst }: { isFirst: boolean }) {
  const { whyNot } = useMember();
  const [orderNo, setOrderNo] = useState(newOrderNo);
  const create = useChange('POST /api/checkout/sessions');
  const session = create.data?.data;
  const send = (): void => {
    const body = { checkoutOrderNo: orderNo, amount: AMOUNT_BIRR, currency: 'ETB' };
    create.mutate({ body }, { onSuccess: () => setOrderNo(newOrderNo()) });
  };
  return (
    <>
      {create.error && <Failed error={create.error} />}
      {session && <Checkout session={session} />}
      <Button
        kind={isFirst && !session ? 'primary' : 'second'}
        isBusy={create.isPending}
        whyNot={whyNot('checkout:write')}
        onClick={send}
      >
        {isFirst && !session ? text.create : text.createAnother}
      </Button>
    </>
  );
}

const newOrderNo = (): string => `TEST-${Date.now()}`;

function Checkout({ session: { checkoutUrl, transactionId, checkoutOrderNo } }: { session: CreatedSession }) {
  const read = useRead('GET /api/checkout/txns/:transactionId', { params: { transactionId } }, { everyMs: POLL_MS });
  const status = read.data?.data.status;
  return (
    <div className="flex flex-wrap items-center gap-3" role="status">
      <code className="font-mono">{checkoutOrderNo}</code>
      {status && <StatusBadge status={status} />}
      {status === 'PENDING' && (
        <a href={checkoutUrl} target="_blank" rel="noreferrer" className={buttonStyle('primary')}>
          {text.toCheckout}
        </a>
      )}
    </div>
  );
}
