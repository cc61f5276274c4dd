import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogButton } from '../../ui/dialog-button.tsx';
import { Section } from '../../ui/facts.tsx';
import { Failed, Loaded } from '../../ui/feedback.tsx';
import { QuestionDialog } from '../../ui/form.tsx';
import { listed } from '../../ui/format.ts';
import { List, type Column } from '../../ui/list.tsx';
import { Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { useMember } from '../member.ts';
import { useChange, useRead, type ReportSchedule } from '../routes.ts';
import { ScheduleForm } from './schedule-form.tsx';
import { text } from './text.ts';

const COLUMNS: readonly Column<ReportSchedule>[] = [
  { header: text.kind, cell: ({ kind, format }) => `${text[kind]} (${format})` },
  { header: text.period, narrow: 'second', cell: ({ period }) => text[period] },
  { header: text.recipients, cell: (schedule) => <Recipients schedule={schedule} /> },
  {
    header: text.next,
    narrow: 'second',
    cell: ({ nextAt, active }) => {
      if (!active) return <Badge tone="quiet">{text.paused}</Badge>;
      return nextAt === null ? <Badge tone="warn">{text.noReport}</Badge> : <Time at={nextAt} />;
    },
  },
];
const ACTIONS: Column<ReportSchedule> = { header: text.actions, cell: (schedule) => <Actions schedule={schedule} /> };

/** Reports that members are mailed about at the end of each period. */
export function Schedules() {
  const { may, whyNot } = useMember();
  const columns = may('reports:write') ? [...COLUMNS, ACTIONS] : COLUMNS;
  const schedules = useRead('GET /api/portal/report-schedules', {});
  const create = (
    <DialogButton icon="plus" label={text.newSchedule} whyNot={whyNot('reports:write')}>
      {(close) => <ScheduleForm onClose={close} />}
    </DialogButton>
  );
  return (
    <div className="card mb-4 flex flex-col p-3">
      <Section title={text.schedules} actions={create}>
        <p className="text-quiet">{text.schedulesHelp}</p>
        <Loaded query={schedules} skeletonRows={2}>
          {({ data }) =>
            data.length === 0 ? (
              <p>{text.noSchedules}</p>
            ) : (
              <List label={text.schedules} columns={columns} rows={data} idOf={({ scheduleId }) => scheduleId} />
            )
          }
        </Loaded>
      </Section>
    </div>
  );
}

function Recipients({ schedule: { recipients } }: { schedule: ReportSchedule }) {
  const names = listed(recipients.map(({ name, mayRead }) => (mayRead ? name : text.mayNotRead(name))));
  if (recipients.some(({ mayRead }) => mayRead)) return names;
  return (
    <>
      {names} <span className="text-bad">{text.noRecipient}</span>
    </>
  );
}

function Actions({ schedule }: { schedule: ReportSchedule }) {
  const { scheduleId, active } = schedule;
  const change = useChange('PATCH /api/portal/report-schedules/:scheduleId');
  const remove = useChange('DELETE /api/portal/report-schedules/:scheduleId');
  const onSuccess = (): void => toast(active ? text.pausedNow : text.resumed);
  return (
    <span className="inline-flex flex-wrap gap-2">
      <DialogButton label={text.changeSchedule}>
        {(close) => <ScheduleForm schedule={schedule} onClose={close} />}
      </DialogButton>
      <Button
        isBusy={change.isPending}
        onClick={() => change.mutate({ params: { scheduleId }, body: { active: !active } }, { onSuccess })}
      >
        {active ? text.pause : text.resume}
      </Button>
      <DialogButton label={text.deleteSchedule}>
        {(close) => (
          <QuestionDialog
            title={text.deleteTitle}
            action={text.deleteSchedule}
            kind="danger"
            change={remove}
            input={{ params: { scheduleId } }}
            done={text.deleted}
            onClose={close}
          >
            <p>{text.deleteHelp}</p>
          </QuestionDialog>
        )}
      </DialogButton>
      {change.error && <Failed error={change.error} />}
    </span>
  );
}
