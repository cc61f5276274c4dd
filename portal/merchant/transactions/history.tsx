import { useQueries } from '@tanstack/react-query';

import type { TimelineKind } from '../../../src/payments/timeline.ts';
import { amharicOf } from '../../ui/api-meanings.ts';
import { ApiText } from '../../ui/api-text.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DELIVERY_TEXTS, DELIVERY_TONES } from '../../ui/delivery-status.ts';
import { Section } from '../../ui/facts.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { birr } from '../../ui/format.ts';
import { Timeline, type TimelineItem } from '../../ui/timeline.tsx';
import { toast } from '../../ui/toast.tsx';
import { factText, KINDS } from '../../ui/transaction-state.tsx';
import { REFRESH_MS } from '../../ui/use-calls.ts';
import { useMember } from '../member.ts';
import { call, useChange, useRead, type Attempt, type EventRow, type TransactionWithTimeline } from '../routes.ts';
import { AMOUNTS, text } from './detail-text.ts';

/** One timeline of the session, the provider, the balance, events and webhook attempts; and the events with a resend. */
export function History({ transaction }: { transaction: TransactionWithTimeline }) {
  const { may } = useMember();
  const canRead = may('webhooks:read');
  const { checkoutOrderNo, transactionDate } = transaction;
  const events = useRead(
    'GET /api/checkout/webhooks/events',
    { query: { checkoutOrderNo, startDate: transactionDate, limit: 100 } },
    // The stream has every change but later retries of webhooks.
    { enabled: canRead, everyMs: REFRESH_MS },
  );
  const rows = events.data?.data ?? [];
  const attempts = useAttempts(rows);
  return (
    <>
      {canRead && (
        <Section title={text.webhooks}>
          {events.error && <Failed error={events.error} retry={() => void events.refetch()} />}
          {events.data && rows.length === 0 && <p className="text-quiet">{text.noWebhooks}</p>}
          <ul className="flex flex-col">
            {rows.map((event) => (
              <EventLine key={event.eventId} event={event} />
            ))}
          </ul>
        </Section>
      )}
      <Section title={text.timeline}>
        <Timeline
          items={[
            ...transactionItems(transaction),
            ...transaction.movements.map(movementItem),
            ...rows.map(eventItem),
            ...attempts.map(attemptItem),
          ]}
        />
      </Section>
    </>
  );
}

type AttemptOfEvent = Attempt & { event: EventRow['event'] | undefined };

/** The attempts to deliver these events. */
function useAttempts(events: readonly EventRow[]): AttemptOfEvent[] {
  const endpoint = 'GET /api/checkout/webhooks/events/:eventId/logs';
  return useQueries({
    queries: events.map(({ eventId, deliveries }) => ({
      // With the state of its deliveries: another attempt is another log.
      queryKey: [endpoint, eventId, deliveries.map(({ status, attempts }) => `${status} ${attempts}`)],
      queryFn: () => call(endpoint, { params: { eventId } }),
    })),
    combine: (results) =>
      results.flatMap(({ data }, index) =>
        (data?.data ?? []).map((attempt) => ({ ...attempt, event: events[index]?.event })),
      ),
  });
}

const TONES: Partial<Record<TimelineKind, Tone>> = {
  'payment.succeeded': 'good',
  'payment.accepted': 'good',
  'attempt.declined': 'bad',
  'session.expired': 'warn',
  'payment.held': 'warn',
  'payment.duplicate': 'warn',
  'refund.succeeded': 'good',
  'refund.failed': 'bad',
};

function transactionItems({ timeline }: TransactionWithTimeline): TimelineItem[] {
  return timeline.map(({ at, kind, detail }, index) => ({
    id: `${index}`,
    at,
    title: KINDS[kind as TimelineKind],
    tone: TONES[kind as TimelineKind] ?? 'quiet',
    detail: detailText({ kind, detail }),
  }));
}

/** The facts of an entry that a merchant can use: amounts in birr, no ids. */
function detailText(entry: Pick<TransactionWithTimeline['timeline'][number], 'kind' | 'detail'>): string {
  return Object.entries(entry.detail)
    .map(([name, value]) => (AMOUNTS[name] ? `${AMOUNTS[name]} ${birr(Number(value) / 100)}` : factText(entry, name)))
    .filter((fact) => fact !== undefined)
    .join(' · ');
}

function movementItem({
  entryId,
  createdAt,
  account,
  amount,
}: TransactionWithTimeline['movements'][number]): TimelineItem {
  const title = text.balance(birr(amount), text[account]);
  return { id: entryId, at: createdAt, title, tone: amount < 0 ? 'quiet' : 'good' };
}

function eventItem({ eventId, event, createdAt }: EventRow): TimelineItem {
  return { id: eventId, at: createdAt, title: text.event(event), tone: 'info' };
}

function attemptItem({ attemptId, event, sequence, startedAt, ...attempt }: AttemptOfEvent): TimelineItem {
  const { httpStatus, failure, durationMs, url } = attempt;
  const { host, pathname } = new URL(url);
  const answer = httpStatus !== null && durationMs !== null && text.answered(httpStatus, durationMs);
  return {
    id: attemptId,
    at: startedAt,
    title: text.attempt(sequence),
    tone: failure ? 'bad' : 'good',
    detail: (
      <>
        {[event, host + pathname, answer].filter(Boolean).join(' · ')}
        {failure && (
          <>
            {' · '}
            <ApiText text={failure.message} amharic={amharicOf(failure.code)} />
          </>
        )}
      </>
    ),
  };
}

function EventLine({ event: { eventId, event, status } }: { event: EventRow }) {
  const { may } = useMember();
  const resend = useChange('POST /api/checkout/webhooks/events/:eventId/resend');
  const isDelivered = status === 'DELIVERED';
  return (
    <li className="flex flex-col gap-2 border-b border-line py-1.5 last:border-0">
      <div className="flex flex-wrap items-center gap-2">
        <code className="font-mono text-xs">{event}</code>
        <Badge tone={DELIVERY_TONES[status]}>{DELIVERY_TEXTS[status]}</Badge>
        {may('webhooks:resend') && status !== 'NO_SUBSCRIBERS' && status !== 'PENDING' && (
          <span className="ms-auto">
            <Button
              icon="send"
              isBusy={resend.isPending}
              onClick={() =>
                resend.mutate(
                  { params: { eventId }, body: { force: isDelivered } },
                  { onSuccess: () => toast(text.resent) },
                )
              }
            >
              {text.resend}
            </Button>
          </span>
        )}
      </div>
      {resend.error && <Failed error={resend.error} />}
    </li>
  );
}
