import { useState } from 'react';

import { Badge } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { useFilters } from '../../ui/filter-bar.tsx';
import { catalogue } from '../../ui/language.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { Page } from '../../ui/page.tsx';
import { ROLES } from '../../ui/role-text.ts';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { Invitations } from '../invitations.tsx';
import { KeyList } from '../keys/key-list.tsx';
import { useOperator } from '../operator.ts';
import { Actions } from '../parts.tsx';
import { REFRESH_MS, useRead, type Operator } from '../routes.ts';
import { text as shared } from '../text.ts';
import { TokenDialog, tokenOf } from '../token-dialog.tsx';
import { Subject } from '../views.tsx';

const text = catalogue({
  none: ['There is no operator.', 'ኦፕሬተር የለም።'],
  name: ['Name', 'ስም'],
  email: ['E-mail', 'ኢሜይል'],
  role: ['Role', 'ሚና'],
  active: ['active', 'ንቁ'],
  inactive: ['inactive', 'የቆመ'],
  you: ['you', 'እርስዎ'],
  id: ['Operator id', 'የኦፕሬተር መለያ'],
  keys: ['API keys', 'የAPI ቁልፎች'],
  noKeys: ['There is no key.', 'ቁልፍ የለም።'],
});

const idOf = ({ operatorId }: Operator): string => operatorId;
const ActiveBadge = ({ of: { active } }: { of: Operator }) => (
  <Badge tone={active ? 'good' : 'quiet'}>{active ? text.active : text.inactive}</Badge>
);

/** The people of the platform, their roles, keys and invitations. */
export function Operators() {
  const [token, setToken] = useState<string | null>(null);
  const { operatorId } = useOperator();
  const showToken = (data: unknown): void => setToken(tokenOf(data));
  const columns: readonly Column<Operator>[] = [
    { header: text.name, cell: (row) => (row.operatorId === operatorId ? `${row.name} (${text.you})` : row.name) },
    { header: shared.status, narrow: 'second', cell: (row) => <ActiveBadge of={row} /> },
    { header: text.role, cell: ({ role }) => ROLES[role] },
    { header: text.email, cell: ({ email }) => email },
    { header: shared.createdAt, narrow: 'none', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  return (
    <Page
      title={shared.operators}
      actions={<CommandButton name="operator.create" address="/api/ops/operators" onDone={showToken} />}
    >
      <Listing
        label={shared.operators}
        state={useFilters([])}
        query={useRead('GET /api/ops/operators', {}, { everyMs: REFRESH_MS })}
        columns={columns}
        idOf={idOf}
        empty={text.none}
        rowDrawer={({ row, close }) => <OperatorDrawer operator={row} onToken={showToken} onClose={close} />}
      />
      <TokenDialog token={token} onClose={() => setToken(null)} />
    </Page>
  );
}

type DrawerProps = { operator: Operator; onToken: (data: unknown) => void; onClose: () => void };

/** An operator, and what an admin may do about them. */
function OperatorDrawer({ operator, onToken, onClose }: DrawerProps) {
  const { may } = useOperator();
  const { operatorId, role } = operator;
  const address = `/api/ops/operators/${operatorId}`;
  return (
    <Drawer key={operatorId} title={operator.name} onClose={onClose}>
      <Subject value={operator.name}>
        <Actions>
          <CommandButton name="operator.change" address={address} initial={{ role }} />
          {operator.active ? (
            <>
              <CommandButton name="operator.invite" address={`${address}/invitations`} onDone={onToken} />
              <CommandButton name="operator.deactivate" address={address} body={{ active: false }} />
            </>
          ) : (
            <CommandButton name="operator.activate" address={address} body={{ active: true }} />
          )}
        </Actions>
      </Subject>
      <Facts
        rows={{
          [shared.status]: <ActiveBadge of={operator} />,
          [text.role]: ROLES[role],
          [text.email]: <Code value={operator.email} name={text.email} />,
          [shared.createdAt]: <Time at={operator.createdAt} seconds />,
          [text.id]: <Code value={operatorId} name={text.id} />,
        }}
      />
      {may('operator-key.revoke') && <Keys operatorId={operatorId} />}
      <Invitations of={{ operatorId }} />
    </Drawer>
  );
}

/** The keys of another operator, who alone creates them. */
function Keys({ operatorId }: { operatorId: string }) {
  const keys = useRead('GET /api/ops/operators/:operatorId/keys', { params: { operatorId } });
  return (
    <Section title={text.keys}>
      <Loaded query={keys} skeletonRows={1}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <p className="text-quiet">{text.noKeys}</p>
          ) : (
            <KeyList
              label={text.keys}
              keys={rows}
              actions={({ keyId }, of) => (
                <CommandButton
                  name="operator-key.revoke"
                  of={of}
                  address={`/api/ops/operators/${operatorId}/keys/${keyId}/revoke`}
                />
              )}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
