import { useState } from 'react';

import { CallFailure } from '../../ui/call.ts';
import { CodeBlock } from '../../ui/copy.tsx';
import { Check, Choice, TextField } from '../../ui/field.tsx';
import { FormDialog, QuestionDialog, SecretDialog } from '../../ui/form.tsx';
import { text as kit } from '../../ui/text.ts';
import { useMember } from '../member.ts';
import { RotationDialog } from '../rotation-dialog.tsx';
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
  'refunds:read': true,
  'refunds:write': true,
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
  const submit = (): void => {
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
    <FormDialog
      title={text.newKey}
      action={text.create}
      change={create}
      isErrorBeside={isWrongAddress}
      onSubmit={submit}
      onClose={onClose}
    >
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
    </FormDialog>
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

/** Asks for how long the old key works as well, then creates its successor. */
export function RotateDialog({ apiKey: { keyId, key }, onClose, onSecret }: OnSecret & { apiKey: Key }) {
  const rotate = useChange('POST /api/portal/keys/:keyId/rotate');
  const confirm = (overlapHours: number): void =>
    rotate.mutate(
      { params: { keyId }, body: { overlapHours } },
      { onSuccess: ({ data }) => (onClose(), onSecret(data.secret)) },
    );
  return (
    <RotationDialog title={text.rotateTitle} action={text.rotate} change={rotate} onRotate={confirm} onClose={onClose}>
      <p>
        <code className="font-mono">{key}</code>
      </p>
      <p>{text.rotateHelp}</p>
    </RotationDialog>
  );
}

/** Ends a key after a question. */
export function RevokeDialog({ apiKey: { keyId, key, name }, onClose }: { apiKey: Key; onClose: () => void }) {
  const revoke = useChange('POST /api/portal/keys/:keyId/revoke');
  return (
    <QuestionDialog
      title={text.revokeTitle}
      action={text.revoke}
      kind="danger"
      change={revoke}
      input={{ params: { keyId } }}
      done={text.isRevoked}
      onClose={onClose}
    >
      <p>
        {name} <code className="font-mono">{key}</code>
      </p>
      <p>{text.revokeHelp}</p>
    </QuestionDialog>
  );
}

/** A key, with a call to try it. */
export function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  const { apiUrl } = useMember();
  const call = `curl -H "x-api-key: ${secret}" "${apiUrl}/api/checkout/channels"`;
  return (
    <SecretDialog title={text.secretTitle} help={kit.secretHelp} name={text.secret} secret={secret} onClose={onClose}>
      <h3 className="font-medium">{text.tryIt}</h3>
      <CodeBlock value={call} name={text.tryIt} />
    </SecretDialog>
  );
}
