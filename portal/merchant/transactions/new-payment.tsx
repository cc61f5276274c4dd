import { Link } from '@tanstack/react-router';
import { create } from 'qrcode';
import { useState, type FormEvent } from 'react';

import { Note } from '../../ui/badge.tsx';
import { Button, buttonStyle } from '../../ui/button.tsx';
import { CallFailure } from '../../ui/call.ts';
import { CodeBlock } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/field.tsx';
import { formatBirr } from '../../ui/format.ts';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { StatusBadge } from '../../ui/transaction-state.tsx';
import { useChange, useRead, type CreatedSession } from '../routes.ts';
import { text } from './new-payment-text.ts';

const LOOK_EVERY_MS = 3_000;
const BIRR = /^\d{1,12}(\.\d{1,2})?$/;

/** Creates a checkout session, then shows its link and QR code until it is paid. */
export function NewPayment({ onClose }: { onClose: () => void }) {
  const [session, setSession] = useState<CreatedSession | null>(null);
  return (
    <Dialog title={session ? session.checkoutOrderNo : text.title} onClose={onClose}>
      {session ? <Created session={session} /> : <Form onCreated={setSession} onClose={onClose} />}
    </Dialog>
  );
}

const newOrderNo = (): string => `PORTAL-${Date.now().toString(36).toUpperCase()}`;

function Form({ onCreated, onClose }: { onCreated: (session: CreatedSession) => void; onClose: () => void }) {
  const [fields, setFields] = useState(() => ({
    checkoutOrderNo: newOrderNo(),
    amount: '',
    customerName: '',
    customerPhone: '',
  }));
  const [isTried, setTried] = useState(false);
  const createSession = useChange('POST /api/checkout/sessions');
  const details = createSession.error instanceof CallFailure ? createSession.error.details : [];
  const issueOf = (name: string) => details.find(({ field }) => field === name)?.issue;
  const isAmount = BIRR.test(fields.amount) && Number(fields.amount) > 0;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (!isAmount || fields.checkoutOrderNo === '') return;
    const { amount, ...texts } = fields;
    const given = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== ''));
    createSession.mutate(
      { body: { ...given, amount: Number(amount), currency: 'ETB', type: 'QRCODE' } },
      { onSuccess: ({ data }) => onCreated(data) },
    );
  };
  const field = (name: keyof typeof fields) => ({
    label: text[name],
    value: fields[name],
    maxLength: 64,
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  });
  return (
    <form noValidate onSubmit={submit} className="flex flex-col gap-3">
      <p className="text-quiet">{text.intro}</p>
      <TextField
        {...field('amount')}
        isRequired
        inputMode="decimal"
        error={isTried && !isAmount ? text.wrongAmount : issueOf('amount')}
      />
      <TextField
        {...field('checkoutOrderNo')}
        isRequired
        hint={text.orderHint}
        error={isTried && fields.checkoutOrderNo === '' ? kit.fillIn : issueOf('checkoutOrderNo')}
      />
      <TextField {...field('customerName')} error={issueOf('customerName')} />
      <TextField {...field('customerPhone')} type="tel" error={issueOf('customerPhone')} />
      {createSession.error && <Failed error={createSession.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{kit.cancel}</Button>
        <Button type="submit" kind="primary" isBusy={createSession.isPending}>
          {text.create}
        </Button>
      </div>
    </form>
  );
}

function Created({ session }: { session: CreatedSession }) {
  const { sessionId, checkoutUrl, amount, expiresAt, transactionId } = session;
  const endpoint = 'GET /api/checkout/sessions/:sessionId';
  const query = useRead(endpoint, { params: { sessionId } }, { everyMs: LOOK_EVERY_MS });
  const status = query.data?.data.transactionStatus ?? session.transactionStatus;
  return (
    <div className="flex flex-col gap-4">
      <Facts
        rows={{
          [text.amount]: `${formatBirr(amount)} ETB`,
          [text.status]: (
            <span role="status">
              <StatusBadge status={status} />
            </span>
          ),
          [text.validUntil]: <Time at={expiresAt} />,
        }}
      />
      {status === 'PENDING' ? (
        <>
          <QrCode value={checkoutUrl} />
          <CodeBlock value={checkoutUrl} name={text.link} />
        </>
      ) : (
        <Note tone={status === 'SUCCESS' ? 'good' : 'warn'}>{status === 'SUCCESS' ? text.paid : text.over}</Note>
      )}
      <div className="flex flex-wrap gap-2">
        {status === 'PENDING' && (
          <a href={checkoutUrl} target="_blank" rel="noreferrer" className={buttonStyle('primary')}>
            {text.openPage}
          </a>
        )}
        <Link to="/transactions/$transactionId" params={{ transactionId }} className={buttonStyle()}>
          {text.toTransaction}
        </Link>
      </div>
    </div>
  );
}

const QUIET_MODULES = 4;

/** A QR code as one path, black on white in every scheme: cameras expect it so. */
function QrCode({ value }: { value: string }) {
  const { modules } = create(value, { errorCorrectionLevel: 'M' });
  const side = modules.size + 2 * QUIET_MODULES;
  const squares = Array.from(modules.data, (isDark, index) =>
    isDark
      ? `M${(index % modules.size) + QUIET_MODULES} ${Math.floor(index / modules.size) + QUIET_MODULES}h1v1h-1z`
      : '',
  );
  return (
    <svg
      role="img"
      aria-label={text.qr}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
      className="mx-auto w-56 rounded-md bg-white"
    >
      <path d={squares.join('')} fill="#000" />
    </svg>
  );
}
