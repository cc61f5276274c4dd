import { useState } from 'react';

import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ApiMessage, Failed } from '../../ui/feedback.tsx';
import { birr, formatBirr } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { text as kit } from '../../ui/text.ts';
import { destinationText } from '../../ui/withdrawal-state.tsx';
import { useMember } from '../member.ts';
import { text as shared } from '../quote.tsx';
import { call, type WithdrawalRow } from '../routes.ts';
import { useOwnRequests } from '../second-person.tsx';
import { useRun } from './run.ts';
import { text } from './text.ts';

const confirm = ({ withdrawalRequestId: withdrawalId }: WithdrawalRow, idempotencyKey: string) =>
  call('POST /api/portal/withdrawals/:withdrawalId/confirm', { params: { withdrawalId }, body: {}, idempotencyKey });

/** Confirms the listed withdrawals that wait for a second person, but for those of this person, where there are several. */
export function ConfirmAll({ rows }: { rows: readonly WithdrawalRow[] }) {
  const { whyNot } = useMember();
  const [chosen, setChosen] = useState<readonly WithdrawalRow[] | null>(null);
  const awaiting = rows.filter(({ stage }) => stage === 'AWAITING_CONFIRMATION');
  const own = useOwnRequests(awaiting.length > 0);
  const waiting = awaiting.filter(({ withdrawalRequestId }) => !own.includes(withdrawalRequestId));
  return (
    <>
      {waiting.length > 1 && (
        <Button whyNot={whyNot('withdrawals:write')} onClick={() => setChosen(waiting)}>
          {text.confirmAll(waiting.length)}
        </Button>
      )}
      {chosen && <ConfirmAllDialog withdrawals={chosen} onClose={() => setChosen(null)} />}
    </>
  );
}

type DialogProps = { withdrawals: readonly WithdrawalRow[]; onClose: () => void };

function ConfirmAllDialog({ withdrawals, onClose }: DialogProps) {
  const run = useRun(confirm);
  const { isRunning, done, total, error, failures } = run;
  const santim = withdrawals.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0);
  const columns: readonly Column<WithdrawalRow>[] = [
    { header: shared.requestId, cell: ({ requestId }) => requestId },
    { header: shared.amountInBirr, align: 'end', cell: ({ amount }) => formatBirr(amount) },
    { header: text.destination, cell: destinationText },
    {
      header: shared.status,
      cell: (row) => {
        const failure = failures.get(row);
        if (failure) return <ApiMessage code={failure.code} message={failure.message} details={failure.details} />;
        return withdrawals.indexOf(row) < done && text.confirmed;
      },
    },
  ];
  return (
    <Dialog title={text.confirmAll(withdrawals.length)} onClose={onClose}>
      <p>{text.confirmAllQuestion(withdrawals.length, birr(santim / 100))}</p>
      <List
        label={text.confirmAll(withdrawals.length)}
        columns={columns}
        rows={withdrawals}
        idOf={({ withdrawalRequestId }) => withdrawalRequestId}
      />
      {total > 0 && <p role="status">{!isRunning && text.confirmedOf(done - failures.size, total)}</p>}
      {isRunning && <progress aria-label={text.confirm} value={done} max={total} />}
      {error !== null && <Failed error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{isRunning ? text.stop : total > 0 ? kit.close : kit.cancel}</Button>
        {total === 0 && (
          <Button kind="primary" onClick={() => run.start(withdrawals)}>
            {text.confirmAll(withdrawals.length)}
          </Button>
        )}
      </div>
    </Dialog>
  );
}
