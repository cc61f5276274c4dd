import type { ReactNode } from 'react';

import { Button, type ButtonKind } from './button.tsx';
import { CodeBlock } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Failed } from './feedback.tsx';
import { text } from './text.ts';
import { toast } from './toast.tsx';

type FormProps = {
  /** What the form sends. */
  change: { error: unknown; isPending: boolean };
  /** The failure stands beside a field. */
  isErrorBeside?: boolean;
  /** The words of its button. */
  action: string;
  kind?: ButtonKind;
  /** There is nothing to send yet. */
  isDisabled?: boolean;
  /** Why it cannot be sent. */
  whyNot?: string | undefined;
  onSubmit: () => void;
  children?: ReactNode;
};
type CancelProps = { onCancel: () => void; cancel?: string };

/** In a window the buttons stay in sight, however long its form is. */
const FOOT =
  'justify-end in-[dialog]:sticky in-[dialog]:bottom-0 in-[dialog]:-mx-4 in-[dialog]:-mb-3 in-[dialog]:border-t in-[dialog]:border-line in-[dialog]:bg-surface in-[dialog]:px-4 in-[dialog]:py-3';

/** Fields, why they could not be sent, and the button that sends them, with one that leaves it if there is a way back. */
export function Form(props: FormProps & Partial<CancelProps>) {
  const {
    change,
    isErrorBeside,
    action,
    kind = 'primary',
    isDisabled,
    whyNot,
    onSubmit,
    children,
    onCancel,
    cancel,
  } = props;
  return (
    <form
      noValidate
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {Boolean(change.error) && !isErrorBeside && <Failed error={change.error} />}
      <div className={`flex flex-wrap items-start gap-2 ${onCancel ? FOOT : ''}`}>
        {onCancel && <Button onClick={onCancel}>{cancel ?? text.cancel}</Button>}
        <Button type="submit" kind={kind} isBusy={change.isPending} disabled={isDisabled} whyNot={whyNot}>
          {action}
        </Button>
      </div>
    </form>
  );
}

type FormDialogProps = FormProps & { title: ReactNode; cancel?: string; onClose: () => void };

/** A window with a form, or with a question if it has no fields. */
export function FormDialog({ title, onClose, ...form }: FormDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form {...form} onCancel={onClose} />
    </Dialog>
  );
}

/** A change by `useChange`. */
export type Change<Input> = FormProps['change'] & {
  mutate: (input: Input, options: { onSuccess: () => void }) => void;
};

type QuestionProps<Input> = Omit<FormDialogProps, 'change' | 'onSubmit'> & {
  change: Change<Input>;
  input: Input;
  /** The sentence afterwards. */
  done: string;
};

/** A window with a question, whose answer makes the change with `input` and closes it. */
export function QuestionDialog<Input>({ change, input, done, onClose, ...dialog }: QuestionProps<Input>) {
  const onSuccess = (): void => (onClose(), toast(done));
  return (
    <FormDialog {...dialog} change={change} onSubmit={() => change.mutate(input, { onSuccess })} onClose={onClose} />
  );
}

type SecretProps = {
  title: string;
  help: string;
  /** What the secret is. */
  name: string;
  secret: string;
  /** The words of the button. */
  stored?: string;
  onClose: () => void;
  children?: ReactNode;
};

/** A secret, which the API returns only once. */
export function SecretDialog({ title, help, name, secret, stored = text.stored, onClose, children }: SecretProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{help}</p>
      <CodeBlock value={secret} name={name} />
      {children}
      <Button kind="primary" onClick={onClose}>
        {stored}
      </Button>
    </Dialog>
  );
}
