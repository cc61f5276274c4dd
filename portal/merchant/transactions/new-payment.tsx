import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { issueOf, isWrongIn } from '../../ui/api-text.tsx';
import { Note } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { birr } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import { QrCode } from '../../ui/qr-code.tsx';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { StatusBadge } from '../../ui/transaction-state.tsx';
import { typedBirr } from '../quote.tsx';
import { useChange, useRead, type CreatedSession, type Session } from '../routes.ts';

const text = catalogue({
  title: ['New payment', 'አዲስ ክፍያ'],
  intro: ['Creates a link and a QR code that your customer pays with.', 'ደንበኛዎ የሚከፍልበትን አገናኝና የQR ኮድ ይፈጥራል።'],
  amount: ['Amount (ETB)', 'መጠን (ብር)'],
  checkoutOrderNo: ['Checkout Order No', 'የትዕዛዝ ቁጥር'],
  orderHint: ['Your own reference; each can be used once.', 'የራስዎ ማጣቀሻ፤ እያንዳንዱ አንድ ጊዜ ብቻ ያገለግላል።'],
  customerName: ['Customer', 'ደንበኛ'],
  customerPhone: ['Phone of the customer', 'የደንበኛው ስልክ'],
  create: ['Create', 'ይፍጠሩ'],
  status: ['Status', 'ሁኔታ'],
  validUntil: ['Valid until', 'የሚያገለግለው እስከ'],
  page: ['Payment page', 'የክፍያ ገጽ'],
  qr: ['QR code of the payment page', 'የክፍያ ገጹ QR ኮድ'],
  link: ['Link to the payment page', 'የክፍያ ገጹ አገናኝ'],
  openPage: ['Open the payment page', 'የክፍያ ገጹን ይክፈቱ'],
  toTransaction: ['Its transaction', 'ግብይቱ'],
  paid: ['It is paid.', 'ተከፍሏል።'],
  over: ['It has ended without a payment.', 'ሳይከፈል አብቅቷል።'],
});

const LOOK_EVERY_MS = 3_000;

/** Creates a checkout session, then shows its link and QR code until it is paid. */
export function NewPayment({ onClose }: { onClose: () => void }) {
  const [session, setSession] = useState<CreatedSession | null>(null);
  return (
    <Dialog title={session ? session.checkoutOrderNo : text.title} onClose={onClose}>
      {session ? <Created session={session} /> : <PaymentForm onCreated={setSession} onClose={onClose} />}
    </Dialog>
  );
}

const newOrderNo = (): string => `PORTAL-${Date.now().toString(36).toUpperCase()}`;

function PaymentForm({ onCreated, onClose }: { onCreated: (session: CreatedSession) => void; onClose: () => void }) {
  const [fields, setFields] = useState(() => ({
    checkoutOrderNo: newOrderNo(),
    amount: '',
    customerName: '',
    customerPhone: '',
  }));
  const [isTried, setTried] = useState(false);
  const createSession = useChange('POST /api/checkout/sessions');
  const issue = (name: keyof typeof fields) => issueOf(createSession.error, name);
  const amount = typedBirr(fields.amount);
  const submit = (): void => {
    setTried(true);
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
    // A wrong amount too: the API names all wrong fields at once.
    createSession.mutate(
      { body: { ...given, ...(amount !== undefined && { amount }), currency: 'ETB', type: 'QRCODE' } },
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
    <Form
      change={createSession}
      isErrorBeside={isWrongIn(createSession.error, Object.keys(fields))}
      action={text.create}
      onSubmit={submit}
      onCancel={onClose}
    >
      <p className="text-quiet">{text.intro}</p>
      <TextField
        {...field('amount')}
        isRequired
        inputMode="decimal"
        error={isTried && amount === undefined ? kit.wrongAmount : issue('amount')}
      />
      <TextField
        {...field('checkoutOrderNo')}
        isRequired
        hint={text.orderHint}
        error={isTried && fields.checkoutOrderNo === '' ? kit.fillIn : issue('checkoutOrderNo')}
      />
      <TextField {...field('customerName')} error={issue('customerName')} />
      <TextField {...field('customerPhone')} type="tel" error={issue('customerPhone')} />
    </Form>
  );
}

function Created({ session }: { session: CreatedSession }) {
  const { sessionId, amount, transactionId } = session;
  const query = useSession(sessionId, { everyMs: LOOK_EVERY_MS });
  const status = query.data?.data.transactionStatus ?? session.transactionStatus;
  return (
    <div className="flex flex-col gap-4">
      <Facts
        rows={{
          [text.amount]: birr(amount),
          [text.status]: (
            <span role="status">
              <StatusBadge status={status} />
            </span>
          ),
        }}
      />
      {status === 'PENDING' ? (
        <PaymentLink session={query.data?.data ?? session} />
      ) : (
        <Note tone={status === 'SUCCESS' ? 'good' : 'warn'}>{status === 'SUCCESS' ? text.paid : text.over}</Note>
      )}
      <div>
        <Link to="/transactions/$transactionId" params={{ transactionId }} className={buttonStyle()}>
          {text.toTransaction}
        </Link>
      </div>
    </div>
  );
}

const useSession = (sessionId: string, options?: { everyMs: number }) =>
  useRead('GET /api/checkout/sessions/:sessionId', { params: { sessionId } }, options ?? {});

/** The payment page of a transaction that waits to be paid. */
export function PaymentPageLink({ sessionId }: { sessionId: string }) {
  const session = useSession(sessionId).data?.data;
  if (!session?.checkoutUrl) return null;
  return (
    <Section title={text.page}>
      <PaymentLink session={session} />
    </Section>
  );
}

function PaymentLink({ session: { checkoutUrl, expiresAt } }: { session: Pick<Session, 'checkoutUrl' | 'expiresAt'> }) {
  if (checkoutUrl === null) return null;
  return (
    <>
      <QrCode content={checkoutUrl} label={text.qr} />
      <CodeBlock value={checkoutUrl} name={text.link} />
      <Facts rows={{ [text.validUntil]: <Time at={expiresAt} /> }} />
      <div>
        <a href={checkoutUrl} target="_blank" rel="noreferrer" className={buttonStyle('primary')}>
          {text.openPage}
        </a>
      </div>
    </>
  );
}
