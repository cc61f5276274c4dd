import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { Button } from '../ui/button.tsx';
import { Failed } from '../ui/feedback.tsx';
import { formatCount } from '../ui/format.ts';
import { catalogue } from '../ui/language.ts';
import { text as kit } from '../ui/text.ts';
import { useMember } from './member.ts';
import { useChange, useRead } from './routes.ts';

const LOOK_EVERY_MS = 1_000;

const text = catalogue({
  label: ['Progress of the resend', 'የዳግም መላኪያው ሂደት'],
  RUNNING: ['Resending', 'እንደገና በመላክ ላይ'],
  DONE: ['Done', 'ተጠናቋል'],
  CANCELLED: ['Cancelled', 'ተቋርጧል'],
  sent: (sent: number, matched: number) => [
    `${formatCount(sent)} of ${formatCount(matched)} sent`,
    `ከ${formatCount(matched)} ውስጥ ${formatCount(sent)} ተልከዋል`,
  ],
  delivered: (count: number) => [`${formatCount(count)} delivered`, `${formatCount(count)} ደርሰዋል`],
  failed: (count: number) => [`${formatCount(count)} failed`, `${formatCount(count)} አልተሳኩም`],
  stop: ['Cancel the resend', 'ዳግም መላኩን ያቋርጡ'],
});

/** The progress of a bulk resend until its last resend is complete, and a way to stop it. */
export function ResendProgress({ jobId, onClose }: { jobId: string; onClose?: () => void }) {
  const { whyNot } = useMember();
  const endpoint = 'GET /api/checkout/webhooks/resend-jobs/:jobId';
  const [isEnded, setEnded] = useState(false);
  const { data, error } = useRead(endpoint, { params: { jobId } }, { everyMs: !isEnded && LOOK_EVERY_MS });
  const cancel = useChange('POST /api/checkout/webhooks/resend-jobs/:jobId/cancel');
  const client = useQueryClient();
  useEffect(() => {
    if (isEnded) void client.invalidateQueries();
  }, [isEnded, client]);
  if (!data) return error ? <Failed error={error} /> : null;
  const { status, matched, sent, delivered, failed, endedAt } = data.data;
  if (endedAt !== null && !isEnded) setEnded(true);
  return (
    <div className="flex flex-col gap-2">
      <progress max={Math.max(matched, 1)} value={sent} aria-label={text.label} />
      <p role="status" className="flex flex-wrap gap-x-3">
        <span className="font-semibold">{text[status]}</span>
        <span>{text.sent(sent, matched)}</span>
        <span className="text-good">{text.delivered(delivered)}</span>
        {failed > 0 && <span className="text-bad">{text.failed(failed)}</span>}
      </p>
      {cancel.error && <Failed error={cancel.error} />}
      <div className="flex flex-wrap gap-2">
        {status === 'RUNNING' && (
          <Button
            isBusy={cancel.isPending}
            whyNot={whyNot('webhooks:resend')}
            onClick={() => cancel.mutate({ params: { jobId } })}
          >
            {text.stop}
          </Button>
        )}
        {onClose && status !== 'RUNNING' && <Button onClick={onClose}>{kit.close}</Button>}
      </div>
    </div>
  );
}
