import { useDeferredValue, useState, type FormEvent } from 'react';

import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failed, Loaded } from '../../ui/feedback.tsx';
import { Choice, TextField } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { Price, typedBirr } from '../quote.tsx';
import { useChange, useRead } from '../routes.ts';
import { ExpectedDays } from './days.tsx';
import { text } from './text.ts';

/** A new settlement: fee and expected days stand below the amount, also before one is typed. */
export function SettlementForm({ onClose }: { onClose: () => void }) {
  const [isAll, setAll] = useState(true);
  const [typed, setTyped] = useState('');
  const [requestId, setRequestId] = useState(() => `S-${crypto.randomUUID().slice(0, 13)}`);
  const create = useChange('POST /api/checkout/settlement');
  const amount = isAll ? undefined : typedBirr(typed);
  const quoted = useDeferredValue(amount);
  const quote = useRead('GET /api/checkout/settlement/quote', { query: { amount: quoted } });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const body = isAll ? { requestId, all: true } : { requestId, amount };
    create.mutate(
      { body },
      {
        onSuccess: () => {
          toast(text.requested);
          onClose();
        },
      },
    );
  };
  return (
    <Dialog title={text.newSettlement} onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <Choice
          label={text.howMuch}
          value={isAll ? 'all' : 'amount'}
          options={[
            ['all', text.all],
            ['amount', text.anAmount],
          ]}
          onChange={(value) => setAll(value === 'all')}
        />
        {!isAll && (
          <TextField
            label={text.amount}
            hint={text.amountHelp}
            inputMode="decimal"
            isRequired
            value={typed}
            error={typed !== '' && amount === undefined ? text.wrongAmount : undefined}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        <Loaded query={quote} skeletonRows={4}>
          {({ data }) => (
            <>
              {(isAll || amount !== undefined) && <Price quote={data} />}
              <ExpectedDays days={data} />
            </>
          )}
        </Loaded>
        <TextField
          label={text.requestId}
          isRequired
          maxLength={64}
          value={requestId}
          onChange={(event) => setRequestId(event.target.value)}
        />
        {create.error && <Failed error={create.error} />}
        <Button type="submit" kind="primary" isBusy={create.isPending} disabled={!isAll && amount === undefined}>
          {text.request}
        </Button>
      </form>
    </Dialog>
  );
}
