import { useState } from 'react';

import { BANKS, type BankCode } from '../../../src/lib/banks.ts';
import { ApiText } from '../../ui/api-text.tsx';
import { Badge, Note, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CallFailure } from '../../ui/call.ts';
import { environment } from '../../ui/environment.ts';
import { Facts } from '../../ui/facts.tsx';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { formatInstant } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { useMember } from '../member.ts';
import { useChange, useRead, type BankAccount } from '../routes.ts';
import { text } from './text.ts';

const isNotLinked = (error: unknown): boolean => error instanceof CallFailure && error.code === 'NOT_FOUND';

/** The account that settlements go to, its verification, and its replacement. */
export function BankAccountPage() {
  const { whyNot } = useMember();
  const [isLinking, setLinking] = useState(false);
  const read = useRead('GET /api/checkout/bank-account', {}, { everyMs: REFRESH_MS });
  const isEmpty = isNotLinked(read.error);
  const account = isEmpty ? undefined : read.data?.data;
  const link = (
    <Button kind="primary" whyNot={whyNot('bank:write')} onClick={() => setLinking(true)}>
      {account ? text.change : text.link}
    </Button>
  );
  return (
    <Page title={text.title} actions={account && link}>
      <p className="mb-4 text-quiet">{text.intro}</p>
      <div className="card max-w-3xl">
        {isEmpty ? (
          <Empty title={text.none}>
            <p>{text.noneHelp}</p>
            {link}
          </Empty>
        ) : (
          <Loaded query={read} skeletonRows={6} whyNot={whyNot('bank:read')}>
            {({ data }) => <Account account={data} />}
          </Loaded>
        )}
      </div>
      {isLinking && <LinkDialog isReplacement={account !== undefined} onClose={() => setLinking(false)} />}
    </Page>
  );
}

const TONES: Record<BankAccount['status'], Tone> = { PENDING: 'info', VERIFIED: 'good', REJECTED: 'bad' };

const isLater = (at: string): boolean => new Date(at) > new Date();

function Account({ account }: { account: BankAccount }) {
  const { status, rejectionReason, usableFrom, verifiedAt, linkedAt } = account;
  const isHeld = status !== 'REJECTED' && isLater(usableFrom);
  return (
    <div className="flex flex-col gap-4 p-4">
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="text-base font-semibold">{account.bankName}</h2>
        <Badge tone={TONES[status]}>{text[status]}</Badge>
      </div>
      {status === 'REJECTED' && (
        <Note tone="bad">
          {text.rejectedBecause} <ApiText text={rejectionReason ?? ''} /> {text.rejectedHelp}
        </Note>
      )}
      {status === 'PENDING' && <Note tone="info">{text.pendingHelp}</Note>}
      {isHeld && <Note tone="warn">{text.held(formatInstant(usableFrom))}</Note>}
      {status === 'VERIFIED' && !isHeld && <p>{text.verifiedHelp}</p>}
      <Facts
        rows={{
          [text.accountNumber]: <span className="font-mono">{account.accountNumber}</span>,
          [text.accountName]: account.accountName,
          [text.linkedAt]: <Time at={linkedAt} />,
          [text.verifiedAt]: verifiedAt && <Time at={verifiedAt} />,
          [text.usableFrom]: isHeld && <Time at={usableFrom} />,
        }}
      />
    </div>
  );
}

const RULES = { bankCode: kit.fillIn, accountNumber: text.numberRule, accountName: text.nameRule };
type FieldName = keyof typeof RULES;
const EMPTY: Record<FieldName, string> = { bankCode: '', accountNumber: '', accountName: '' };

/** Links an account in the place of the present one. */
function LinkDialog({ isReplacement, onClose }: { isReplacement: boolean; onClose: () => void }) {
  const [values, setValues] = useState(EMPTY);
  const [isTried, setTried] = useState(false);
  const link = useChange('PUT /api/checkout/bank-account');
  const wrong = link.error instanceof CallFailure ? link.error.details.map(({ field }) => field) : [];
  const isComplete = Object.values(values).every((value) => value.trim() !== '');
  const control = (name: FieldName) => ({
    isRequired: true,
    value: values[name],
    error: wrong.includes(name)
      ? `${kit.notAccepted} ${RULES[name]}`
      : isTried && values[name].trim() === ''
        ? kit.fillIn
        : undefined,
    onChange: (event: { target: { value: string } }) => setValues({ ...values, [name]: event.target.value }),
  });
  const send = (): void => {
    setTried(true);
    if (!isComplete) return;
    const body = {
      ...values,
      accountNumber: values.accountNumber.replaceAll(/\s/g, ''),
      accountName: values.accountName.trim(),
    };
    link.mutate({ body }, { onSuccess: () => (onClose(), toast(text.linked)) });
  };
  return (
    <FormDialog
      title={isReplacement ? text.change : text.link}
      action={text.link}
      change={link}
      isErrorBeside={wrong.length > 0}
      onSubmit={send}
      onClose={onClose}
    >
      {isReplacement && <p>{text.replaces}</p>}
      <Note tone={environment === 'live' ? 'warn' : 'info'}>{environment === 'live' ? text.holds : text.testOnly}</Note>
      <SelectField
        label={text.bank}
        {...control('bankCode')}
        choices={[['', text.chooseBank], ...(Object.entries(BANKS) as [BankCode, string][])]}
      />
      <TextField label={text.accountNumber} hint={text.numberRule} inputMode="numeric" {...control('accountNumber')} />
      <TextField label={text.accountName} hint={text.nameRule} maxLength={100} {...control('accountName')} />
    </FormDialog>
  );
}
