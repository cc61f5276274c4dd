import { useState } from 'react';

import { Button } from './button.tsx';
import { failureText } from './feedback.tsx';
import { toast } from './toast.tsx';

/** A button that saves a file, or shows why it could not. */
export function SaveButton({ label, save }: { label: string; save: () => Promise<void> }) {
  const [isBusy, setBusy] = useState(false);
  const onClick = async (): Promise<void> => {
    setBusy(true);
    await save().catch((error: unknown) => toast(failureText(error)));
    setBusy(false);
  };
  return (
    <Button icon="download" isBusy={isBusy} onClick={() => void onClick()}>
      {label}
    </Button>
  );
}
