import { useState, type ReactNode } from 'react';

import { DialogButton } from '../ui/dialog-button.tsx';
import { TextField } from '../ui/field.tsx';
import { QuestionDialog, type Change } from '../ui/form.tsx';
import { useMember } from './member.ts';

type Name = 'confirm' | 'confirmed' | 'decline' | 'declineTitle' | 'declineHelp' | 'declined' | 'reason';
type Props<Params> = {
  text: Readonly<Record<Name, string>>;
  permission: string;
  params: Params;
  confirm: Change<{ params: Params; body: object }>;
  decline: Change<{ params: Params; body: { reason: string } }>;
  /** What is confirmed. */
  question: ReactNode;
};

/** What a second person decides about a withdrawal or a refund that waits for one. */
export function SecondPerson<Params>(props: Props<Params>) {
  const { text, permission, params, confirm, question } = props;
  const { whyNot } = useMember();
  const reason = whyNot(permission);
  return (
    <>
      <DialogButton kind="primary" label={text.confirm} whyNot={reason}>
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
