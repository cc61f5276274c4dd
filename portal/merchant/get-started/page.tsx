import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Badge } from '../../ui/badge.tsx';
import { buttonStyle } from '../../ui/button.tsx';
import { lastDays } from '../../ui/days.ts';
import { environment } from '../../ui/environment.ts';
import { Empty, Failed, Skeleton } from '../../ui/feedback.tsx';
import { listed } from '../../ui/format.ts';
import { Icon } from '../../ui/icon.tsx';
import { Page } from '../../ui/page.tsx';
import { useMember, type Member } from '../member.ts';
import { useRead, type Key } from '../routes.ts';
import { SwitchOn } from '../webhooks/receiver.tsx';
import { Arrival } from './arrival.tsx';
import { TestPayment } from './test-payment.tsx';
import { text } from './text.ts';

const REFRESH_MS = 5_000;
const PAYMENT_DAYS = 90;
const EVENT_DAYS = 30;

/** The way from nothing to real payments. What is done is read from the merchant's data. */
export function GetStarted() {
  return (
    <Page title={text.title}>
      {environment === 'live' ? (
        <div className="card">
          <Empty title={text.inTest}>
            <a href="/test/get-started" className={buttonStyle('primary')}>
              {text.toTest}
            </a>
          </Empty>
        </div>
      ) : (
        <Steps />
      )}
    </Page>
  );
}

/** What the steps are judged by. */
function useProgress(canReadKeys: boolean) {
  const every = { everyMs: REFRESH_MS };
  const successful = { ...lastDays(PAYMENT_DAYS), status: 'SUCCESS', currency: 'ETB', limit: 1 };
  const delivered = { ...lastDays(EVENT_DAYS), status: 'DELIVERED', limit: 1 };
  return {
    me: useRead('GET /api/portal/me', {}, every),
    paid: useRead('GET /api/checkout/txns/get_all_txns', { query: successful }, every),
    subscriptions: useRead('GET /api/checkout/webhooks/subscriptions', {}, every),
    keys: useRead('GET /api/portal/keys', {}, { ...every, enabled: canReadKeys }),
    delivered: useRead('GET /api/checkout/webhooks/events', { query: delivered }, every),
  };
}

function Steps() {
  const member = useMember();
  const { me, paid, subscriptions, keys, delivered } = useProgress(member.may('keys:read'));
  if (!me.data || !paid.data || !subscriptions.data || !delivered.data) {
    const failed = [me, paid, subscriptions, delivered].find(({ error }) => error);
    if (!failed) return <Skeleton rows={12} />;
    return <Failed error={failed.error} retry={() => void failed.refetch()} />;
  }
  const merchant = me.data.data.merchant ?? member.merchant;
  const active = subscriptions.data.data.filter(({ active: isActive }) => isActive).length;
  const payments = paid.data.pagination?.total ?? 0;
  const [latest] = paid.data.data;
  const steps: readonly Step[] = [
    {
      title: text.verify,
      isDone: merchant.kycStatus === 'APPROVED',
      help: text.verifyHelp,
      state: text[merchant.kycStatus as 'APPROVED'],
      action: (
        <a href="/live/verification" className={buttonStyle()}>
          {text.toVerification}
        </a>
      ),
    },
    ...keySteps(keys.data?.data),
    {
      title: text.webhook,
      isDone: active > 0,
      help: text.webhookHelp,
      state: text.webhooks(active),
      action: (
        <div className="flex flex-wrap items-start gap-2">
          <Link to="/webhooks" className={buttonStyle()}>
            {text.toWebhooks}
          </Link>
          {active === 0 && <SwitchOn />}
        </div>
      ),
    },
    {
      title: text.pay,
      isDone: payments > 0,
      help: text.payHelp,
      state: text.payments(payments),
      action: <TestPayment isFirst={payments === 0} />,
    },
    {
      title: text.arrive,
      isDone: (delivered.data.pagination?.total ?? 0) > 0,
      help: text.arriveHelp,
      state: latest ? undefined : text.notPaid,
      action: latest && <Arrival transaction={latest} />,
    },
    { title: text.live, help: text.liveHelp, ...live(member, merchant, payments > 0) },
  ];
  return <StepList steps={steps} />;
}

/** The step of the first key, for those who may see keys. */
function keySteps(keys: readonly Key[] | undefined): Step[] {
  if (!keys) return [];
  const active = keys.filter(({ revokedAt }) => revokedAt === null).length;
  const link = (
    <Link to="/keys" className={buttonStyle()}>
      {text.toKeys}
    </Link>
  );
  return [{ title: text.key, isDone: active > 0, help: text.keyHelp, state: text.keys(active), action: link }];
}

/** Whether live can be used, and what is missing. */
function live(
  { twoFactor }: Member,
  { kycStatus, liveEnabled }: Member['merchant'],
  hasPaid: boolean,
): Pick<Step, 'isDone' | 'state' | 'action'> {
  const needsTwoFactor = twoFactor.requiredForLive && !twoFactor.enabled;
  const missing = [
    kycStatus !== 'APPROVED' && text.missingVerification,
    !hasPaid && text.missingPayment,
    needsTwoFactor && text.missingTwoFactor,
  ].filter((one) => one !== false);
  const state = missing.length === 0 ? text.liveOpen : text.liveClosed(listed(missing));
  const link = needsTwoFactor ? (
    <Link to="/security" className={buttonStyle()}>
      {text.turnOnTwoFactor}
    </Link>
  ) : (
    liveEnabled && (
      <a href="/live/" className={buttonStyle('primary')}>
        {text.toLive}
      </a>
    )
  );
  return { isDone: liveEnabled && missing.length === 0, state, action: link };
}

type Step = { title: string; isDone: boolean; help: string; state: string | undefined; action: ReactNode };

function StepList({ steps }: { steps: readonly Step[] }) {
  const done = steps.filter(({ isDone }) => isDone).length;
  const next = steps.findIndex(({ isDone }) => !isDone);
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      <p className="text-quiet">{text.intro}</p>
      <p className="font-semibold">{text.progress(done, steps.length)}</p>
      <ol className="flex flex-col gap-3">
        {steps.map(({ title, isDone, help, state, action }, index) => (
          <li
            key={title}
            aria-current={index === next ? 'step' : undefined}
            className={`card flex gap-3 p-4 ${index === next ? 'border-brand' : ''}`}
          >
            <span
              aria-hidden="true"
              className={`flex size-7 shrink-0 items-center justify-center rounded-full font-semibold ${isDone ? 'bg-good-soft text-good' : 'bg-sunken text-quiet'}`}
            >
              {isDone ? <Icon name="check" /> : index + 1}
            </span>
            <div className="flex min-w-0 flex-1 flex-col items-start gap-2">
              <h2 className="flex flex-wrap items-center gap-2 text-base font-semibold">
                {title}
                <Badge tone={isDone ? 'good' : 'quiet'}>{isDone ? text.done : text.open}</Badge>
              </h2>
              <p className="text-quiet">{help}</p>
              {state && <p className="font-medium">{state}</p>}
              {action}
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}
