import { Section } from '../ui/facts.tsx';
import { Loaded } from '../ui/feedback.tsx';
import { catalogue } from '../ui/language.ts';
import { List, type Column } from '../ui/list.tsx';
import { Time } from '../ui/time.tsx';
import { CommandButton } from './command-button.tsx';
import { useOperator } from './operator.ts';
import { EnvironmentBadge } from './parts.tsx';
import { useRead, type Invitation } from './routes.ts';

const text = catalogue({
  title: ['Open invitations', 'ክፍት ግብዣዎች'],
  none: ['No invitation is open.', 'ክፍት ግብዣ የለም።'],
  purpose: ['To', 'ለ'],
  of: ['For', 'የማን'],
  createdBy: ['Invited by', 'የጋበዘው'],
  expiresAt: ['Ends at', 'የሚያበቃበት ጊዜ'],
  actions: ['Commands', 'ትዕዛዞች'],
});

const PURPOSES: Record<Invitation['purpose'], string> = catalogue({
  'operator-key': ['Sign in, and create a first key', 'መግባትና የመጀመሪያ ቁልፍ መፍጠር'],
  key: ['Create a key', 'ቁልፍ መፍጠር'],
  rotation: ['Rotate a key', 'ቁልፍ መቀየር'],
  owner: ['Become an owner', 'ባለቤት መሆን'],
});

const COLUMNS: readonly Column<Invitation>[] = [
  { header: text.purpose, cell: ({ purpose }) => PURPOSES[purpose] },
  {
    header: text.of,
    cell: ({ email, keyId, environment, operatorName }) => (
      <>
        {email ?? keyId ?? operatorName} <EnvironmentBadge of={environment} />
      </>
    ),
  },
  { header: text.createdBy, narrow: 'labelled', cell: ({ createdByName }) => createdByName },
  { header: text.expiresAt, narrow: 'labelled', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  {
    header: text.actions,
    cell: ({ invitationId, purpose }) => (
      <CommandButton
        name="invitation.revoke"
        of={PURPOSES[purpose]}
        address={`/api/ops/invitations/${invitationId}/revoke`}
      />
    ),
  },
];

type Of = { merchantId: string } | { operatorId: string };
type Props = { of: Of; part?: typeof Section };

/** The invitations of a merchant or an operator that were not accepted, for those who may revoke them. */
export function Invitations(props: Props) {
  return useOperator().may('invitation.revoke') ? <Pending {...props} /> : null;
}

function Pending({ of, part: Part = Section }: Props) {
  const query = useRead('GET /api/ops/invitations', { query: of });
  return (
    <Part title={text.title}>
      <Loaded query={query} skeletonRows={1}>
        {({ data: invitations }) =>
          invitations.length === 0 ? (
            <p className="text-quiet">{text.none}</p>
          ) : (
            <List label={text.title} columns={COLUMNS} rows={invitations} idOf={({ invitationId }) => invitationId} />
          )
        }
      </Loaded>
    </Part>
  );
}
