import { useParams } from '@tanstack/react-router';

import { Empty, Loaded } from '../../ui/feedback.tsx';
import { Page } from '../../ui/page.tsx';
import { useRead } from '../routes.ts';
import { text as shared } from '../text.ts';
import { text } from './text.ts';
import { DeliveryView } from './view.tsx';

/** The deliveries of one event with their attempts. */
export function EventPage() {
  const { eventId } = useParams({ from: '/events/$eventId' });
  const found = useRead('GET /api/ops/search', { query: { q: eventId } });
  const [first] = found.data?.data.filter(({ kind }) => kind === 'delivery') ?? [];
  // The event and its order, without the receiver.
  const about = first?.title.split(' → ', 1)[0];
  return (
    <Page title={about === undefined ? text.eventTitle : shared.about(text.eventTitle, about)}>
      <Loaded query={found}>
        {({ data: hits }) => {
          const deliveries = hits.filter(({ kind }) => kind === 'delivery');
          if (deliveries.length === 0) return <Empty title={text.noDeliveries} />;
          return (
            <div className="flex max-w-4xl flex-col gap-4">
              {deliveries.map(({ id, title }) => (
                <section key={id} className="card flex flex-col gap-5 p-4 sm:p-6">
                  <h2 className="text-base font-semibold">{shared.about(shared.delivery, title)}</h2>
                  <DeliveryView id={id} />
                </section>
              ))}
            </div>
          );
        }}
      </Loaded>
    </Page>
  );
}
