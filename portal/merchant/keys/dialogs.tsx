import { useState, type FormEvent } from 'react';

import { Button } from '../../ui/button.tsx';
import { CallFailure } from '../../ui/call.ts';
import { CodeBlock } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { Check, Choice, TextField } from '../../ui/field.tsx';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { useChange, type Key } from '../routes.ts';
import { text } from './text.ts';

type Scope = Key['scopes'][number];
const SCOPES: Readonly<Record<Scope, true>> = {
  'transactions:read': true,
  'checkout:read': true,
  'checkout:write': true,
  'webhooks:read': true,
  'webhooks:write': true,
  'channels:read': true,
  'channels:write': true,
  'balance:read': true,
  'withdrawals:read': true,
  'withdrawals:write': true,
  'reports:read': true,
  'reports:write': true,
  'settlements:read': true,
  'settlements:write': true,
  'bank:write': true,
  'kyc:write': true,
  'requests:read': true,
};
const SCOPE_NAMES = Object.keys(SCOPES) as Scope[];

const LIFETIMES = [
  ['', text.never],
  ['30', text.days(30)],
  ['90', text.days(90)],
  ['365', text.days(365)],
] as const;

type OnSecret = { onClose: () => void; onSecret: (secret: string) => void };
const NEW = { name: '', addresses: '', days: '' as (typeof LIFETIMES)[number][0], scopes: null as Scope[] | null };

/** Creates a key. */
export function NewKeyDialog({ onClose, onSecret }: OnSecret) {
  const [values, setValues] = useState(NEW);
  const { name, addresses, days, scopes } = values;
  const create = useChange('POST /api/portal/keys');
  const wrong = create.error instanceof CallFailure ? create.error.details.map(({ field }) => field) : [];
  const isWrongAddress = wrong.some((field) => field.startsWith('ipRanges'));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (scopes?.length === 0) return;
    const ipRanges = addresses.split(',').map((one) => one.trim());
    const body = {
      name: name.trim(),
      ...(scopes && { scopes }),
      ...(addresses.trim() !== '' && { ipRanges }),
      ...(days !== '' && { days: Number(days) }),
    };
    create.mutate({ body }, { onSuccess: ({ data }) => (onClose(), onSecret(data.secret)) });
  };
  return (
    <Dialog title={text.newKey} onClose={onClose}>
      <form noValidate className="flex flex-col gap-3" onSubmit={submit}>
        <TextField
          label={text.name}
          hint={text.nameHint}
          maxLength={100}
          value={name}
          onChange={({ target }) => setValues({ ...values, name: target.value })}
        />
        <Scopes chosen={scopes} onChange={(chosen) => setValues({ ...values, scopes: chosen })} />
        <TextField
          label={text.addresses}
          hint={text.addressesHint}
          value={addresses}
          error={isWrongAddress ? text.wrongAddresses : undefined}
          onChange={({ target }) => setValues({ ...values, addresses: target.value })}
        />
        <Choice
          label={text.expiry}
          options={LIFETIMES}
          value={days}
          onChange={(wanted) => setValues({ ...values, days: wanted })}
        />
        {create.error && !isWrongAddress && <Failed error={create.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{kit.cancel}</Button>
          <Button type="submit" kind="primary" isBusy={create.isPending}>
            {text.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type ScopesProps = { chosen: Scope[] | null; onChange: (chosen: Scope[] | null) => void };

/** Everything (null), or some scopes. */
function Scopes({ chosen, onChange }: ScopesProps) {
  return (
    <>
      <Choice
        label={text.access}
        options={[
          ['all', text.allAccess],
          ['some', text.someAccess],
        ]}
        value={chosen === null ? 'all' : 'some'}
        onChange={(value) => onChange(value === 'all' ? null : [])}
      />
      {chosen && (
        <div className="grid rounded-md border border-line p-2 sm:grid-cols-2">
          {SCOPE_NAMES.map((scope) => (
            <Check
              key={scope}
              label={<code className="font-mono text-xs">{scope}</code>}
              isChecked={chosen.includes(scope)}
              onChange={(isChecked) => onChange(isChecked ? [...chosen, scope] : chosen.filter((one) => one !== scope))}
            />
          ))}
        </div>
      )}
      {chosen?.length === 0 && <p className="text-xs font-medium text-bad">{text.chooseOne}</p>}
    </>
  );
}

const OVERLAPS = [
  ['0', text.overlap0],
  ['1', text.overlap1],
  ['24', text.overlap24],
  ['168', text.overlap168],
] as const;

/** Asks for how long the old key works as well, then creates its successor. */
export function RotateDialog({ apiKey: { keyId, key }, onClose, onSecret }: OnSecret & { apiKey: Key }) {
  const [hours, setHours] = useState<(typeof OVERLAPS)[number][0]>('24');
  const rotate = useChange('POST /api/portal/keys/:keyId/rotate');
  const confirm = (): void =>
    rotate.mutate(
      { params: { keyId }, body: { overlapHours: Number(hours) } },
      { onSuccess: ({ data }) => (onClose(), onSecret(data.secret)) },
    );
  return (
    <Dialog title={text.rotateTitle} onClose={onClose}>
      <p>
        <code className="font-mono">{key}</code>
      </p>
      <p>{text.rotateHelp}</p>
      <Choice label={text.overlap} options={OVERLAPS} value={hours} onChange={setHours} />
      {rotate.error && <Failed error={rotate.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{kit.cancel}</Button>
        <Button kind="primary" isBusy={rotate.isPending} onClick={confirm}>
          {text.rotate}
        </Button>
      </div>
    </Dialog>
  );
}

/** Asks, then ends a key. */
export function RevokeDialog({ apiKey: { keyId, key, name }, onClose }: { apiKey: Key; onClose: () => void }) {
  const revoke = useChange('POST /api/portal/keys/:keyId/revoke');
  const confirm = (): void =>
    revoke.mutate({ params: { keyId } }, { onSuccess: () => (onClose(), toast(text.isRevoked)) });
  return (
    <Dialog title={text.revokeTitle} onClose={onClose}>
      <p>
        {name} <code className="font-mono">{key}</code>
      </p>
      <p>{text.revokeHelp}</p>
      {revoke.error && <Failed error={revoke.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{kit.cancel}</Button>
        <Button kind="danger" isBusy={revoke.isPending} onClick={confirm}>
          {text.revoke}
        </Button>
      </div>
    </Dialog>
  );
}

/** A key, which the API returns only once, with a call to try it. */
export function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  const { apiUrl } = useMember();
  const call = `curl -H "x-api-key: ${secret}" "${apiUrl}/api/checkout/channels"`;
  return (
    <Dialog title={text.secretTitle} onClose={onClose}>
      <p>{text.secretHelp}</p>
      <CodeBlock value={secret} name={text.secret} />
      <h3 className="font-medium">{text.tryIt}</h3>
      <CodeBlock value={call} name={text.tryIt} />
      <Button kind="primary" onClick={onClose}>
        {text.stored}
      </Button>
    </Dialog>
  );
}
