import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';

import { Badge } from '../../ui/badge.tsx';
import { Button, buttonStyle } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { download } from '../../ui/download.ts';
import { base } from '../../ui/environment.ts';
import { Facts, Section } from '../../ui/facts.tsx';
import { Empty, failureText, Loaded } from '../../ui/feedback.tsx';
import { List, type Column } from '../../ui/list.tsx';
import { Pager } from '../../ui/pager.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { Page } from '../page.tsx';
import { headers, useRead, type AuditedChange } from '../routes.ts';
import { Fields } from './fields.tsx';
import { Filters, NOTHING } from './filters.tsx';
import type { AuditSearch } from './search.ts';
import { ACTIONS, text } from './text.ts';

const REFRESH_MS = 15_000;

/** What people and keys of the merchant have changed. */
export function Audit() {
  const { may, whyNot } = useMember();
  const search = useSearch({ from: '/audit' });
  const navigate = useNavigate();
  const { open, page = 1, limit = 20, ...filter } = search;
  const changes = useRead('GET /api/portal/audit', { query: { ...filter, page, limit } }, { everyMs: REFRESH_MS });
  const go = (wanted: Partial<AuditSearch>): void => void navigate({ to: '/audit', search: { ...search, ...wanted } });
  const change = (wanted: Partial<AuditSearch>): void => go({ page: undefined, ...wanted });
  const seen = changes.data?.data ?? [];
  const actors = Object.fromEntries(seen.map((one) => [one.actor, actorText(one)]));
  return (
    <Page title={text.title} actions={<Export filter={filter} />}>
      <p className="mb-4 text-quiet">{may('audit:read-all') ? text.intro : text.introOwn}</p>
      <div className="card">
        <Filters search={search} actors={actors} onChange={change} />
        <Loaded query={changes} skeletonRows={limit / 2} whyNot={whyNot('audit:read')}>
          {({ data: rows, pagination }) => (
            <>
              {rows.length === 0 ? (
                <NoChanges search={search} />
              ) : (
                <List
                  label={text.label}
                  columns={COLUMNS}
                  rows={rows}
                  idOf={({ auditId }) => auditId}
                  open={{
                    hrefOf: ({ auditId }) => base + addressOf('/audit', { query: { ...search, open: auditId } }),
                    onOpen: ({ auditId }) => go({ open: auditId }),
                    openId: open,
                  }}
                />
              )}
              {pagination && (
                <Pager
                  pagination={pagination}
                  query={changes}
                  onPage={(wanted) => change({ page: wanted })}
                  onLimit={(wanted) => change({ limit: wanted })}
                />
              )}
            </>
          )}
        </Loaded>
      </div>
      {open && changes.data && (
        <ChangeDrawer change={seen.find(({ auditId }) => auditId === open)} onClose={() => go({ open: undefined })} />
      )}
    </Page>
  );
}

/** The list's rows as a file, by the very filter of the list. */
function Export({ filter }: { filter: Partial<AuditSearch> }) {
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    await download(addressOf('GET /api/portal/audit/export', { query: filter }), headers).catch((error: unknown) =>
      toast(failureText(error)),
    );
    setBusy(false);
  };
  return (
    <Button icon="download" isBusy={isBusy} onClick={() => void save()}>
      {text.export}
    </Button>
  );
}

function NoChanges({ search }: { search: AuditSearch }) {
  const isFiltered = Object.keys(NOTHING).some((name) => search[name as keyof AuditSearch] !== undefined);
  if (isFiltered) return <Empty title={text.none}>{text.noneHelp}</Empty>;
  return <Empty title={text.noneYet}>{text.noneYetHelp}</Empty>;
}

/** A person or key by its name, or by its id. */
const actorText = ({ actor, actorName }: AuditedChange): string => actorName ?? actor;

const COLUMNS: readonly Column<AuditedChange>[] = [
  { id: 'action', header: text.action, cell: ({ action }) => ACTIONS[action] },
  { id: 'actor', header: text.actor, narrow: 'second', cell: actorText },
  {
    id: 'about',
    header: text.about,
    cell: ({ resourceId }) => <code className="font-mono text-xs wrap-anywhere">{resourceId}</code>,
  },
  { id: 'at', header: text.at, cell: ({ at }) => <Time at={at} seconds /> },
];

type DrawerProps = {
  /** undefined: it is not in sight in the list. */
  change: AuditedChange | undefined;
  onClose: () => void;
};

function ChangeDrawer({ change, onClose }: DrawerProps) {
  return (
    <Drawer title={change ? ACTIONS[change.action] : text.action} onClose={onClose}>
      {change ? <Change change={change} /> : <p className="text-quiet">{text.notInSight}</p>}
    </Drawer>
  );
}

function Change({ change }: { change: AuditedChange }) {
  const { may } = useMember();
  const { auditId, environment, actor, resourceId, address, requestId, at } = change;
  const isCall = actor.startsWith('key_') && may('requests:read');
  return (
    <>
      <Facts
        rows={{
          [text.actor]: actorText(change),
          [text.about]: resourceId && <Code value={resourceId} name={text.about} />,
          [text.scope]: environment === null && <Badge tone="info">{text.both}</Badge>,
          [text.at]: <Time at={at} seconds />,
          [text.address]: address,
          [text.requestId]: <Code value={requestId} name={text.requestId} />,
          [text.changeId]: <Code value={auditId} name={text.changeId} />,
        }}
      />
      <Section title={text.fields}>
        <Fields before={change.before} after={change.after} />
      </Section>
      <div className="flex flex-wrap gap-2">
        {isCall && (
          <Link to="/requests" search={{ requestId, open: requestId }} className={buttonStyle()}>
            {text.toCall}
          </Link>
        )}
        <Link to="/audit" search={{ ...NOTHING, actor }} className={buttonStyle()}>
          {text.sameActor(actorText(change))}
        </Link>
        {resourceId !== null && (
          <Link to="/audit" search={{ ...NOTHING, resourceId }} className={buttonStyle()}>
            {text.sameAbout}
          </Link>
        )}
      </div>
    </>
  );
}
