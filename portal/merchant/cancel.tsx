import { useState } from 'react';

import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Failed } from '../ui/feedback.tsx';
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
        <Dialog title={label} onClose={close}>
          <p>{question}</p>
          {change.error !== null && <Failed error={change.error} />}
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={close}>{text.keep}</Button>
            <Button kind="danger" isBusy={change.isPending} onClick={() => onConfirm(close)}>
              {label}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
