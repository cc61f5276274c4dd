import { useState } from 'react';

import { issueOf } from '../../ui/api-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { environment } from '../../ui/environment.ts';
import { Facts } from '../../ui/facts.tsx';
import { Failed, Skeleton } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import { catalogue } from '../../ui/language.ts';
import { text as kit } from '../../ui/text.ts';
import { useOperator } from '../operator.ts';
import { useChange, useRead } from '../routes.ts';
import { text as shared } from '../text.ts';

const text = catalogue({
  button: ['Resend all that match', 'የሚስማሙትን ሁሉ እንደገና ይላኩ'],
  oneState: [
    'Filter by one of the states Dead letter, Failed or Skipped first.',
    'መጀመሪያ ከ“ያልደረሰ መልእክት”፣ “አልተሳካም” ወይም “ታልፏል” በአንዱ ያጣሩ።',
  ],
  matched: (count: number) => [`Deliveries that match: ${formatCount(count)}`, `የሚስማሙ መላኪያዎች፦ ${formatCount(count)}`],
  pace: (perSecond: number, time: string) => [
    `${formatCount(perSecond)} in a second, oldest first: about ${time}.`,
    `በሰከንድ ${formatCount(perSecond)}፣ ከቆየው ጀምሮ፦ ወደ ${time} ገደማ።`,
  ],
  inactive: ['Those of inactive subscriptions are not among them.', 'የቆሙ ምዝገባዎች መላኪያዎች አይካተቱም።'],
  nothing: ['No delivery matches.', 'የሚስማማ መላኪያ የለም።'],
  start: ['Resend them', 'እንደገና ይላኳቸው'],
  progress: ['Progress', 'ሂደት'],
  ofAll: ['Match', 'የሚስማሙ'],
  sent: ['Resent', 'እንደገና የተላኩ'],
  delivered: ['Delivered', 'የደረሱ'],
  failed: ['Failed again', 'እንደገና ያልተሳኩ'],
  state: ['State', 'ሁኔታ'],
  stop: ['Stop', 'ያቁሙ'],
  RUNNING: ['Running', 'በሂደት ላይ'],
  DONE: ['Done', 'አልቋል'],
  CANCELLED: ['Stopped', 'ቆሟል'],
});

const RESENDABLE = ['DEAD_LETTER', 'FAILED', 'SKIPPED'];
const PROGRESS_MS = 1_000;

type Filter = Readonly<Record<string, string | undefined>>;

/** Resends everything that the filter of the list finds, after it was counted. */
export function BulkResendButton({ filter }: { filter: Filter }) {
  const { whyNot } = useOperator();
  const [isOpen, setOpen] = useState(false);
  const count = useChange('POST /api/ops/webhooks/deliveries/resend');
  const isOneState = RESENDABLE.includes(filter['status'] ?? '');
  const open = (): void => {
    count.mutate({ body: { ...filter, environment, dryRun: true } });
    setOpen(true);
  };
  return (
    <>
      <Button
        icon="send"
        whyNot={whyNot('delivery.resend-many') ?? (isOneState ? undefined : text.oneState)}
        onClick={open}
      >
        {text.button}
      </Button>
      {isOpen && <BulkResend filter={filter} count={count} onClose={() => setOpen(false)} />}
    </>
  );
}

type Count = Pick<ReturnType<typeof useChange<'POST /api/ops/webhooks/deliveries/resend'>>, 'data' | 'error'>;

function BulkResend({ filter, count, onClose }: { filter: Filter; count: Count; onClose: () => void }) {
  const [jobId, setJobId] = useState<string | null>(null);
  return (
    <Dialog title={jobId === null ? text.button : text.progress} onClose={onClose}>
      {jobId === null ? (
        <StartForm filter={filter} count={count} onStarted={setJobId} onClose={onClose} />
      ) : (
        <Progress jobId={jobId} onClose={onClose} />
      )}
    </Dialog>
  );
}

type StartProps = { filter: Filter; count: Count; onStarted: (jobId: string) => void; onClose: () => void };

function StartForm({ filter, count, onStarted, onClose }: StartProps) {
  const [reason, setReason] = useState('');
  const [isTried, setTried] = useState(false);
  const start = useChange('POST /api/ops/webhooks/deliveries/resend');
  const issue = issueOf(start.error, 'reason');
  const submit = (): void => {
    setTried(true);
    if (reason.trim() === '') return;
    const body = { ...filter, environment, reason: reason.trim() };
    start.mutate({ body }, { onSuccess: ({ data: { jobId = '' } }) => onStarted(jobId) });
  };
  return (
    <Form
      change={start}
      isErrorBeside={issue !== undefined}
      action={text.start}
      isDisabled={!count.data}
      whyNot={count.data?.data.matched === 0 ? text.nothing : undefined}
      onSubmit={submit}
      onCancel={onClose}
    >
      <Counted count={count} />
      <TextField
        label={shared.reason}
        hint={shared.reasonHelp}
        isRequired
        maxLength={500}
        value={reason}
        error={issue ?? (isTried && reason.trim() === '' ? kit.fillIn : undefined)}
        onChange={({ target }) => setReason(target.value)}
      />
    </Form>
  );
}

/** How many there are, and how long they take. */
function Counted({ count: { data, error } }: { count: Count }) {
  if (error) return <Failed error={error} />;
  if (!data) return <Skeleton rows={2} />;
  const { matched, ratePerSecond } = data.data;
  return (
    <div>
      <p className="font-medium">{text.matched(matched)}</p>
      <p className="text-quiet">
        {text.pace(ratePerSecond, formatDuration(Math.ceil(matched / ratePerSecond)))} {text.inactive}
      </p>
    </div>
  );
}

/** How far a job is; it goes on when the window is closed. */
function Progress({ jobId, onClose }: { jobId: string; onClose: () => void }) {
  const params = { jobId };
  const job = useRead('GET /api/ops/webhooks/resend-jobs/:jobId', { params }, { everyMs: PROGRESS_MS });
  const stop = useChange('POST /api/ops/webhooks/resend-jobs/:jobId/cancel');
  if (!job.data) return job.error ? <Failed error={job.error} /> : <Skeleton rows={3} />;
  const { matched, sent, delivered, failed, status } = job.data.data;
  return (
    <>
      <progress aria-label={text.progress} max={Math.max(matched, 1)} value={sent} />
      <Facts
        rows={{
          [text.state]: text[status],
          [text.ofAll]: formatCount(matched),
          [text.sent]: formatCount(sent),
          [text.delivered]: formatCount(delivered),
          [text.failed]: formatCount(failed),
        }}
      />
      {stop.error && <Failed error={stop.error} />}
      <div className="flex justify-end gap-2">
        {status === 'RUNNING' && (
          <Button kind="danger" isBusy={stop.isPending} onClick={() => stop.mutate({ params, body: {} })}>
            {text.stop}
          </Button>
        )}
        <Button onClick={onClose}>{kit.close}</Button>
      </div>
    </>
  );
}
