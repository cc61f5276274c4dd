import { Link } from '@tanstack/react-router';

import { AttemptLog } from '../../ui/attempts.tsx';
import { Note } from '../../ui/badge.tsx';
import { Code } from '../../ui/copy.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { formatCount, listed } from '../../ui/format.ts';
import { NextAttempt } from '../../ui/next-attempt.tsx';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { Actions, Decisions, MerchantLine, OtherEnvironment, Resource } from '../parts.tsx';
import { useRead, type DeliveryDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';
import { DeliveryStatus } from './columns.tsx';
import { text } from './text.ts';

const BUSY_MS = 1_500;
const CALM_MS = 10_000;
const ENDPOINT = 'GET /api/ops/webhooks/deliveries/:deliveryId';

const isBusy = ({ status }: Pick<Detail, 'status'>): boolean => status === 'PENDING' || status === 'RETRYING';

/** A delivery, what may be done with it, and every attempt. One that is being tried is read again every moment. */
export function DeliveryView({ id }: { id: string }) {
  const input = { params: { deliveryId: id } };
  const read = useRead(ENDPOINT, input);
  const query = useRead(ENDPOINT, input, { everyMs: read.data && isBusy(read.data.data) ? BUSY_MS : CALM_MS });
  return <Loaded query={query}>{({ data }) => <DeliveryDetail delivery={data} />}</Loaded>;
}

function DeliveryDetail({ delivery }: { delivery: Detail }) {
  const { deliveryId, environment, dismissedAt, nextAttemptAt, links, temporalUrl } = delivery;
  return (
    <>
      <OtherEnvironment of={environment} path={`/deliveries/${deliveryId}`} />
      {links['dismiss'] && <Note tone="bad">{text.givenUp}</Note>}
      {dismissedAt && <Note tone="info">{text.dismissedNote}</Note>}
      <NextAttempt at={nextAttemptAt} />
      <Actions temporalUrl={temporalUrl}>
        {delivery.status === 'DELIVERED' ? (
          <CommandButton
            name="delivery.resend-delivered"
            address={`/api/ops/webhooks/deliveries/${deliveryId}/resend`}
            body={{ force: true }}
          />
        ) : (
          <CommandButton name="delivery.resend" address={links['resend']} />
        )}
        {isBusy(delivery) && <CommandButton name="delivery.cancel" address={links['cancel']} />}
        {links['dismiss'] && <CommandButton name="delivery.dismiss" address={links['dismiss']} />}
      </Actions>
      <DeliveryFacts delivery={delivery} />
      <Decisions decisions={delivery.decisions} />
      <Section title={text.attempts}>
        <AttemptLog eventId={delivery.eventId} attempts={delivery.attemptLog} adviceTitle={text.advice} />
      </Section>
    </>
  );
}

function DeliveryFacts({ delivery }: { delivery: Detail }) {
  const { subscription, deliveredAt, deadLetteredAt, dismissedAt, resourceId } = delivery;
  const { state, description, consecutiveFailures, throttledUntil } = subscription;
  return (
    <Facts
      rows={{
        [shared.status]: <DeliveryStatus of={delivery} />,
        [text.event]: delivery.event,
        [text.orderNo]: delivery.checkoutOrderNo && <Code value={delivery.checkoutOrderNo} name={text.orderNo} />,
        [shared.merchant]: <MerchantLine of={delivery} />,
        [text.url]: <Code value={delivery.url} name={text.url} />,
        [text.subscription]: listed([text[state], description]),
        [text.failuresInARow]: formatCount(consecutiveFailures),
        [text.throttledUntil]: throttledUntil && <Time at={throttledUntil} />,
        [shared.createdAt]: <Time at={delivery.createdAt} seconds />,
        [text.deliveredAt]: deliveredAt && <Time at={deliveredAt} seconds />,
        [text.deadSince]: deadLetteredAt && <Time at={deadLetteredAt} seconds />,
        [text.dismissedAt]: dismissedAt && <Time at={dismissedAt} seconds />,
        [text.about]: <Resource id={resourceId} label={text.about} of={delivery.environment} />,
        [text.eventId]: (
          <Link to="/events/$eventId" params={{ eventId: delivery.eventId }} className="text-brand underline">
            {delivery.eventId}
          </Link>
        ),
        [text.deliveryId]: <Code value={delivery.deliveryId} name={text.deliveryId} />,
      }}
    />
  );
}
