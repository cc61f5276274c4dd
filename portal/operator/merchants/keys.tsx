import { useState } from 'react';

import { environment } from '../../ui/environment.ts';
import { Fold } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { List, type Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { KEY_KINDS } from '../codes.ts';
import { CommandButton } from '../command-button.tsx';
import { Actions, KeyState } from '../parts.tsx';
import { useRead, type MerchantKey } from '../routes.ts';
import { TokenDialog, tokenOf } from '../token-dialog.tsx';
import { text } from './text.ts';

/** The keys of a merchant in this environment, and invitations to create one: no operator sees a key. */
export function Keys({ merchantId }: { merchantId: string }) {
  const [token, setToken] = useState<string | null>(null);
  const path = `/api/ops/merchants/${merchantId}`;
  const showToken = (data: unknown): void => setToken(tokenOf(data));
  const query = useRead('GET /api/ops/merchants/:merchantId/keys', { params: { merchantId }, query: { environment } });
  const columns: readonly Column<MerchantKey>[] = [
    { header: text.name, cell: ({ name, keyId }) => name || keyId },
    { header: text.key, cell: ({ key }) => <code className="font-mono text-xs">{key}</code> },
    { header: text.keyKind, narrow: 'none', cell: ({ kind }) => KEY_KINDS[kind] },
    { header: text.state, narrow: 'second', cell: (row) => <KeyState of={row} /> },
    { header: text.lastUsedAt, cell: (row) => (row.lastUsedAt ? <Time at={row.lastUsedAt} /> : text.never) },
    {
      header: text.actions,
      cell: ({ keyId, name, revokedAt, rotatedTo }) =>
        revokedAt === null && (
          <Actions>
            <CommandButton
              name="key.invite-rotation"
              of={name || keyId}
              address={rotatedTo === null ? `${path}/keys/${keyId}/rotate` : undefined}
              onDone={showToken}
            />
            <CommandButton name="key.revoke" of={name || keyId} address={`${path}/keys/${keyId}/revoke`} />
          </Actions>
        ),
    },
  ];
  return (
    <Fold
      title={text.keys}
      actions={
        <CommandButton
          name="key.invite"
          address={`${path}/key-invitations`}
          body={{ environment }}
          onDone={showToken}
        />
      }
    >
      <Loaded query={query} skeletonRows={2}>
        {({ data: keys }) =>
          keys.length === 0 ? (
            <p className="text-quiet">{text.noKeys}</p>
          ) : (
            <List label={text.keys} columns={columns} rows={keys} idOf={({ keyId }) => keyId} />
          )
        }
      </Loaded>
      <TokenDialog token={token} onClose={() => setToken(null)} />
    </Fold>
  );
}
