import { useState } from 'react';

import { Button } from '../button.tsx';
import { Panel } from '../facts.tsx';
import { Failed, Loaded } from '../feedback.tsx';
import { TextField } from '../field.tsx';
import { FormDialog } from '../form.tsx';
import { List, type Column } from '../list.tsx';
import { Time } from '../time.tsx';
import { toast } from '../toast.tsx';
import { createPasskey, HAS_PASSKEYS } from './device.ts';
import { useChange, useRead, type Passkey } from './routes.ts';
import { text } from './text.ts';

/** The person's passkeys. */
export function Passkeys() {
  const security = useRead('GET /api/portal/security', {});
  const passkeys = useRead('GET /api/portal/security/passkeys', {});
  const remove = useChange('POST /api/portal/security/passkeys/:passkeyId/remove');
  const [isAdding, setAdding] = useState(false);
  const columns: readonly Column<Passkey>[] = [
    { header: text.passkeyName, cell: ({ name }) => name },
    { header: text.lastUsed, cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : '–') },
    { header: text.addedAt, narrow: 'none', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      header: text.removePasskey,
      narrow: 'second',
      cell: ({ passkeyId, name }) => (
        <Button
          isBusy={remove.isPending}
          aria-label={text.removePasskeyLabel(name)}
          onClick={() => remove.mutate({ params: { passkeyId } }, { onSuccess: () => toast(text.passkeyRemoved) })}
        >
          {text.removePasskey}
        </Button>
      ),
    },
  ];
  const isOff = security.data?.data.twoFactorSince === null;
  const whyNot = isOff ? text.passkeysNeed : HAS_PASSKEYS ? undefined : text.passkeysUnknown;
  return (
    <Panel
      title={text.passkeys}
      actions={
        <Button whyNot={whyNot} onClick={() => setAdding(true)}>
          {text.addPasskey}
        </Button>
      }
    >
      <p className="text-quiet">{text.passkeysHelp}</p>
      {remove.error && <Failed error={remove.error} />}
      <Loaded query={passkeys} skeletonRows={1}>
        {({ data }) =>
          data.length === 0 ? (
            <p>{text.noPasskeys}</p>
          ) : (
            <List label={text.passkeys} columns={columns} rows={data} idOf={({ passkeyId }) => passkeyId} />
          )
        }
      </Loaded>
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
    </Panel>
  );
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const begin = useChange('POST /api/portal/security/passkeys/options');
  const add = useChange('POST /api/portal/security/passkeys');
  const [name, setName] = useState('');
  const [isRefused, setRefused] = useState(false);
  const submit = async (): Promise<void> => {
    setRefused(false);
    const { data: options } = await begin.mutateAsync({});
    const passkey = await createPasskey(options);
    if (!passkey) return setRefused(true);
    await add.mutateAsync({ body: { name: name.trim(), ...passkey } });
    toast(text.passkeyAdded);
    onClose();
  };
  return (
    <FormDialog
      title={text.addPasskey}
      action={text.goOn}
      isDisabled={name.trim() === ''}
      change={{ error: begin.error ?? add.error, isPending: begin.isPending || add.isPending }}
      // What failed is shown by the form.
      onSubmit={() => void submit().catch(() => {})}
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
