import { useQuery } from '@tanstack/react-query';

import { Note } from '../../ui/badge.tsx';
import { QuestionDialog, SecretDialog } from '../../ui/form.tsx';
import { text as kit } from '../../ui/text.ts';
import { RotationDialog } from '../rotation-dialog.tsx';
import { useChange, type Subscription } from '../routes.ts';
import { countDeliveries } from './active-switch.tsx';
import { text } from './text.ts';

type Props = { subscription: Subscription; onClose: () => void };

const HOUR_SECONDS = 3_600;

/** Asks for how long the old secret signs as well, then replaces it. */
export function RotateDialog({ subscription, onClose, onSecret }: Props & { onSecret: (secret: string) => void }) {
  const { subscriptionId, url, previousSecretExpiresAt } = subscription;
  const rotate = useChange('POST /api/checkout/webhooks/subscriptions/:subscriptionId/rotate');
  const force = previousSecretExpiresAt !== null;
  const confirm = (hours: number): void =>
    rotate.mutate(
      { params: { subscriptionId }, body: { overlapSeconds: hours * HOUR_SECONDS, force } },
      { onSuccess: ({ data }) => (onClose(), onSecret(data.secret)) },
    );
  return (
    <RotationDialog title={text.rotateTitle} action={text.rotate} change={rotate} onRotate={confirm} onClose={onClose}>
      <code className="font-mono">{url}</code>
      <p>{text.rotateHelp}</p>
      {force && <Note tone="warn">{text.endsEarlier}</Note>}
    </RotationDialog>
  );
}

/** A secret with which the merchant checks signatures. */
export function SecretOnce(props: { secret: string; onClose: () => void }) {
  return <SecretDialog {...props} title={text.secretOnce} help={kit.secretHelp} name={text.secret} />;
}

/** Deletes a subscription after a question with the number of deliveries that wait. */
export function DeleteDialog({ subscription: { subscriptionId, url }, onClose }: Props) {
  const waiting = useQuery({
    queryKey: ['waiting deliveries', subscriptionId],
    queryFn: () => countDeliveries(subscriptionId, 'PENDING,RETRYING'),
  });
  const remove = useChange('DELETE /api/checkout/webhooks/subscriptions/:subscriptionId');
  return (
    <QuestionDialog
      title={text.removeTitle}
      action={text.remove}
      kind="danger"
      change={remove}
      input={{ params: { subscriptionId } }}
      done={text.removed}
      onClose={onClose}
    >
      <code className="font-mono">{url}</code>
      {waiting.data !== undefined && <p>{text.removeHelp(waiting.data)}</p>}
    </QuestionDialog>
  );
}
