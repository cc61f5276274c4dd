import { Link } from '@tanstack/react-router';

import { amharicOf } from '../../ui/api-meanings.ts';
import { ApiText } from '../../ui/api-text.tsx';
import { Badge, Note, type Tone } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { formatShare } from '../../ui/format.ts';
import { Time } from '../../ui/time.tsx';
import { useMember } from '../member.ts';
import type { Subscription } from '../routes.ts';
import { ActiveSwitch } from './active-switch.tsx';
import { DeleteDialog, RotateDialog } from './dialogs.tsx';
import { SubscriptionForm } from './form.tsx';
import { Health } from './health.tsx';
import { TestEvent } from './test-event.tsx';
import { text } from './text.ts';

type Props = { subscription: Subscription; onSecret: (secret: string) => void };

/** One subscription: its state, what it gets, and what can be done with it. */
export function SubscriptionCard({ subscription, onSecret }: Props) {
  const { may } = useMember();
  const { url, subscriptionId, description, eventTypes, sandboxReceiver } = subscription;
  return (
    <li className="card flex flex-col gap-3 p-4">
      <header className="flex flex-wrap items-start justify-between gap-2">
        <div className="min-w-0">
          <h2 className="font-semibold">
            {sandboxReceiver === null ? <Code value={url} name={text.url} /> : text.receiver}
          </h2>
          {description && <p className="text-quiet">{description}</p>}
        </div>
        <HealthBadge subscription={subscription} />
      </header>
      <ActiveSwitch subscription={subscription} />
      <SubscriptionFacts subscription={subscription} />
      <ul className="flex flex-wrap gap-1">
        {eventTypes.map((type) => (
          <li key={type}>
            <Badge tone="quiet">{type === '*' ? text.allEvents : type}</Badge>
          </li>
        ))}
      </ul>
      <Health subscriptionId={subscriptionId} />
      <div className="mt-auto flex flex-wrap gap-2">
        <Link to="/events" search={{ subscriptionId }} className={buttonStyle()}>
          {text.toEvents}
        </Link>
        {may('webhooks:write') && (
          <>
            <DialogButton label={text.edit}>
              {(close) => <SubscriptionForm subscription={subscription} onClose={close} onSecret={onSecret} />}
            </DialogButton>
            <DialogButton label={text.rotate}>
              {(close) => <RotateDialog subscription={subscription} onClose={close} onSecret={onSecret} />}
            </DialogButton>
            <DialogButton label={text.remove}>
              {(close) => <DeleteDialog subscription={subscription} onClose={close} />}
            </DialogButton>
          </>
        )}
      </div>
      {may('webhooks:write') && <TestEvent subscription={subscription} />}
    </li>
  );
}

function SubscriptionFacts({ subscription }: { subscription: Subscription }) {
  const { health, secretHint, previousSecretExpiresAt, headers, createdAt } = subscription;
  const { successRate24h, lastFailure } = health;
  return (
    <>
      {health.state === 'FAILING' && lastFailure && (
        <Note tone="bad">
          {text.lastFailure}: <ApiText text={lastFailure.message} amharic={amharicOf(lastFailure.code)} />{' '}
          <Time at={lastFailure.at} />
        </Note>
      )}
      <Facts
        rows={{
          [text.successRate]: successRate24h === null ? text.noDeliveries : formatShare(successRate24h),
          [text.secret]: text.secretEnds(secretHint),
          [text.previousUntil]: previousSecretExpiresAt && <Time at={previousSecretExpiresAt} />,
          [text.headers]: headers.join(', '),
          [text.created]: <Time at={createdAt} />,
        }}
      />
    </>
  );
}

const TONES: Record<Subscription['health']['state'], Tone> = { UNVERIFIED: 'info', HEALTHY: 'good', FAILING: 'bad' };

/** Whether a subscription is on, and else whether its receiver answers. */
function HealthBadge({ subscription: { active, health } }: { subscription: Subscription }) {
  return active ? (
    <Badge tone={TONES[health.state]}>{text[health.state]}</Badge>
  ) : (
    <Badge tone="quiet">{text.inactive}</Badge>
  );
}
