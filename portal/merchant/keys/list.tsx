import { useState } from 'react';

import { Badge } from '../../ui/badge.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { environment } from '../../ui/environment.ts';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { text as frame } from '../../ui/frame-text.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { useMember } from '../member.ts';
import { useRead, type Key } from '../routes.ts';
import { text as shell } from '../text.ts';
import { NewKeyDialog, RevokeDialog, RotateDialog, SecretOnce } from './dialogs.tsx';
import { text } from './text.ts';

const isLive = environment === 'live';

/** Why the person can change no key of this environment; undefined: they can. */
function useWhyNot(): string | undefined {
  const { whyNot, merchant, twoFactor } = useMember();
  const ofRole = whyNot(isLive ? 'live-keys:write' : 'keys:write');
  if (ofRole !== undefined || !isLive) return ofRole;
  if (!merchant.liveEnabled) return text.liveClosed;
  return twoFactor.enabled ? undefined : kit.twoFactorFirst;
}

/** The API keys of this environment. */
export function Keys() {
  const { whyNot: whyNotOf, merchant, twoFactor } = useMember();
  const whyNot = useWhyNot();
  const keys = useRead('GET /api/portal/keys', {}, { everyMs: REFRESH_MS });
  const [secret, setSecret] = useState<string | null>(null);
  const create = (
    <DialogButton kind="primary" icon="plus" label={text.newKey} whyNot={whyNot}>
      {(close) => <NewKeyDialog onClose={close} onSecret={setSecret} />}
    </DialogButton>
  );
  const actions: Column<Key> = {
    header: text.actions,
    narrow: 'second',
    cell: (key) => isUsable(key) && <KeyActions apiKey={key} onSecret={setSecret} />,
  };
  const columns = whyNot === undefined ? [...COLUMNS, actions] : COLUMNS;
  return (
    <Page title={text.title} actions={create}>
      <p className="mb-4 text-quiet">
        {text.intro}{' '}
        {isLive && (!merchant.liveEnabled || !twoFactor.enabled) && (
          <a href={merchant.liveEnabled ? '/live/security' : '/test/get-started'} className="underline">
            {merchant.liveEnabled ? frame.security : shell.getStarted}
          </a>
        )}
      </p>
      <div className="card">
        <Loaded query={keys} skeletonRows={4} whyNot={whyNotOf(isLive ? 'live-keys:read' : 'keys:read')}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={text.noneYet}>{whyNot === undefined && text.noneYetHelp}</Empty>
            ) : (
              <List label={text.listLabel} columns={columns} rows={data} idOf={({ keyId }) => keyId} />
            )
          }
        </Loaded>
      </div>
      {secret !== null && <SecretOnce secret={secret} onClose={() => setSecret(null)} />}
    </Page>
  );
}

const hasExpired = ({ expiresAt }: Key): boolean => expiresAt !== null && new Date(expiresAt) <= new Date();
const isUsable = (key: Key): boolean => key.revokedAt === null && !hasExpired(key);

const COLUMNS: readonly Column<Key>[] = [
  {
    header: text.name,
    cell: ({ name }) =>
      name === '' ? <span className="text-quiet">{text.unnamed}</span> : <span className="font-medium">{name}</span>,
  },
  { header: text.state, narrow: 'second', cell: (key) => <State apiKey={key} /> },
  { header: text.key, cell: ({ key }) => <code className="font-mono text-xs">{key}</code> },
  {
    header: text.access,
    narrow: 'second',
    cell: ({ kind, scopes }) =>
      kind === 'secret' ? text.allAccess : <span title={scopes.join(', ')}>{text.scopes(scopes.length)}</span>,
  },
  {
    header: text.addresses,
    narrow: 'none',
    cell: ({ ipRanges }) => (ipRanges.length === 0 ? text.everywhere : ipRanges.join(', ')),
  },
  { header: text.lastUsed, cell: ({ lastUsedAt }) => (lastUsedAt === null ? text.notUsed : <Time at={lastUsedAt} />) },
  { header: text.created, narrow: 'none', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

function State({ apiKey }: { apiKey: Key }) {
  if (apiKey.revokedAt !== null) return <Badge tone="quiet">{text.revoked}</Badge>;
  if (hasExpired(apiKey)) return <Badge tone="quiet">{text.expired}</Badge>;
  return (
    <span className="inline-flex flex-wrap items-center gap-1.5">
      <Badge tone="good">{text.active}</Badge>
      {apiKey.expiresAt !== null && (
        <span className="text-xs text-quiet">
          {text.until} <Time at={apiKey.expiresAt} />
        </span>
      )}
    </span>
  );
}

function KeyActions({ apiKey, onSecret }: { apiKey: Key; onSecret: (secret: string) => void }) {
  const name = apiKey.name === '' ? apiKey.key : apiKey.name;
  return (
    <span className="inline-flex gap-2">
      <DialogButton label={text.rotate} aria-label={text.rotateLabel(name)}>
        {(close) => <RotateDialog apiKey={apiKey} onClose={close} onSecret={onSecret} />}
      </DialogButton>
      <DialogButton label={text.revoke} aria-label={text.revokeLabel(name)}>
        {(close) => <RevokeDialog apiKey={apiKey} onClose={close} />}
      </DialogButton>
    </span>
  );
}
