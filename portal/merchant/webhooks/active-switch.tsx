import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { Button } from '../../ui/button.tsx';
import { lastDays } from '../../ui/days.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed } from '../../ui/feedback.tsx';
import { Switch } from '../../ui/field.tsx';
import { text as kit } from '../../ui/text.ts';
import { useMember } from '../member.ts';
import { ResendProgress } from '../resend-progress.tsx';
import { call, useChange, type Subscription } from '../routes.ts';
import { text } from './text.ts';

const DAYS_BACK = 30;

/** The number of this subscription's events with a delivery in these states. */
export async function countDeliveries(subscriptionId: string, status: string): Promise<number> {
  const query = { subscriptionId, status, ...lastDays(DAYS_BACK), limit: 1 };
  const { pagination } = await call('GET /api/checkout/webhooks/events', { query });
  return pagination?.total ?? 0;
}

type Question = { isTurningOn: boolean; count: number };

/** Turns a subscription on or off. It asks first where deliveries wait or were skipped. */
export function ActiveSwitch({ subscription }: { subscription: Subscription }) {
  const { whyNot } = useMember();
  const { subscriptionId, active } = subscription;
  const change = useChange('PATCH /api/checkout/webhooks/subscriptions/:subscriptionId');
  const resend = useChange('POST /api/checkout/webhooks/events/resend');
  const [question, setQuestion] = useState<Question | null>(null);
  const turning = useMutation({
    mutationFn: async ({ isOn, isResending }: { isOn: boolean; isResending: boolean }) => {
      setQuestion(null);
      await change.mutateAsync({ params: { subscriptionId }, body: { active: isOn } });
      if (isResending) {
        await resend.mutateAsync({ body: { status: 'SKIPPED', subscriptionId, ...lastDays(DAYS_BACK) } });
      }
    },
  });
  const counting = useMutation({
    mutationFn: (isTurningOn: boolean) => countDeliveries(subscriptionId, isTurningOn ? 'SKIPPED' : 'PENDING,RETRYING'),
    onSuccess: (count, isTurningOn) => {
      if (isTurningOn && count === 0) turning.mutate({ isOn: true, isResending: false });
      else setQuestion({ isTurningOn, count });
    },
  });
  const failure = counting.error ?? turning.error;
  const jobId = resend.data?.data.jobId;
  return (
    <div className="flex flex-col gap-2">
      <Switch
        label={text.active}
        isOn={active}
        isBusy={counting.isPending || turning.isPending}
        whyNot={whyNot('webhooks:write')}
        onChange={(isOn) => counting.mutate(isOn)}
      />
      {jobId !== undefined && <ResendProgress jobId={jobId} />}
      {failure !== null && <Failed error={failure} />}
      {question && (
        <ActiveQuestion
          {...question}
          onClose={() => setQuestion(null)}
          onAnswer={(isResending) => turning.mutate({ isOn: question.isTurningOn, isResending })}
        />
      )}
    </div>
  );
}

type QuestionProps = Question & { onClose: () => void; onAnswer: (isResending: boolean) => void };

function ActiveQuestion({ isTurningOn, count, onClose, onAnswer }: QuestionProps) {
  return (
    <Dialog title={isTurningOn ? text.turnOnTitle : text.turnOffTitle} onClose={onClose}>
      <p>{isTurningOn ? text.turnOnHelp(count) : text.turnOffHelp(count)}</p>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{kit.cancel}</Button>
        {isTurningOn ? (
          <>
            <Button onClick={() => onAnswer(false)}>{text.turnOnOnly}</Button>
            <Button kind="primary" onClick={() => onAnswer(true)}>
              {text.turnOnAndSend}
            </Button>
          </>
        ) : (
          <Button kind="danger" onClick={() => onAnswer(false)}>
            {text.turnOff}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
