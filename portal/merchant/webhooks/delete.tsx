import { useQuery } from '@tanstack/react-query';

import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { useChange, type Subscription } from '../routes.ts';
import { countDeliveries } from './active-switch.tsx';
import { text } from './text.ts';

/** Asks before a subscription is deleted, and says what waits for it. */
export function DeleteDialog({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const { subscriptionId, url } = subscription;
  const waiting = useQuery({
    queryKey: ['waiting deliveries', subscriptionId],
    queryFn: () => countDeliveries(subscriptionId, 'PENDING,RETRYING'),
  });
  const remove = useChange('DELETE /api/checkout/webhooks/subscriptions/:subscriptionId');
  const confirm = (): void =>
    remove.mutate({ params: { subscriptionId } }, { onSuccess: () => (onClose(), toast(text.removed)) });
  return (
    <Dialog title={text.removeTitle} onClose={onClose}>
      <code className="font-mono">{url}</code>
      {waiting.data !== undefined && <p>{text.removeHelp(waiting.data)}</p>}
      {remove.error && <Failed error={remove.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{kit.cancel}</Button>
        <Button kind="danger" isBusy={remove.isPending} onClick={confirm}>
          {text.remove}
        </Button>
      </div>
    </Dialog>
  );
}
