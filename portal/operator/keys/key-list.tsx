import type { ReactNode } from 'react';

import { Mono } from '../../ui/copy.tsx';
import { catalogue } from '../../ui/language.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { KeyState } from '../parts.tsx';
import type { OperatorKey } from '../routes.ts';
import { text as shared } from '../text.ts';

const text = catalogue({
  name: ['Name', 'ስም'],
  key: ['Key', 'ቁልፍ'],
  expiresAt: ['Expires at', 'የሚያበቃበት ጊዜ'],
  lastUsedAt: ['Last used', 'መጨረሻ ያገለገለበት'],
  never: ['never', 'አያውቅም'],
  actions: ['Commands', 'ትዕዛዞች'],
});

type Props = {
  label: string;
  keys: readonly OperatorKey[];
  /** Of a key that is not revoked. `of`: what it is called. */
  actions: (key: OperatorKey, of: string) => ReactNode;
};

/** The keys of an operator, without their secrets. */
export function KeyList({ label, keys, actions }: Props) {
  const nameOf = ({ name, keyId }: OperatorKey): string => name || keyId;
  const columns: readonly Column<OperatorKey>[] = [
    { header: text.name, cell: nameOf },
    { header: text.key, narrow: 'none', cell: ({ key }) => <Mono>{key}</Mono> },
    { header: shared.status, narrow: 'second', cell: (row) => <KeyState of={row} /> },
    { header: shared.createdAt, narrow: 'none', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      header: text.expiresAt,
      narrow: 'labelled',
      cell: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : text.never),
    },
    {
      header: text.lastUsedAt,
      narrow: 'labelled',
      cell: ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : text.never),
    },
    { header: text.actions, cell: (row) => row.revokedAt === null && actions(row, nameOf(row)) },
  ];
  return <List label={label} columns={columns} rows={keys} idOf={({ keyId }) => keyId} />;
}
