import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { DialogButton } from '../dialog-button.tsx';
import { Panel } from '../facts.tsx';
import { Loaded } from '../feedback.tsx';
import { TextField } from '../field.tsx';
import { FormDialog, QuestionDialog } from '../form.tsx';
import { List, type Column } from '../list.tsx';
import { Time } from '../time.tsx';
import { toast } from '../toast.tsx';
import { createPasskey, HAS_PASSKEYS, NoPasskey } from './device.ts';
import { call, useChange, useRead, type Passkey } from './routes.ts';
import { text } from './text.ts';

const COLUMNS: readonly Column<Passkey>[] = [
  { header: text.passkeyName, cell: ({ name }) => name },
  {
    header: text.lastUsed,
    narrow: 'labelled',
    cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : '–'),
  },
  { header: text.addedAt, narrow: 'none', cell: ({ createdAt }) => <Time at={createdAt} /> },
  {
    header: text.removePasskey,
    narrow: 'second',
    cell: (passkey) => (
      <DialogButton label={text.removePasskey} aria-label={text.removePasskeyLabel(passkey.name)}>
        {(close) => <RemovePasskey passkey={passkey} onClose={close} />}
      </DialogButton>
    ),
  },
];

/** The person's passkeys. */
export function Passkeys() {
  const security = useRead('GET /api/portal/security', {});
  const passkeys = useRead('GET /api/portal/security/passkeys', {});
  const isOff = security.data?.data.twoFactorSince === null;
  const whyNot = isOff ? text.passkeysNeed : HAS_PASSKEYS ? undefined : text.passkeysUnknown;
  return (
    <Panel
      title={text.passkeys}
      actions={
        <DialogButton label={text.addPasskey} whyNot={whyNot}>
          {(close) => <AddPasskey onClose={close} />}
        </DialogButton>
      }
    >
      <p className="text-quiet">{text.passkeysHelp}</p>
      <Loaded query={passkeys} skeletonRows={1}>
        {({ data }) =>
          data.length === 0 ? (
            <p>{text.noPasskeys}</p>
          ) : (
            <List label={text.passkeys} columns={COLUMNS} rows={data} idOf={({ passkeyId }) => passkeyId} />
          )
        }
      </Loaded>
    </Panel>
  );
}

function RemovePasskey({ passkey: { passkeyId, name }, onClose }: { passkey: Passkey; onClose: () => void }) {
  return (
    <QuestionDialog
      title={text.removePasskeyLabel(name)}
      action={text.removePasskey}
      kind="danger"
      change={useChange('POST /api/portal/security/passkeys/:passkeyId/remove')}
      input={{ params: { passkeyId } }}
      done={text.passkeyRemoved}
      onClose={onClose}
    >
      <p>{text.removePasskeyHelp}</p>
    </QuestionDialog>
  );
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const add = useChange('POST /api/portal/security/passkeys');
  const creation = useMutation({
    mutationFn: async () => {
      const { data: options } = await call('POST /api/portal/security/passkeys/options', {});
      return add.mutateAsync({ body: { name: name.trim(), ...(await createPasskey(options)) } });
    },
    onSuccess: () => (onClose(), toast(text.passkeyAdded)),
  });
  const isRefused = creation.error instanceof NoPasskey;
  return (
    <FormDialog
      title={text.addPasskey}
      action={text.goOn}
      whyNot={name.trim() === '' ? text.passkeyNameFirst : undefined}
      change={creation}
      isErrorBeside={isRefused}
      onSubmit={() => creation.mutate()}
      onClose={onClose}
    >
      <TextField
        label={text.passkeyName}
        hint={text.passkeyNameRule}
        maxLength={60}
        value={name}
        error={isRefused ? text.noPasskeyMade : undefined}
        onChange={({ target }) => setName(target.value)}
      />
    </FormDialog>
  );
}
