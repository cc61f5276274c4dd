import { useState } from 'react';

import { Failed } from '../../ui/feedback.tsx';
import { Check, SelectField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/form.tsx';
import { pickerCalendar } from '../../ui/format.ts';
import { text as kit } from '../../ui/text.ts';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { useChange, useRead, type ReportSchedule } from '../routes.ts';
import { text } from './text.ts';
import { FORMATS, KINDS, kindsFor } from './wanted.ts';

const PERIODS = ['day', 'week', 'month', 'ethiopianMonth'] as const;

/** The option with this value, or the first one. */
const chosenOf = <Value extends string>(options: readonly [Value, ...Value[]], value: string): Value =>
  options.find((one) => one === value) ?? options[0];

/** What a new schedule begins with: its only recipient is the person. */
const newSchedule = (userId: string) => ({
  kind: KINDS[0],
  period: pickerCalendar() === 'ethiopic' ? 'ethiopianMonth' : 'month',
  format: 'CSV',
  recipients: [{ userId }],
});

/** A new schedule, or the period, format and recipients of one. */
export function ScheduleForm({ schedule, onClose }: { schedule?: ReportSchedule; onClose: () => void }) {
  const { may, user } = useMember();
  const [initial] = useState(() => schedule ?? newSchedule(user.userId));
  const [kind, setKind] = useState(() => chosenOf(KINDS, initial.kind));
  const [period, setPeriod] = useState(() => chosenOf(PERIODS, initial.period));
  const [format, setFormat] = useState(initial.format);
  const [wanted, setWanted] = useState<readonly string[]>(initial.recipients.map(({ userId }) => userId));
  const create = useChange('POST /api/portal/report-schedules');
  const change = useChange('PATCH /api/portal/report-schedules/:scheduleId');
  const readers = useRead('GET /api/portal/report-recipients', { query: { kind } });
  // Those who may read one kind of report may not all read another.
  const recipients = (readers.data?.data ?? []).filter(({ userId }) => wanted.includes(userId));
  const submit = (): void => {
    const body = { period, format, recipients: recipients.map(({ userId }) => userId) };
    const onSuccess = (): void => (onClose(), toast(schedule ? text.scheduleChanged : text.scheduled));
    if (schedule) change.mutate({ params: { scheduleId: schedule.scheduleId }, body }, { onSuccess });
    else create.mutate({ body: { kind, ...body } }, { onSuccess });
  };
  return (
    <FormDialog
      title={schedule ? kit.about(text.changeSchedule, text[kind]) : text.newSchedule}
      action={schedule ? text.saveSchedule : text.createSchedule}
      change={schedule ? change : create}
      isDisabled={recipients.length === 0}
      onSubmit={submit}
      onClose={onClose}
    >
      {!schedule && (
        <SelectField
          label={text.kind}
          choices={kindsFor(may).map((one) => [one, text[one]])}
          value={kind}
          onChange={({ target }) => {
            setKind(chosenOf(KINDS, target.value));
            setFormat('CSV');
          }}
        />
      )}
      <SelectField
        label={text.period}
        choices={PERIODS.map((one) => [one, text[one]])}
        value={period}
        onChange={({ target }) => setPeriod(chosenOf(PERIODS, target.value))}
      />
      {schedule && period !== schedule.period && <p className="text-quiet">{text.otherPeriod}</p>}
      <SelectField
        label={text.format}
        choices={FORMATS.map((one) => [one, one])}
        value={format}
        onChange={({ target }) => setFormat(target.value)}
      />
      <fieldset className="flex flex-col">
        <legend className="font-medium">{text.recipients}</legend>
        <p className="text-xs text-quiet">{text.recipientsHelp}</p>
        {readers.error && <Failed error={readers.error} retry={() => void readers.refetch()} />}
        {readers.data?.data.map(({ userId, name }) => (
          <Check
            key={userId}
            label={name}
            isChecked={wanted.includes(userId)}
            onChange={(isChecked) =>
              setWanted([...wanted.filter((one) => one !== userId), ...(isChecked ? [userId] : [])])
            }
          />
        ))}
        {readers.data && recipients.length === 0 && <p className="font-medium text-bad">{text.chooseRecipient}</p>}
      </fieldset>
    </FormDialog>
  );
}
