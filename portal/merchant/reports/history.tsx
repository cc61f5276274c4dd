import { addisDay } from '../../../src/lib/dates.ts';
import { amharicOf } from '../../ui/api-meanings.ts';
import { ApiText } from '../../ui/api-text.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { download } from '../../ui/download.ts';
import { useFilters } from '../../ui/filter-bar.tsx';
import { formatCount, formatDays } from '../../ui/format.ts';
import type { Column } from '../../ui/list.tsx';
import { Listing } from '../../ui/listing.tsx';
import { SaveButton } from '../../ui/save-button.tsx';
import { Day, Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { headers } from '../headers.ts';
import { useChange, useRead, type ListedReport, type ReportRow } from '../routes.ts';
import { text } from './text.ts';
import { fileAddress, STATUSES } from './wanted.ts';

const BUSY_MS = 2_000;
const CALM_MS = 20_000;
const TONES: Record<ReportRow['status'], Tone> = {
  QUEUED: 'info',
  RUNNING: 'info',
  READY: 'good',
  FAILED: 'bad',
  CANCELLED: 'quiet',
  EXPIRED: 'quiet',
};

const isPending = ({ status }: ReportRow): boolean => status === 'QUEUED' || status === 'RUNNING';

const COLUMNS: readonly Column<ListedReport>[] = [
  { header: text.kind, cell: (row) => `${text[row.kind]} (${row.format})` },
  { header: text.status, narrow: 'second', cell: (row) => <State row={row} /> },
  { header: text.days, cell: formatDays },
  { header: text.filters, narrow: 'none', cell: filterText },
  { header: text.rows, align: 'end', narrow: 'none', cell: ({ rowsTotal }) => formatCount(rowsTotal) },
  { header: text.requestedAt, cell: ({ requestedAt }) => <Time at={requestedAt} /> },
  { header: text.requestedBy, narrow: 'none', cell: ({ requestedByName }) => requestedByName },
  {
    header: text.expiresAt,
    narrow: 'none',
    cell: ({ expiresAt }) => expiresAt && <Day day={addisDay(new Date(expiresAt))} />,
  },
  { header: text.file, narrow: 'second', cell: (row) => <File row={row} /> },
];

/** The values of the filters, with statuses in words. */
function filterText({ kind, filters }: ListedReport): string {
  const statuses = Object.entries(STATUSES).find(([one]) => one === kind)?.[1] ?? [];
  const names = new Map<string, string>(statuses);
  return Object.values(filters)
    .filter((value) => value !== 'ALL')
    .flatMap((value) => String(value).split(','))
    .map((value) => names.get(value) ?? value)
    .join(', ');
}

function State({ row }: { row: ReportRow }) {
  return (
    <span className="inline-flex flex-col items-start gap-0.5">
      <Badge tone={TONES[row.status]}>{text[row.status]}</Badge>
      {row.status === 'RUNNING' && (
        <span className="text-xs text-quiet">{text.progress(row.rowsDone, row.rowsTotal)}</span>
      )}
      {row.failure && (
        <span className="text-xs text-bad">
          <ApiText text={row.failure.message} amharic={amharicOf(row.failure.code)} />
        </span>
      )}
    </span>
  );
}

function File({ row }: { row: ReportRow }) {
  const cancel = useChange('POST /api/checkout/reports/:reportId/cancel');
  const { reportId, sha256 } = row;
  if (isPending(row)) {
    return (
      <Button
        isBusy={cancel.isPending}
        onClick={() => cancel.mutate({ params: { reportId }, body: {} }, { onSuccess: () => toast(text.cancelled) })}
      >
        {text.cancel}
      </Button>
    );
  }
  if (row.status !== 'READY') return null;
  return (
    <span className="inline-flex items-center gap-1">
      <SaveButton label={text.download} save={() => download(fileAddress(reportId), headers)} />
      {sha256 && <CopyButton value={sha256} name={text.checksum} />}
    </span>
  );
}

/** The requested reports: progress, cancel, and download for 30 days. */
export function History() {
  const state = useFilters([]);
  const read = useRead('GET /api/checkout/reports', { query: state.query });
  const everyMs = read.data?.data.some(isPending) ? BUSY_MS : CALM_MS;
  return (
    <section aria-labelledby="history">
      <h2 id="history" className="mb-2 text-base font-semibold">
        {text.history}
      </h2>
      <Listing
        label={text.history}
        state={state}
        query={useRead('GET /api/checkout/reports', { query: state.query }, { everyMs })}
        columns={COLUMNS}
        idOf={({ reportId }) => reportId}
        empty={text.noneYet}
        emptyHelp={text.firstStep}
      />
    </section>
  );
}
