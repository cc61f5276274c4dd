import { Link } from '@tanstack/react-router';

import { Badge, Note } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Panel } from '../../ui/facts.tsx';
import { Failed, Loaded } from '../../ui/feedback.tsx';
import { text as frame } from '../../ui/frame-text.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { ROLES } from '../../ui/role-text.ts';
import { text as kit } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { useChange, useRead, type MemberInvitation, type TeamMember } from '../routes.ts';
import { ChangeDialog, InviteDialog, RemoveDialog } from './dialogs.tsx';
import { text } from './text.ts';

/** The members of the merchant and the open invitations. */
export function Team() {
  const { whyNot, twoFactor } = useMember();
  const team = useRead('GET /api/portal/team', {});
  const ofRole = whyNot('team:write');
  const canChange = ofRole === undefined && twoFactor.enabled;
  const invite = (
    <DialogButton
      kind="primary"
      icon="plus"
      label={text.invite}
      whyNot={ofRole ?? (canChange ? undefined : kit.twoFactorFirst)}
    >
      {(close) => <InviteDialog onClose={close} />}
    </DialogButton>
  );
  return (
    <Page title={text.title} actions={invite}>
      <p className="mb-4 text-quiet">{text.intro}</p>
      {ofRole === undefined && !twoFactor.enabled && (
        <div className="mb-4">
          <Note tone="warn">
            {text.needsTwoFactor}{' '}
            <Link to="/security" className="underline">
              {frame.security}
            </Link>
          </Note>
        </div>
      )}
      <Loaded query={team} skeletonRows={6} whyNot={whyNot('team:read')}>
        {({ data: { members, invitations } }) => (
          <div className="flex flex-col gap-4">
            <Members members={members} canChange={canChange} />
            <Invitations invitations={invitations} canChange={canChange} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const RoleName = ({ role }: Pick<TeamMember, 'role'>) => <span className="whitespace-nowrap">{ROLES[role]}</span>;

function Members({ members, canChange }: { members: readonly TeamMember[]; canChange: boolean }) {
  const { user, may } = useMember();
  const owners = members.filter(({ role }) => role === 'owner').length;
  const whyNotOf = ({ role }: TeamMember): string | undefined => {
    if (role !== 'owner') return undefined;
    if (!may('owners:write')) return text.ownersOnly;
    return owners === 1 ? text.lastOwner : undefined;
  };
  const columns: readonly Column<TeamMember>[] = [
    {
      header: text.name,
      cell: ({ name, userId }) => (
        <span className="font-medium">
          {name} {userId === user.userId && <Badge tone="info">{text.you}</Badge>}
        </span>
      ),
    },
    { header: text.role, narrow: 'second', cell: ({ role }) => <RoleName role={role} /> },
    { header: text.email, cell: ({ email }) => email },
    {
      header: text.twoFactor,
      narrow: 'labelled',
      cell: ({ twoFactor }) => <Badge tone={twoFactor ? 'good' : 'quiet'}>{twoFactor ? text.on : text.off}</Badge>,
    },
    {
      header: text.lastUsed,
      narrow: 'none',
      cell: ({ lastUsedAt }) => (lastUsedAt === null ? text.never : <Time at={lastUsedAt} />),
    },
  ];
  const actions: Column<TeamMember> = {
    header: text.actions,
    cell: (member) => <MemberActions member={member} whyNot={whyNotOf(member)} />,
  };
  return (
    <Panel title={text.members}>
      <List
        label={text.members}
        columns={canChange ? [...columns, actions] : columns}
        rows={members}
        idOf={({ userId }) => userId}
      />
    </Panel>
  );
}

function MemberActions({ member, whyNot }: { member: TeamMember; whyNot: string | undefined }) {
  if (whyNot !== undefined) return <span className="text-xs text-quiet">{whyNot}</span>;
  return (
    <span className="inline-flex flex-wrap gap-2">
      <DialogButton label={text.change} aria-label={text.changeLabel(member.name)}>
        {(close) => <ChangeDialog member={member} onClose={close} />}
      </DialogButton>
      <DialogButton label={text.remove} aria-label={text.removeLabel(member.name)}>
        {(close) => <RemoveDialog member={member} onClose={close} />}
      </DialogButton>
    </span>
  );
}

function Invitations({ invitations, canChange }: { invitations: readonly MemberInvitation[]; canChange: boolean }) {
  const revoke = useChange('POST /api/portal/team/invitations/:invitationId/revoke');
  const columns: readonly Column<MemberInvitation>[] = [
    { header: text.email, cell: ({ email }) => email },
    { header: text.role, narrow: 'second', cell: ({ role }) => <RoleName role={role} /> },
    { header: text.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  ];
  const actions: Column<MemberInvitation> = {
    header: text.actions,
    narrow: 'second',
    cell: ({ invitationId, email }) => (
      <Button
        isBusy={revoke.isPending}
        aria-label={text.revokeLabel(email)}
        onClick={() => revoke.mutate({ params: { invitationId } }, { onSuccess: () => toast(text.revoked) })}
      >
        {text.revoke}
      </Button>
    ),
  };
  return (
    <Panel title={text.invitations}>
      {revoke.error && <Failed error={revoke.error} />}
      {invitations.length === 0 ? (
        <p className="text-quiet">{text.noInvitations}</p>
      ) : (
        <List
          label={text.invitations}
          columns={canChange ? [...columns, actions] : columns}
          rows={invitations}
          idOf={({ invitationId }) => invitationId}
        />
      )}
    </Panel>
  );
}
