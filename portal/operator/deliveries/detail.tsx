import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { AttemptLog } from '../../ui/attempts.tsx';
import { Note } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/dialog.tsx';
import { Facts, Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { NextAttempt } from '../../ui/next-attempt.tsx';
import { Time } from '../../ui/time.tsx';
import { CommandButton } from '../command-button.tsx';
import { Page } from '../page.tsx';
import { OtherEnvironment, TemporalLink } from '../parts.tsx';
import { useRead, type DeliveryDetail as Detail } from '../routes.ts';
import { text as shared } from '../text.ts';
import { DeliveryStatus } from './columns.tsx';
import { text } from './text.ts';

const BUSY_MS = 1_500;
const CALM_MS = 10_000;
const ENDPOINT = 'GET /api/ops/webhooks/deliveries/:deliveryId';

const isBusy = ({ status }: Pick<Detail, 'status'>): boolean => status === 'PENDING' || status === 'RETRYING';

/** A delivery; one that is being tried is read again every moment. */
function useDelivery(deliveryId: string) {
  const input = { params: { deliveryId } };
  const read = useRead(ENDPOINT, input);
  return useRead(ENDPOINT, input, { everyMs: read.data && isBusy(read.data.data) ? BUSY_MS : CALM_MS });
}

const titleOf = (delivery: Detail | undefined): string =>
  delivery ? [delivery.event, delivery.checkoutOrderNo].filter(Boolean).join(' · ') : '…';

/** A delivery beside the list. */
export function DeliveryDrawer({ deliveryId, onClose }: { deliveryId: string; onClose: () => void }) {
  const query = useDelivery(deliveryId);
  return (
    <Drawer title={titleOf(query.data?.data)} onClose={onClose}>
      <Loaded query={query}>
        {({ data }) => (
          <DeliveryDetail delivery={data}>
            <Link to="/deliveries/$deliveryId" params={{ deliveryId }} className={buttonStyle()}>
              {shared.asPage}
            </Link>
          </DeliveryDetail>
        )}
      </Loaded>
    </Drawer>
  );
}

/** A delivery as a page of its own. */
export function DeliveryPage() {
  const { deliveryId } = useParams({ from: '/deliveries/$deliveryId' });
  const query = useDelivery(deliveryId);
  return (
    <Page title={`${text.delivery}: ${titleOf(query.data?.data)}`}>
      <div className="card flex max-w-4xl flex-col gap-5 p-4 sm:p-6">
        <Loaded query={query}>
          {({ data }) => (
            <DeliveryDetail delivery={data}>
              <Link to="/deliveries" className={buttonStyle()}>
                {text.toList}
              </Link>
            </DeliveryDetail>
          )}
        </Loaded>
      </div>
    </Page>
  );
}

/** A delivery, what may be done with it, and every attempt. `children`: further buttons. */
export function DeliveryDetail({ delivery, children }: { delivery: Detail; children?: ReactNode }) {
  const { deliveryId, environment, status, deadLetteredAt, nextAttemptAt, links, temporalUrl } = delivery;
  return (
    <>
      <OtherEnvironment of={environment} path={`/deliveries/${deliveryId}`} />
      {status === 'FAILED' && deadLetteredAt !== null && <Note tone="bad">{text.givenUp}</Note>}
      <NextAttempt at={nextAttemptAt} />
      <div className="flex flex-wrap items-start gap-2">
        <CommandButton name="delivery.resend" address={links['resend']} />
        {isBusy(delivery) && <CommandButton name="delivery.cancel" address={links['cancel']} />}
        <TemporalLink url={temporalUrl} />
        {children}
      </div>
      <DeliveryFacts delivery={delivery} />
      <Section title={text.attempts}>
        <AttemptLog eventId={delivery.eventId} attempts={delivery.attemptLog} />
      </Section>
    </>
  );
}

function DeliveryFacts({ delivery }: { delivery: Detail }) {
  const { subscription, deliveredAt, deadLetteredAt, resourceId, merchantName, merchantId } = delivery;
  const { state, description, consecutiveFailures, throttledUntil } = subscription;
  return (
    <Facts
      rows={{
        [shared.status]: <DeliveryStatus of={delivery} />,
        [text.event]: delivery.event,
        [text.orderNo]: delivery.checkoutOrderNo && <Code value={delivery.checkoutOrderNo} name={text.orderNo} />,
        [shared.merchant]: (
          <>
            {merchantName} <Code value={merchantId} name={text.merchantId} />
          </>
        ),
        [text.url]: <Code value={delivery.url} name={text.url} />,
        [text.subscription]: [text[state], description].filter(Boolean).join(', '),
        [text.failuresInARow]: formatCount(consecutiveFailures),
        [text.throttledUntil]: throttledUntil && <Time at={throttledUntil} />,
        [text.createdAt]: <Time at={delivery.createdAt} seconds />,
        [text.deliveredAt]: deliveredAt && <Time at={deliveredAt} seconds />,
        [text.deadSince]: deadLetteredAt && <Time at={deadLetteredAt} seconds />,
        [text.about]: <Code value={resourceId} name={text.about} />,
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
