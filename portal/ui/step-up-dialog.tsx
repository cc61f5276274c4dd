import { useState, type FormEvent } from 'react';

import { useChange } from './account/routes.ts';
import { Button } from './button.tsx';
import { CallFailure } from './call.ts';
import { Dialog } from './dialog.tsx';
import { Failed } from './feedback.tsx';
import { TextField } from './field.tsx';
import { text } from './frame-text.ts';
import { useCodeQuestion } from './step-up.ts';
import { text as kit } from './text.ts';

const CODE_CHARACTERS_MIN = 6;

/** The dialog for a code, wherever a call needs one. */
export function StepUp() {
  const question = useCodeQuestion();
  return question && <CodeDialog onAnswer={question.answer} />;
}

function CodeDialog({ onAnswer }: { onAnswer: (isAccepted: boolean) => void }) {
  const change = useChange('POST /api/portal/security/step-up');
  const send = (code: string): void => change.mutate({ body: { code } }, { onSuccess: () => onAnswer(true) });
  return (
    <Dialog title={text.stepUpTitle} onClose={() => onAnswer(false)}>
      <p>{text.stepUpHelp}</p>
      <CodeForm error={change.error} isBusy={change.isPending} onSend={send} onCancel={() => onAnswer(false)} />
    </Dialog>
  );
}

type CodeFormProps = { error: Error | null; isBusy: boolean; onSend: (code: string) => void; onCancel: () => void };

/** A field for a code of the authenticator app. */
export function CodeForm({ error, isBusy, onSend, onCancel }: CodeFormProps) {
  const [code, setCode] = useState('');
  const [isTried, setTried] = useState(false);
  const isWrong = error instanceof CallFailure && error.status === 400;
  const isShort = code.trim().length < CODE_CHARACTERS_MIN;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (!isShort) onSend(code.trim());
  };
  return (
    <form noValidate className="flex flex-col gap-3" onSubmit={submit}>
      <TextField
        label={text.code}
        isRequired
        autoComplete="one-time-code"
        maxLength={40}
        value={code}
        error={isWrong ? text.wrongCode : isTried && isShort ? kit.fillIn : undefined}
        onChange={(event) => setCode(event.target.value)}
      />
      {error && !isWrong && <Failed error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>{kit.cancel}</Button>
        <Button type="submit" kind="primary" isBusy={isBusy}>
          {text.confirm}
        </Button>
      </div>
    </form>
  );
}
