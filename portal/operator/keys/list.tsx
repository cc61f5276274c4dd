import { useState } from 'react';

import { Loaded } from '../../ui/feedback.tsx';
import { SecretDialog } from '../../ui/form.tsx';
import { catalogue } from '../../ui/language.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { Actions, KeyState } from '../parts.tsx';
import { useRead, type OwnKey } from '../routes.ts';
import { text as shared } from '../text.ts';

const text = catalogue({
  name: ['Name', 'ስም'],
  key: ['Key', 'ቁልፍ'],
  createdAt: ['Created at', 'የተፈጠረበት ጊዜ'],
  expiresAt: ['Expires at', 'የሚያበቃበት ጊዜ'],
  lastUsedAt: ['Last used', 'መጨረሻ ጥቅም ላይ የዋለው'],
  never: ['never', 'አያውቅም'],
  actions: ['Commands', 'ትዕዛዞች'],
  none: ['You have no key. One is needed for the command line (meskot).', 'ቁልፍ የለዎትም። ለትዕዛዝ መስመር (meskot) ያስፈልጋል።'],
  newKey: ['Your new key', 'አዲሱ ቁልፍዎ'],
  newKeyHelp: ['Store it now: it is shown only once.', 'አሁን ያስቀምጡት፦ አንድ ጊዜ ብቻ ይታያል።'],
});

const PATH = '/api/ops/keys';

/** The operator's own keys. A secret is shown once, when its key is created. */
export function OwnKeys() {
  const [secret, setSecret] = useState<string | null>(null);
  const keys = useRead(`GET ${PATH}`, {});
  const showSecret = (data: unknown): void => setSecret((data as { secret: string }).secret);
  const columns: readonly Column<OwnKey>[] = [
    { header: text.name, cell: ({ name, keyId }) => name || keyId },
    { header: text.key, narrow: 'none', cell: ({ key }) => <code className="font-mono text-xs">{key}</code> },
    { header: shared.status, narrow: 'second', cell: (row) => <KeyState of={row} /> },
    { header: text.createdAt, narrow: 'none', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: text.expiresAt, cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : text.never) },
    { header: text.lastUsedAt, cell: (row) => (row.lastUsedAt ? <Time at={row.lastUsedAt} /> : text.never) },
    {
      header: text.actions,
      cell: ({ keyId, name, revokedAt }) =>
        revokedAt === null && (
          <Actions>
            <CommandButton
              name="operator-key.rotate"
              of={name || keyId}
              address={`${PATH}/${keyId}/rotate`}
              onDone={showSecret}
            />
            <CommandButton name="own-key.revoke" of={name || keyId} address={`${PATH}/${keyId}/revoke`} />
          </Actions>
        ),
    },
  ];
  return (
    <Page
      title={shared.ownKeys}
      actions={<CommandButton name="operator-key.create" address={PATH} onDone={showSecret} />}
    >
      <div className="card">
        <Loaded query={keys}>
          {({ data: rows }) =>
            rows.length === 0 ? (
              <p className="p-4 text-quiet">{text.none}</p>
            ) : (
              <List label={shared.ownKeys} columns={columns} rows={rows} idOf={({ keyId }) => keyId} />
            )
          }
        </Loaded>
      </div>
      {secret !== null && (
        <SecretDialog
          title={text.newKey}
          help={text.newKeyHelp}
          name={text.key}
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
    </Page>
  );
}
