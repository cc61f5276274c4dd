import { useState } from 'react';

import { Note } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { Choice } from '../../ui/field.tsx';
import { text as kit } from '../../ui/text.ts';
import { useChange, type Subscription } from '../routes.ts';
import { text } from './text.ts';

/** A secret, which the API returns only once. */
export function SecretOnce({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog title={text.secretOnce} onClose={onClose}>
      <p>{text.secretOnceHelp}</p>
      <CodeBlock value={secret} name={text.secret} />
      <Button kind="primary" onClick={onClose}>
        {text.stored}
      </Button>
    </Dialog>
  );
}

const HOUR_SECONDS = 3_600;
const OVERLAPS = [
  ['0', text.overlap0],
  ['1', text.overlap1],
  ['24', text.overlap24],
  ['168', text.overlap168],
] as const;

type Props = { subscription: Subscription; onClose: () => void; onSecret: (secret: string) => void };

/** Asks for how long the old secret signs as well, then replaces it. */
export function RotateDialog({ subscription, onClose, onSecret }: Props) {
  const { subscriptionId, previousSecretExpiresAt } = subscription;
  const [hours, setHours] = useState<(typeof OVERLAPS)[number][0]>('24');
  const rotate = useChange('POST /api/checkout/webhooks/subscriptions/:subscriptionId/rotate');
  const isOverlapping = previousSecretExpiresAt !== null;
  const confirm = (): void =>
    rotate.mutate(
      {
        params: { subscriptionId },
        body: { overlapSeconds: Number(hours) * HOUR_SECONDS, force: isOverlapping },
      },
      {
        onSuccess: ({ data }) => {
          onClose();
          onSecret(data.secret);
        },
      },
    );
  return (
    <Dialog title={text.rotateTitle} onClose={onClose}>
      <p>{text.rotateHelp}</p>
      {isOverlapping && <Note tone="warn">{text.endsEarlier}</Note>}
      <Choice label={text.overlap} options={OVERLAPS} value={hours} onChange={setHours} />
      {rotate.error && <Failed error={rotate.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{kit.cancel}</Button>
        <Button kind="primary" isBusy={rotate.isPending} onClick={confirm}>
          {text.rotate}
        </Button>
      </div>
    </Dialog>
  );
}
