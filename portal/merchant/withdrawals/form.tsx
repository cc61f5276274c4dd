import { useDeferredValue, useState, type ReactNode } from 'react';

import { BANKS } from '../../../src/lib/banks.ts';
import { CHANNELS, type Channel } from '../../../src/merchants/channels/channel.ts';
import { issueOf, isWrongIn } from '../../ui/api-text.tsx';
import { Note } from '../../ui/badge.tsx';
import { CHANNEL_VALUES } from '../../ui/channel-text.ts';
import { Failed } from '../../ui/feedback.tsx';
import { Choice, SelectField, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { birr } from '../../ui/format.ts';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { Price, text as shared, typedBirr } from '../quote.tsx';
import { useChange, useRead } from '../routes.ts';
import { text } from './text.ts';

type Kind = 'phone' | 'bank';
type Values = { kind: Kind } & Record<
  'requestId' | 'amount' | 'phone' | 'bankCode' | 'accountNumber' | 'accountName' | 'reason',
  string
>;

const newValues = (): Values => ({
  kind: 'phone',
  requestId: `W-${crypto.randomUUID().slice(0, 13)}`,
  amount: '',
  phone: '',
  bankCode: 'CBE',
  accountNumber: '',
  accountName: '',
  reason: '',
});

/** The chosen kind of beneficiary, or the only one that the channel pays. */
const kindOf = ({ kind }: Values, kinds: readonly Kind[]): Kind => (kinds.includes(kind) ? kind : (kinds[0] ?? kind));

type Payment = { channel: Channel; amount: number; kinds: readonly Kind[] };

/** The body of the request. */
function bodyOf(values: Values, { channel, amount, kinds }: Payment) {
  const { requestId, accountName, phone, bankCode, accountNumber, reason } = values;
  const account = kindOf(values, kinds) === 'phone' ? { phone } : { bankCode, accountNumber };
  return { requestId, amount, channel, destination: { ...account, accountName }, ...(reason && { reason }) };
}

type Field = Exclude<keyof Values, 'kind' | 'bankCode' | 'reason'>;

/** The names of fields in the API. */
const API_FIELDS: Readonly<Record<Field, string>> = {
  requestId: 'requestId',
  amount: 'amount',
  phone: 'destination.phone',
  accountNumber: 'destination.accountNumber',
  accountName: 'destination.accountName',
};

/** The fields without which there is nothing to send. */
const neededOf = (kind: Kind): readonly Field[] => [
  'requestId',
  kind === 'phone' ? 'phone' : 'accountNumber',
  'accountName',
];

/** A new withdrawal: limits, fee and problems stand beside the amount while it is typed. */
export function WithdrawalForm({ onClose }: { onClose: () => void }) {
  const limits = useRead('GET /api/checkout/limits', {});
  const [channel, setChannel] = useState<Channel>(CHANNELS[0]);
  const [values, setValues] = useState(newValues);
  const [isTried, setTried] = useState(false);
  const create = useChange('POST /api/checkout/withdrawal');
  const amount = typedBirr(values.amount);
  const ofChannel = limits.data?.data.find((one) => one.channel === channel);
  const kinds = ofChannel?.payoutTo ?? ['phone'];
  const set = (changes: Partial<Values>): void => setValues({ ...values, ...changes });
  const isEmpty = (name: Field): boolean => values[name].trim() === '';
  const problems = Object.fromEntries(
    Object.entries(API_FIELDS).map(([name, field]) => [
      name,
      isTried && isEmpty(name as Field) ? kit.fillIn : issueOf(create.error, field),
    ]),
  ) as Problems;
  const submit = (): void => {
    setTried(true);
    if (amount === undefined || neededOf(kindOf(values, kinds)).some(isEmpty)) return;
    const body = bodyOf(values, { channel, amount, kinds });
    create.mutate({ body }, { onSuccess: () => (onClose(), toast(text.requested)) });
  };
  const paying = (limits.data?.data ?? []).filter(({ payoutTo }) => payoutTo.length > 0).map((one) => one.channel);
  return (
    <FormDialog
      title={text.newWithdrawal}
      action={text.request}
      change={create}
      isErrorBeside={isWrongIn(create.error, ['amount', ...Object.values(API_FIELDS)])}
      isDisabled={amount === undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Choice
        label={text.channel}
        value={channel}
        options={CHANNEL_VALUES.filter(([one]) => paying.includes(one))}
        onChange={setChannel}
      />
      {ofChannel && <LimitLine limits={ofChannel.payOut} />}
      <TextField
        label={shared.amount}
        hint={text.amountHelp}
        inputMode="decimal"
        isRequired
        value={values.amount}
        error={values.amount !== '' && amount === undefined ? kit.wrongAmount : issueOf(create.error, 'amount')}
        onChange={(event) => set({ amount: event.target.value })}
      />
      <QuoteOf channel={channel} amount={amount} />
      <Destination kinds={kinds} values={values} problems={problems} onChange={set} />
      <References values={values} problems={problems} onChange={set} />
      <p className="text-quiet">{text.reviewed}</p>
    </FormDialog>
  );
}

type Problems = Readonly<Record<Field, ReactNode>>;
type PartProps = { values: Values; problems: Problems; onChange: (changes: Partial<Values>) => void };

function References({ values, problems, onChange }: PartProps) {
  return (
    <>
      <TextField
        label={text.reason}
        maxLength={200}
        value={values.reason}
        onChange={(event) => onChange({ reason: event.target.value })}
      />
      <TextField
        label={shared.requestId}
        isRequired
        maxLength={64}
        value={values.requestId}
        error={problems.requestId}
        onChange={(event) => onChange({ requestId: event.target.value })}
      />
    </>
  );
}

type PayOut = { min: number; max: number; remainingToday: number | null };

/** What the amount may be, before anything is typed. */
function LimitLine({ limits: { min, max, remainingToday } }: { limits: PayOut }) {
  const left = remainingToday !== null && kit.about(text.leftToday, birr(remainingToday));
  return <p className="text-quiet">{[`${birr(min)} – ${birr(max)}`, left].filter(Boolean).join(' · ')}</p>;
}

function QuoteOf({ channel, amount }: { channel: Channel; amount: number | undefined }) {
  const wanted = useDeferredValue(amount);
  const quote = useRead(
    'GET /api/checkout/withdrawal/quote',
    { query: { channel, amount: wanted } },
    { enabled: wanted !== undefined },
  );
  if (wanted === undefined) return <p className="text-quiet">{text.typeAmount}</p>;
  if (quote.error) return <Failed error={quote.error} />;
  if (!quote.data) return null;
  return (
    <>
      <Price quote={quote.data.data} />
      {quote.data.data.needsSecondPerson && <Note tone="info">{text.secondPersonNeeded}</Note>}
    </>
  );
}

/** The beneficiary: a wallet or a bank account, as the channel pays. */
function Destination({ kinds, values, problems, onChange }: PartProps & { kinds: readonly Kind[] }) {
  const kind = kindOf(values, kinds);
  return (
    <>
      {kinds.length > 1 && (
        <Choice
          label={text.to}
          value={kind}
          options={[
            ['phone', text.toPhone],
            ['bank', text.toBank],
          ]}
          onChange={(chosen) => onChange({ kind: chosen })}
        />
      )}
      {kind === 'phone' ? (
        <TextField
          label={text.phone}
          hint={text.phoneHelp}
          type="tel"
          isRequired
          maxLength={20}
          value={values.phone}
          error={problems.phone}
          onChange={(event) => onChange({ phone: event.target.value })}
        />
      ) : (
        <>
          <SelectField
            label={text.bank}
            isRequired
            choices={Object.entries(BANKS)}
            value={values.bankCode}
            onChange={(event) => onChange({ bankCode: event.target.value })}
          />
          <TextField
            label={text.accountNumber}
            inputMode="numeric"
            isRequired
            maxLength={20}
            value={values.accountNumber}
            error={problems.accountNumber}
            onChange={(event) => onChange({ accountNumber: event.target.value })}
          />
        </>
      )}
      <TextField
        label={text.accountName}
        isRequired
        maxLength={100}
        value={values.accountName}
        error={problems.accountName}
        onChange={(event) => onChange({ accountName: event.target.value })}
      />
    </>
  );
}
