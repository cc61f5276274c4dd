import { useState } from 'react';

import { Loaded } from '../../ui/feedback.tsx';
import { SecretDialog } from '../../ui/form.tsx';
import { catalogue } from '../../ui/language.ts';
import { Page } from '../../ui/page.tsx';
import { CommandButton } from '../command-button.tsx';
import { Actions } from '../parts.tsx';
import { useRead } from '../routes.ts';
import { text as shared } from '../text.ts';
import { KeyList } from './key-list.tsx';

const text = catalogue({
  key: ['Key', 'ቁልፍ'],
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
              <KeyList
                label={shared.ownKeys}
                keys={rows}
                actions={({ keyId }, of) => (
                  <Actions>
                    <CommandButton
                      name="operator-key.rotate"
                      of={of}
                      address={`${PATH}/${keyId}/rotate`}
                      onDone={showSecret}
                    />
                    <CommandButton name="own-key.revoke" of={of} address={`${PATH}/${keyId}/revoke`} />
                  </Actions>
                )}
              />
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
