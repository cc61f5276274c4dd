import { useDeferredValue, useState } from 'react';

import { issueOf, isWrongIn } from '../../ui/api-text.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { Choice, TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { Price, text as shared, typedBirr } from '../quote.tsx';
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
  const submit = (): void => {
    const body = isAll ? { requestId, all: true } : { requestId, amount };
    create.mutate({ body }, { onSuccess: () => (onClose(), toast(text.requested)) });
  };
  return (
    <FormDialog
      title={text.newSettlement}
      action={text.request}
      change={create}
      isErrorBeside={isWrongIn(create.error, ['amount', 'requestId'])}
      isDisabled={!isAll && amount === undefined}
      onSubmit={submit}
      onClose={onClose}
    >
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
          label={shared.amount}
          hint={text.amountHelp}
          inputMode="decimal"
          isRequired
          value={typed}
          error={typed !== '' && amount === undefined ? kit.wrongAmount : issueOf(create.error, 'amount')}
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
        label={shared.requestId}
        isRequired
        maxLength={64}
        value={requestId}
        error={issueOf(create.error, 'requestId')}
        onChange={(event) => setRequestId(event.target.value)}
      />
    </FormDialog>
  );
}
