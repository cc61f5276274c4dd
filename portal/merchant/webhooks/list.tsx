import { useState } from 'react';

import { DialogButton } from '../../ui/dialog-button.tsx';
import { environment } from '../../ui/environment.ts';
import { Empty, Loaded } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { useMember } from '../member.ts';
import { useRead } from '../routes.ts';
import { SecretOnce } from './dialogs.tsx';
import { SubscriptionForm } from './form.tsx';
import { Receiver } from './receiver.tsx';
import { SubscriptionCard } from './subscription.tsx';
import { text } from './text.ts';

/** The webhook subscriptions of the merchant: at most 16, so all on one screen. */
export function Webhooks() {
  const { whyNot } = useMember();
  const subscriptions = useRead('GET /api/checkout/webhooks/subscriptions', {}, { everyMs: REFRESH_MS });
  const [secret, setSecret] = useState<string | null>(null);
  const create = (
    <DialogButton kind="primary" icon="plus" label={text.newSubscription} whyNot={whyNot('webhooks:write')}>
      {(close) => <SubscriptionForm onClose={close} onSecret={setSecret} />}
    </DialogButton>
  );
  return (
    <Page title={text.title} actions={create}>
      <p className="mb-4 text-quiet">{text.intro}</p>
      <div className="flex flex-col gap-4">
        <Loaded query={subscriptions} skeletonRows={6}>
          {({ data }) =>
            data.length === 0 ? (
              <div className="card">
                <Empty title={text.noneYet}>{text.noneYetHelp}</Empty>
              </div>
            ) : (
              <ul aria-label={text.listLabel} className="grid gap-4 xl:grid-cols-2">
                {data.map((subscription) => (
                  <SubscriptionCard
                    key={subscription.subscriptionId}
                    subscription={subscription}
                    onSecret={setSecret}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
        {environment === 'sandbox' && subscriptions.data && <Receiver subscriptions={subscriptions.data.data} />}
      </div>
      {secret !== null && <SecretOnce secret={secret} onClose={() => setSecret(null)} />}
    </Page>
  );
}
