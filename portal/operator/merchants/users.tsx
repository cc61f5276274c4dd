import { Fold } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { List, type Column } from '../../ui/list.tsx';
import { ROLES } from '../../ui/role-text.ts';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { useOperator } from '../operator.ts';
import { useRead, type MerchantUser } from '../routes.ts';
import { text } from './text.ts';

const COLUMNS: readonly Column<MerchantUser>[] = [
  { header: text.name, cell: ({ name }) => name },
  { header: text.role, narrow: 'second', cell: ({ role }) => ROLES[role] },
  { header: text.email, cell: ({ email }) => email },
  { header: text.twoFactor, narrow: 'none', cell: ({ twoFactor }) => (twoFactor ? text.yes : text.no) },
  { header: text.lastUsedAt, cell: (row) => (row.lastUsedAt ? <Time at={row.lastUsedAt} /> : text.never) },
];

/** The people who may sign in to the portal for a merchant. */
export function Users({ merchantId }: { merchantId: string }) {
  const { whyNot } = useOperator();
  const query = useRead('GET /api/ops/merchants/:merchantId/users', { params: { merchantId } });
  return (
    <Fold
      title={text.users}
      actions={
        <CommandButton name="merchant.invite-owner" address={`/api/ops/merchants/${merchantId}/owner-invitations`} />
      }
    >
      <Loaded query={query} skeletonRows={2} whyNot={whyNot('kyc.review')}>
        {({ data: users }) =>
          users.length === 0 ? (
            <p className="text-quiet">{text.noUsers}</p>
          ) : (
            <List label={text.users} columns={COLUMNS} rows={users} idOf={({ userId }) => userId} />
          )
        }
      </Loaded>
    </Fold>
  );
}
