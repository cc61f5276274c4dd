import { useState } from 'react';

import { Badge } from '../../ui/badge.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { catalogue } from '../../ui/language.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { Actions } from '../parts.tsx';
import { useRead, type Operator } from '../routes.ts';
import { text as shared } from '../text.ts';
import { TokenDialog, tokenOf } from '../token-dialog.tsx';

const text = catalogue({
  title: ['Operators', 'ኦፕሬተሮች'],
  name: ['Name', 'ስም'],
  email: ['E-mail', 'ኢሜይል'],
  role: ['Role', 'ሚና'],
  active: ['active', 'ንቁ'],
  inactive: ['inactive', 'የቆመ'],
  createdAt: ['Created at', 'የተፈጠረበት ጊዜ'],
  actions: ['Commands', 'ትዕዛዞች'],
  you: ['you', 'እርስዎ'],
});

/** The people of the platform, their roles and invitations. */
export function Operators() {
  const [token, setToken] = useState<string | null>(null);
  const { operatorId } = useOperator();
  const operators = useRead('GET /api/ops/operators', {});
  const showToken = (data: unknown): void => setToken(tokenOf(data));
  const columns: readonly Column<Operator>[] = [
    { header: text.name, cell: (row) => (row.operatorId === operatorId ? `${row.name} (${text.you})` : row.name) },
    { header: text.role, narrow: 'second', cell: ({ role }) => <span className="whitespace-nowrap">{role}</span> },
    { header: text.email, cell: ({ email }) => email },
    {
      header: shared.status,
      narrow: 'second',
      cell: ({ active }) => <Badge tone={active ? 'good' : 'quiet'}>{active ? text.active : text.inactive}</Badge>,
    },
    { header: text.createdAt, narrow: 'none', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { header: text.actions, cell: (row) => <RowActions operator={row} onToken={showToken} /> },
  ];
  return (
    <Page
      title={text.title}
      actions={<CommandButton name="operator.create" address="/api/ops/operators" onDone={showToken} />}
    >
      <div className="card">
        <Loaded query={operators}>
          {({ data: rows }) => <List label={text.title} columns={columns} rows={rows} idOf={(row) => row.operatorId} />}
        </Loaded>
      </div>
      <TokenDialog token={token} onClose={() => setToken(null)} />
    </Page>
  );
}

function RowActions({ operator, onToken }: { operator: Operator; onToken: (data: unknown) => void }) {
  const address = `/api/ops/operators/${operator.operatorId}`;
  const of = operator.name;
  return (
    <Actions>
      <CommandButton name="operator.change" of={of} address={address} initial={{ role: operator.role }} />
      {operator.active ? (
        <>
          <CommandButton name="operator.invite" of={of} address={`${address}/invitations`} onDone={onToken} />
          <CommandButton name="operator.deactivate" of={of} address={address} body={{ active: false }} />
        </>
      ) : (
        <CommandButton name="operator.activate" of={of} address={address} body={{ active: true }} />
      )}
    </Actions>
  );
}
