import { Link } from '@tanstack/react-router';

import { Badge } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { Changes } from '../../ui/changes.tsx';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { download } from '../../ui/download.ts';
import { Facts, Section } from '../../ui/facts.tsx';
import { useFilters, type Filter } from '../../ui/filter-bar.tsx';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { SaveButton } from '../../ui/save-button.tsx';
import { Time } from '../../ui/time.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { headers } from '../headers.ts';
import { useMember } from '../member.ts';
import { useRead, type AuditedChange } from '../routes.ts';
import { wordsOf } from './field-words.ts';
import { ACTIONS, text } from './text.ts';

const FILTERS: readonly Filter[] = [
  { kind: 'search', name: 'resourceId', label: text.searchLabel, other: { name: 'requestId', pattern: /^req_/ } },
  { kind: 'days' },
  { kind: 'one', name: 'action', label: text.action, values: Object.entries(ACTIONS) },
  { kind: 'one', name: 'actor', label: text.actor },
];

/** What people and keys of the merchant have changed. */
export function Audit() {
  const { may, whyNot } = useMember();
  const state = useFilters(FILTERS);
  const changes = useRead(
    'GET /api/portal/audit',
    { query: state.query },
    { everyMs: REFRESH_MS, enabled: !state.wrongDays },
  );
  const actors = Object.fromEntries((changes.data?.data ?? []).map((one) => [one.actor, actorText(one)]));
  // By the very filter of the list.
  const save = () => download(addressOf('GET /api/portal/audit/export', { query: state.chosen }), headers);
  return (
    <Page title={text.title} actions={<SaveButton label={text.export} save={save} />}>
      <p className="mb-4 text-quiet">{may('audit:read-all') ? text.intro : text.introOwn}</p>
      <Listing
        label={text.label}
        state={state}
        values={{ actor: Object.entries(actors) }}
        query={changes}
        columns={COLUMNS}
        idOf={({ auditId }) => auditId}
        empty={state.isFiltered ? text.none : text.noneYet}
        emptyHelp={state.isFiltered ? text.noneHelp : text.noneYetHelp}
        whyNot={whyNot('audit:read')}
        rowDrawer={({ row, close }) => (
          <Drawer title={ACTIONS[row.action]} onClose={close}>
            <Change change={row} />
          </Drawer>
        )}
      />
    </Page>
  );
}

/** A person or key by its name, or by its id. */
const actorText = ({ actor, actorName }: AuditedChange): string => actorName ?? actor;

const COLUMNS: readonly Column<AuditedChange>[] = [
  { header: text.action, cell: ({ action }) => ACTIONS[action] },
  { header: text.actor, narrow: 'second', cell: actorText },
  {
    header: text.about,
    cell: ({ resourceId }) => <code className="font-mono text-xs wrap-anywhere">{resourceId}</code>,
  },
  { header: text.at, cell: ({ at }) => <Time at={at} seconds /> },
];

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
        <Changes before={change.before} after={change.after} none={text.noFields} words={wordsOf(change.action)} />
      </Section>
      <div className="flex flex-wrap gap-2">
        {isCall && (
          <Link to="/requests" search={{ requestId, open: requestId }} className={buttonStyle()}>
            {text.toCall}
          </Link>
        )}
        <Link to="/audit" search={{ actor }} className={buttonStyle()}>
          {text.sameActor(actorText(change))}
        </Link>
        {resourceId !== null && (
          <Link to="/audit" search={{ resourceId }} className={buttonStyle()}>
            {text.sameAbout}
          </Link>
        )}
      </div>
    </>
  );
}
