import { useState } from 'react';

import { CallFailure } from '../../ui/call.ts';
import { Choice, TextField } from '../../ui/field.tsx';
import { FormDialog, QuestionDialog } from '../../ui/form.tsx';
import { ROLES } from '../../ui/role-text.ts';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { useChange, type TeamMember } from '../routes.ts';
import { text } from './text.ts';

type Role = TeamMember['role'];
const ROLE_HELP: Readonly<Record<Role, string>> = {
  owner: text.ownerHelp,
  admin: text.adminHelp,
  finance: text.financeHelp,
  developer: text.developerHelp,
  support: text.supportHelp,
  viewer: text.viewerHelp,
};
const GIVEN = Object.keys(ROLE_HELP) as Role[];

/** A role with what it may do. Only owners give that of owners. */
function RoleChoice({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  const { may } = useMember();
  const roles = GIVEN.filter((role) => role !== 'owner' || may('owners:write'));
  const options = roles.map((role) => [role, kit.about(ROLES[role], ROLE_HELP[role])] as const);
  return <Choice label={text.role} options={options} value={value} onChange={onChange} />;
}

/** Invites an address. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [isTried, setTried] = useState(false);
  const invite = useChange('POST /api/portal/team/invitations');
  const error = invite.error instanceof CallFailure ? invite.error : null;
  const isWrong = error?.details.some(({ field }) => field === 'email') === true;
  const isMember = error?.code === 'DUPLICATE_REFERENCE';
  const submit = (): void => {
    setTried(true);
    if (email === '') return;
    invite.mutate({ body: { email, role } }, { onSuccess: () => (onClose(), toast(text.sent(email))) });
  };
  const emailError = (): string | undefined => {
    if (isTried && email === '') return kit.fillIn;
    if (isMember) return text.isMember;
    return isWrong ? `${kit.notAccepted} ${kit.emailRule}` : undefined;
  };
  return (
    <FormDialog
      title={text.inviteTitle}
      action={text.send}
      change={invite}
      isErrorBeside={isWrong || isMember}
      onSubmit={submit}
      onClose={onClose}
    >
      <p>{text.inviteHelp}</p>
      <TextField
        label={text.email}
        isRequired
        type="email"
        maxLength={254}
        value={email}
        error={emailError()}
        onChange={({ target }) => setEmail(target.value.trim())}
      />
      <RoleChoice value={role} onChange={setRole} />
    </FormDialog>
  );
}

type MemberDialogProps = { member: TeamMember; onClose: () => void };

/** Gives a member another role. */
export function ChangeDialog({ member: { userId, name, role: present }, onClose }: MemberDialogProps) {
  const [role, setRole] = useState(present);
  const change = useChange('PATCH /api/portal/team/:userId');
  return (
    <QuestionDialog
      title={text.changeTitle(name)}
      action={text.save}
      change={change}
      input={{ params: { userId }, body: { role } }}
      done={text.changed}
      onClose={onClose}
    >
      <RoleChoice value={role} onChange={setRole} />
    </QuestionDialog>
  );
}

/** Removes a member after a question. */
export function RemoveDialog({ member: { userId, name }, onClose }: MemberDialogProps) {
  const remove = useChange('DELETE /api/portal/team/:userId');
  return (
    <QuestionDialog
      title={text.removeTitle(name)}
      action={text.remove}
      kind="danger"
      change={remove}
      input={{ params: { userId } }}
      done={text.removed}
      onClose={onClose}
    >
      <p>{text.removeHelp}</p>
    </QuestionDialog>
  );
}
