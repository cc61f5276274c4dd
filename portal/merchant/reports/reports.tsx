import { addDays } from '../../../src/lib/dates.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { CHANNEL_VALUES } from '../../ui/channel-text.ts';
import { download } from '../../ui/download.ts';
import { Failed, failureText } from '../../ui/feedback.tsx';
import { useFilters } from '../../ui/filter-bar.tsx';
import { ChoiceFilter, ListFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { listOf, type Search } from '../../ui/search-params.ts';
import { toast } from '../../ui/toast.tsx';
import { headers } from '../headers.ts';
import { useMember } from '../member.ts';
import { useChange } from '../routes.ts';
import { History } from './history.tsx';
import { otherDays, periodName } from './period-name.ts';
import { PERIODS } from './period.ts';
import { Schedules } from './schedules.tsx';
import { Sums } from './sums.tsx';
import { text } from './text.ts';
import { fileAddress, FORMATS, kindsFor, reportOf, STATUSES, type WantedReport } from './wanted.ts';

/** Reports: sums of a period, its rows as a file, and the files of before. */
export function Reports() {
  const { search, change } = useFilters([]);
  const wanted = reportOf(search);
  return (
    <Page title={text.title} actions={<SaveButtons wanted={wanted} />}>
      <div className="card mb-4">
        <Choices wanted={wanted} onChange={change} />
        <Sums wanted={wanted} />
      </div>
      <Schedules />
      <History />
    </Page>
  );
}

type ChoicesProps = { wanted: WantedReport; onChange: (changes: Search) => void };

function Choices({ wanted, onChange }: ChoicesProps) {
  const { may } = useMember();
  const { kind, calendar, period, days, status, channel } = wanted;
  const { startDate, endDate } = days;
  const kinds = kindsFor(may);
  const step = (day: string): void => onChange({ date: day });
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-line p-3">
      <Pick
        label={text.kind}
        options={kinds.map((one) => [one, text[one]] as const)}
        value={kind}
        onChange={(value) => onChange({ kind: value, status: undefined, channel: undefined })}
      />
      <Pick
        label={text.period}
        options={PERIODS.map((one) => [one, text[one]] as const)}
        value={period}
        onChange={(value) => onChange({ period: value })}
      />
      <Pick
        label={text.calendar}
        options={[
          ['gregorian', text.gregorian],
          ['ethiopian', text.ethiopian],
        ]}
        value={calendar}
        onChange={(value) => onChange({ calendar: value })}
      />
      <span className="inline-flex items-center">
        <IconButton icon="left" label={text.before} onClick={() => step(addDays(startDate, -1))} />
        <span aria-live="polite">
          <strong className="font-semibold">{periodName(wanted)}</strong>
          <span className="block text-xs text-quiet">{otherDays(wanted)}</span>
        </span>
        <IconButton icon="right" label={text.after} onClick={() => step(addDays(endDate, 1))} />
      </span>
      <ListFilter
        name={text.status}
        values={STATUSES[kind]}
        chosen={listOf(status)}
        onChange={(chosen) => onChange({ status: chosen })}
      />
      {kind !== 'settlements' && (
        <ChoiceFilter
          name={text.channel}
          values={CHANNEL_VALUES}
          chosen={channel}
          onChange={(chosen) => onChange({ channel: chosen })}
        />
      )}
    </div>
  );
}

type PickProps<Value extends string> = {
  label: string;
  options: readonly (readonly [value: Value, text: string])[];
  value: Value;
  onChange: (value: Value) => void;
};

function Pick<Value extends string>({ label, options, value, onChange }: PickProps<Value>) {
  return (
    <label className="inline-flex items-center gap-2">
      <span className="text-quiet">{label}</span>
      <select
        className="control"
        value={value}
        onChange={(event) => onChange(options.find(([one]) => one === event.target.value)?.[0] ?? value)}
      >
        {options.map(([one, caption]) => (
          <option key={one} value={one}>
            {caption}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Requests a file of what is shown; a small one is saved at once. */
function SaveButtons({ wanted: { kind, days, status, channel } }: { wanted: WantedReport }) {
  const { whyNot } = useMember();
  const create = useChange('POST /api/checkout/reports');
  const save = (format: string): void =>
    create.mutate(
      { body: { kind, period: 'custom', ...days, format, ...(status && { status }), ...(channel && { channel }) } },
      {
        onSuccess: ({ data }) => {
          if (data.status !== 'READY') return toast(text.inBackground);
          void download(fileAddress(data.reportId), headers).then(
            () => toast(text.saved),
            (error: unknown) => toast(failureText(error)),
          );
        },
      },
    );
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        {FORMATS.map((format) => (
          <Button
            key={format}
            icon="download"
            isBusy={create.isPending}
            whyNot={whyNot('reports:write')}
            onClick={() => save(format)}
          >
            {text.save(format)}
          </Button>
        ))}
      </div>
      {create.error && <Failed error={create.error} />}
    </div>
  );
}
