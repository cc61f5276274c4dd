import { useState } from 'react';

import { AttemptLog } from '../../ui/attempts.tsx';
import { Badge, Note } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code, CodeBlock } from '../../ui/copy.tsx';
import { DELIVERY_TEXTS, DELIVERY_TONES } from '../../ui/delivery-status.ts';
import { Drawer } from '../../ui/dialog.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Failed, Loaded } from '../../ui/feedback.tsx';
import { NextAttempt } from '../../ui/next-attempt.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { useChange, useRead, type Delivery, type EventRow } from '../routes.ts';
import { text } from './text.ts';

const BUSY_MS = 1_500;
const CALM_MS = 10_000;

/** An event, its deliveries and every attempt. While one waits it is read again every moment. */
export function EventDrawer({ eventId, onClose }: { eventId: string; onClose: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const input = { params: { eventId }, query: { include: 'payload' } };
  const query = useRead('GET /api/checkout/webhooks/events/:eventId', input, { everyMs: isBusy ? BUSY_MS : CALM_MS });
  const waits =
    query.data?.data.deliveries.some(({ status }) => status === 'PENDING' || status === 'RETRYING') ?? false;
  if (waits !== isBusy) setBusy(waits);
  return (
    <Drawer title={query.data?.data.event ?? (query.error ? eventId : '…')} onClose={onClose}>
      <Loaded query={query}>{({ data }) => <EventDetail event={data} />}</Loaded>
    </Drawer>
  );
}

function EventDetail({ event }: { event: EventRow }) {
  const { eventId, resourceId, createdAt, status, deliveries, payload } = event;
  return (
    <>
      <Facts
        rows={{
          [text.status]: <Badge tone={DELIVERY_TONES[status]}>{DELIVERY_TEXTS[status]}</Badge>,
          [text.eventId]: <Code value={eventId} name={text.eventId} />,
          [text.resource]: <Code value={resourceId} name={text.resource} />,
          [text.createdAt]: <Time at={createdAt} seconds />,
        }}
      />
      {deliveries.map((delivery) => (
        <DeliveryPart key={delivery.deliveryId} event={event} delivery={delivery} />
      ))}
      <Section title={text.payload}>
        <p className="text-quiet">{text.payloadHelp}</p>
        <CodeBlock value={JSON.stringify(payload, null, 2)} name={text.payload} />
      </Section>
    </>
  );
}

function DeliveryPart({ event: { eventId }, delivery }: { event: EventRow; delivery: Delivery }) {
  const { whyNot } = useMember();
  const resend = useChange('POST /api/checkout/webhooks/events/:eventId/resend');
  const { url, status, subscriptionId, nextAttemptAt, deadLetteredAt } = delivery;
  const send = (): void =>
    resend.mutate(
      { params: { eventId }, body: { subscriptionId, force: status === 'DELIVERED' } },
      { onSuccess: () => toast(text.resent) },
    );
  return (
    <section className="flex flex-col gap-3 rounded-lg border border-line p-3">
      <header className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="min-w-0 font-mono text-[0.8125rem] font-semibold break-all">{url}</h2>
        <Badge tone={DELIVERY_TONES[status]}>{DELIVERY_TEXTS[status]}</Badge>
      </header>
      {status === 'FAILED' && deadLetteredAt !== null && <Note tone="bad">{text.givenUp}</Note>}
      <NextAttempt at={nextAttemptAt} />
      {status !== 'PENDING' && (
        <div>
          <Button icon="send" isBusy={resend.isPending} whyNot={whyNot('webhooks:resend')} onClick={send}>
            {text.resend}
          </Button>
        </div>
      )}
      {resend.error && <Failed error={resend.error} />}
      <Attempts eventId={eventId} delivery={delivery} />
    </section>
  );
}

const LOG_LIMIT = 100;

function Attempts({ eventId, delivery }: { eventId: string; delivery: Delivery }) {
  const { deliveryId, status, attempts } = delivery;
  const isBusy = status === 'PENDING' || status === 'RETRYING';
  const input = { params: { eventId }, query: { limit: LOG_LIMIT } };
  const log = useRead('GET /api/checkout/webhooks/events/:eventId/logs', input, { everyMs: isBusy && BUSY_MS });
  return (
    <Loaded query={log} skeletonRows={Math.max(attempts, 1)}>
      {({ data }) => (
        <AttemptLog eventId={eventId} attempts={data.filter((attempt) => attempt.deliveryId === deliveryId)} />
      )}
    </Loaded>
  );
}
