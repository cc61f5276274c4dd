import { useState } from 'react';

import { DialogButton } from '../../ui/dialog-button.tsx';
import { Section } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/feedback.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { birr } from '../../ui/format.ts';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { destinationText } from '../../ui/withdrawal-state.tsx';
import { useMember } from '../member.ts';
import { typedBirr } from '../quote.tsx';
import { useChange, useRead, type WithdrawalPolicy, type WithdrawalRow } from '../routes.ts';
import { SecondPerson } from '../second-person.tsx';
import { text } from './text.ts';

/** From which amount on a second person confirms, and where owners change it. */
export function SecondPersonPolicy() {
  const policy = useRead('GET /api/portal/withdrawal-policy', {});
  const { whyNot } = useMember();
  return (
    <div className="card mb-4 flex flex-col p-3">
      <Section title={text.secondPerson}>
        <Loaded query={policy} skeletonRows={1} whyNot={whyNot('bank:read')}>
          {({ data: { secondPersonFrom: from } }) => (
            <div className="flex flex-wrap items-center justify-between gap-2">
              <p>{from === null ? text.secondPersonOff : text.secondPersonFrom(birr(from))}</p>
              <DialogButton label={text.changePolicy} whyNot={whyNot('security-policy:write')}>
                {(close) => <PolicyForm secondPersonFrom={from} onClose={close} />}
              </DialogButton>
            </div>
          )}
        </Loaded>
      </Section>
    </div>
  );
}

function PolicyForm({ secondPersonFrom: from, onClose }: WithdrawalPolicy & { onClose: () => void }) {
  const [typed, setTyped] = useState(from === null ? '' : String(from));
  const change = useChange('PUT /api/portal/withdrawal-policy');
  const amount = typedBirr(typed);
  const isWrong = typed.trim() !== '' && amount === undefined;
  const submit = (): void => {
    if (isWrong) return;
    const body = { secondPersonFrom: amount ?? null };
    change.mutate({ body }, { onSuccess: () => (onClose(), toast(text.policySaved)) });
  };
  return (
    <FormDialog
      title={text.policyTitle}
      action={text.save}
      change={change}
      isDisabled={isWrong}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={text.policyAmount}
        hint={text.policyHelp}
        inputMode="decimal"
        value={typed}
        error={isWrong ? kit.wrongAmount : undefined}
        onChange={(event) => setTyped(event.target.value)}
      />
    </FormDialog>
  );
}

/** What a second person decides about a withdrawal that waits for one. */
export function Decision({ withdrawal }: { withdrawal: WithdrawalRow }) {
  const { stage, amount, withdrawalRequestId: withdrawalId } = withdrawal;
  const confirm = useChange('POST /api/portal/withdrawals/:withdrawalId/confirm');
  const decline = useChange('POST /api/portal/withdrawals/:withdrawalId/decline');
  if (stage !== 'AWAITING_CONFIRMATION') return null;
  return (
    <SecondPerson
      text={text}
      permission="withdrawals:write"
      id={withdrawalId}
      params={{ withdrawalId }}
      confirm={confirm}
      decline={decline}
      question={<p>{text.confirmQuestion(birr(amount), destinationText(withdrawal))}</p>}
    />
  );
}
