import { useState } from 'react';

import { Button } from '../ui/button.tsx';
import { FormDialog } from '../ui/form.tsx';
import { catalogue } from '../ui/language.ts';

const text = catalogue({ keep: ['Keep it', 'ይቆይ'] });

type Props = {
  label: string;
  question: string;
  whyNot: string | undefined;
  change: { error: unknown; isPending: boolean };
  onConfirm: (close: () => void) => void;
};

/** A button that cancels something after a question. */
export function CancelButton({ label, question, whyNot, change, onConfirm }: Props) {
  const [isAsking, setAsking] = useState(false);
  const close = (): void => setAsking(false);
  return (
    <>
      <Button kind="danger" whyNot={whyNot} onClick={() => setAsking(true)}>
        {label}
      </Button>
      {isAsking && (
        <FormDialog
          title={label}
          action={label}
          kind="danger"
          cancel={text.keep}
          change={change}
          onSubmit={() => onConfirm(close)}
          onClose={close}
        >
          <p>{question}</p>
        </FormDialog>
      )}
    </>
  );
}
