import { useState, type ReactNode } from 'react';

import { DialogButton } from '../ui/dialog-button.tsx';
import { TextField } from '../ui/field.tsx';
import { QuestionDialog, type Change } from '../ui/form.tsx';
import { catalogue } from '../ui/language.ts';
import { useMember } from './member.ts';
import { useRead } from './routes.ts';

type Name = 'confirm' | 'confirmed' | 'decline' | 'declineTitle' | 'declineHelp' | 'declined' | 'reason';
type Props<Params> = {
  text: Readonly<Record<Name, string>>;
  permission: string;
  /** wd_… or rfd_…. */
  id: string;
  params: Params;
  confirm: Change<{ params: Params; body: object }>;
  decline: Change<{ params: Params; body: { reason: string } }>;
  /** What is confirmed. */
  question: ReactNode;
};

const ownText = catalogue({
  yours: ['You have requested it: another person has to confirm it.', 'የጠየቁት እርስዎ ነዎት፦ ሌላ ሰው ማረጋገጥ አለበት።'],
});

/** The withdrawals and refunds that wait for another person than this one, who has requested them. */
export function useOwnRequests(enabled = true): readonly string[] {
  return useRead('GET /api/portal/own-requests', {}, { enabled }).data?.data.ids ?? [];
}

/** What a second person decides about a withdrawal or a refund that waits for one. */
export function SecondPerson<Params>(props: Props<Params>) {
  const { text, permission, id, params, confirm, question } = props;
  const { whyNot } = useMember();
  const own = useOwnRequests();
  const reason = whyNot(permission);
  return (
    <>
      <DialogButton
        kind="primary"
        label={text.confirm}
        whyNot={reason ?? (own.includes(id) ? ownText.yours : undefined)}
      >
        {(close) => (
          <QuestionDialog
            title={text.confirm}
            action={text.confirm}
            change={confirm}
            input={{ params, body: {} }}
            done={text.confirmed}
            onClose={close}
          >
            {question}
          </QuestionDialog>
        )}
      </DialogButton>
      <DialogButton kind="danger" label={text.decline} whyNot={reason}>
        {(close) => <DeclineDialog {...props} onClose={close} />}
      </DialogButton>
    </>
  );
}

function DeclineDialog<Params>({ text, params, decline, onClose }: Props<Params> & { onClose: () => void }) {
  const [reason, setReason] = useState('');
  return (
    <QuestionDialog
      title={text.declineTitle}
      action={text.decline}
      kind="danger"
      change={decline}
      isDisabled={reason.trim() === ''}
      input={{ params, body: { reason } }}
      done={text.declined}
      onClose={onClose}
    >
      <p>{text.declineHelp}</p>
      <TextField
        label={text.reason}
        isRequired
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
    </QuestionDialog>
  );
}
