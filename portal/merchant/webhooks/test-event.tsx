import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { adviceOf } from '../../ui/advice.ts';
import { amharicOf } from '../../ui/api-meanings.ts';
import { ApiText } from '../../ui/api-text.tsx';
import { Note } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copy.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { useChange, useRead, type Subscription } from '../routes.ts';
import { text } from './text.ts';

const LOOK_EVERY_MS = 700;

/** Sends a test event and shows what the receiver answers. */
export function TestEvent({ subscription: { subscriptionId, active } }: { subscription: Subscription }) {
  const send = useChange('POST /api/checkout/webhooks/subscriptions/:subscriptionId/test');
  const [eventId, setEventId] = useState<string | null>(null);
  const start = (): void => {
    setEventId(null);
    send.mutate({ params: { subscriptionId }, body: {} }, { onSuccess: ({ data }) => setEventId(data.eventId) });
  };
  return (
    <div className="flex flex-col gap-2 border-t border-line pt-3">
      <div>
        <Button icon="send" isBusy={send.isPending} whyNot={active ? undefined : text.testInactive} onClick={start}>
          {text.test}
        </Button>
      </div>
      {send.error && <Failed error={send.error} />}
      {eventId !== null && <Answer key={eventId} eventId={eventId} />}
    </div>
  );
}

/** The first attempt of an event, once it has ended. */
function Answer({ eventId }: { eventId: string }) {
  const endpoint = 'GET /api/checkout/webhooks/events/:eventId/logs';
  const client = useQueryClient();
  const [isDone, setDone] = useState(false);
  const log = useRead(endpoint, { params: { eventId } }, { everyMs: !isDone && LOOK_EVERY_MS });
  const attempt = log.data?.data[0];
  if (typeof attempt?.durationMs === 'number' && !isDone) setDone(true);
  useEffect(() => {
    // The answer has changed the health of the subscription.
    if (isDone) void client.invalidateQueries({ queryKey: ['GET /api/checkout/webhooks/subscriptions'] });
  }, [client, isDone]);
  if (!attempt || !isDone) return <p role="status">{text.testSending}</p>;
  const { httpStatus, durationMs, failure, responseExcerpt } = attempt;
  return (
    <div role="status" className="flex flex-col gap-2">
      <Note tone={failure ? 'bad' : 'good'}>
        {failure ? (
          <>
            {text.testBad} <ApiText text={failure.message} amharic={amharicOf(failure.code)} />
          </>
        ) : (
          text.testGood(httpStatus ?? 0, durationMs ?? 0)
        )}
      </Note>
      {failure && <p>{adviceOf(failure.code, httpStatus)}</p>}
      {responseExcerpt && <CodeBlock value={responseExcerpt} name={text.testAnswer} />}
    </div>
  );
}
