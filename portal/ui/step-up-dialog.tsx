import { useMutation } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';

import { HAS_PASSKEYS, NoPasskey, signWithPasskey } from './account/device.ts';
import { call, useChange, useRead } from './account/routes.ts';
import { Button } from './button.tsx';
import { CallFailure } from './call.ts';
import { Dialog } from './dialog.tsx';
import { Failed } from './feedback.tsx';
import { TextField } from './field.tsx';
import { Form } from './form.tsx';
import { text } from './frame-text.ts';
import { openQuestion, subscribe } from './step-up.ts';
import { text as kit } from './text.ts';

const CODE_CHARACTERS_MIN = 6;

/** The dialog for a code, wherever a call needs one. */
export function StepUp() {
  const question = useSyncExternalStore(subscribe, openQuestion);
  return question && <CodeDialog onAnswer={question.answer} />;
}

function CodeDialog({ onAnswer }: { onAnswer: (isAccepted: boolean) => void }) {
  const change = useChange('POST /api/portal/security/step-up');
  const send = (code: string): void => change.mutate({ body: { code } }, { onSuccess: () => onAnswer(true) });
  return (
    <Dialog title={text.stepUpTitle} onClose={() => onAnswer(false)}>
      <p>{text.stepUpHelp}</p>
      <PasskeyButton onAccepted={() => onAnswer(true)} />
      <CodeForm change={change} onSend={send} onCancel={() => onAnswer(false)} />
    </Dialog>
  );
}

/** The other way, of persons who have a passkey. */
function PasskeyButton({ onAccepted }: { onAccepted: () => void }) {
  const passkeys = useRead('GET /api/portal/security/passkeys', {});
  const signature = useMutation({
    mutationFn: async () => {
      const { data: options } = await call('POST /api/portal/security/step-up/passkey-options', {});
      return call('POST /api/portal/security/step-up/passkey', { body: await signWithPasskey(options) });
    },
    onSuccess: onAccepted,
  });
  if (!HAS_PASSKEYS || (passkeys.data?.data ?? []).length === 0) return null;
  const { error } = signature;
  return (
    <>
      <Button isBusy={signature.isPending} onClick={() => signature.mutate()}>
        {text.usePasskey}
      </Button>
      {error instanceof NoPasskey ? <p role="alert">{text.noPasskey}</p> : error && <Failed error={error} />}
    </>
  );
}

type CodeFormProps = {
  change: { error: unknown; isPending: boolean };
  onSend: (code: string) => void;
  onCancel: () => void;
};

/** A field for a code of the authenticator app. */
export function CodeForm({ change, onSend, onCancel }: CodeFormProps) {
  const [code, setCode] = useState('');
  const [isTried, setTried] = useState(false);
  const isWrong = change.error instanceof CallFailure && change.error.status === 400;
  const isShort = code.trim().length < CODE_CHARACTERS_MIN;
  const submit = (): void => {
    setTried(true);
    if (!isShort) onSend(code.trim());
  };
  return (
    <Form change={change} isErrorBeside={isWrong} action={text.confirm} onSubmit={submit} onCancel={onCancel}>
      <TextField
        label={text.code}
        isRequired
        autoComplete="one-time-code"
        maxLength={40}
        value={code}
        error={isWrong ? text.wrongCode : isTried && isShort ? kit.fillIn : undefined}
        onChange={(event) => setCode(event.target.value)}
      />
    </Form>
  );
}
