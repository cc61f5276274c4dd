import { useParams } from '@tanstack/react-router';

import { Empty, Loaded } from '../../ui/feedback.tsx';
import { Page } from '../page.tsx';
import { useRead } from '../routes.ts';
import { DeliveryDetail } from './detail.tsx';
import { text } from './text.ts';

const REFRESH_MS = 3_000;

/** The deliveries of one event with their attempts. */
export function EventPage() {
  const { eventId } = useParams({ from: '/events/$eventId' });
  const found = useRead('GET /api/ops/search', { query: { q: eventId } });
  return (
    <Page title={text.eventTitle}>
      <Loaded query={found}>
        {({ data: hits }) => {
          const deliveries = hits.filter(({ kind }) => kind === 'delivery');
          if (deliveries.length === 0) return <Empty title={text.noDeliveries} />;
          return (
            <div className="flex max-w-4xl flex-col gap-4">
              {deliveries.map(({ id }) => (
                <OneDelivery key={id} deliveryId={id} />
              ))}
            </div>
          );
        }}
      </Loaded>
    </Page>
  );
}

function OneDelivery({ deliveryId }: { deliveryId: string }) {
  const endpoint = 'GET /api/ops/webhooks/deliveries/:deliveryId';
  const query = useRead(endpoint, { params: { deliveryId } }, { everyMs: REFRESH_MS });
  return (
    <section className="card flex flex-col gap-5 p-4 sm:p-6">
      <Loaded query={query}>
        {({ data }) => (
          <>
            <h2 className="text-base font-semibold">{[data.event, data.receiverHost].join(' → ')}</h2>
            <DeliveryDetail delivery={data} />
          </>
        )}
      </Loaded>
    </section>
  );
}
