import { useState } from 'react';

import { Button } from '../../ui/button.tsx';
import { addressOf } from '../../ui/call.ts';
import { download } from '../../ui/download.ts';
import { failureText } from '../../ui/feedback.tsx';
import { formatCount } from '../../ui/format.ts';
import { toast } from '../../ui/toast.tsx';
import { headers } from '../headers.ts';
import { useMember } from '../member.ts';
import { call, useChange, type ReportRow } from '../routes.ts';
import type { filterOf } from './query.ts';
import { text } from './text.ts';

/** The most rows of a file that is sent at once; a report holds more. */
const ROWS_MAX = 10_000;
const LOOK_EVERY_MS = 1_500;

type Filter = ReturnType<typeof filterOf>;

type ExportProps = { filter: Filter; sort: string; total: number | undefined };

/** The list's rows as a file, by the very filter of the list. Above 10,000 rows a report is made of them first. */
export function ExportButton({ filter, sort, total = 0 }: ExportProps) {
  const { may, whyNot } = useMember();
  const request = useChange('POST /api/checkout/reports');
  const [progress, setProgress] = useState<string | null>(null);
  const isLarge = total > ROWS_MAX;
  const save = async (): Promise<void> => {
    setProgress(text.export);
    try {
      if (isLarge) await saveReport((await request.mutateAsync({ body: reportOf(filter) })).data, setProgress);
      else await download(addressOf('GET /api/checkout/txns/export', { query: { ...filter, sort } }), headers);
    } catch (error) {
      toast(failureText(error));
    } finally {
      setProgress(null);
    }
  };
  return (
    <Button
      icon="download"
      isBusy={progress !== null}
      whyNot={isLarge ? (filter.minAgeMinutes === undefined ? whyNot('reports:write') : text.tooManyOfAge) : undefined}
      onClick={() => void save()}
    >
      {progress ?? text.export}
      {isLarge && progress === null && may('reports:write') && ` (${formatCount(total)})`}
    </Button>
  );
}

/** The report with the rows of a filter. */
function reportOf({ currency: _currency, minAmount, maxAmount, minAgeMinutes: _age, held, ...filter }: Filter) {
  const narrowing = {
    ...(minAmount !== undefined && { minAmount: Number(minAmount) }),
    ...(maxAmount !== undefined && { maxAmount: Number(maxAmount) }),
    ...(held !== undefined && { held: held === 'true' }),
  };
  return { kind: 'payments', format: 'CSV', period: 'custom', ...filter, ...narrowing };
}

/** Waits for the report while it shows its progress, then saves its file. */
async function saveReport(requested: ReportRow, onProgress: (text: string) => void): Promise<void> {
  const { reportId } = requested;
  for (
    let report = requested;
    ;
    report = (await call('GET /api/checkout/reports/:reportId', { params: { reportId } })).data
  ) {
    if (report.status === 'READY') break;
    if (report.status !== 'QUEUED' && report.status !== 'RUNNING') throw new Error(report.status);
    onProgress(text.rowsWritten(report.rowsDone, report.rowsTotal));
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  await download(addressOf('GET /api/checkout/reports/:reportId/file', { params: { reportId } }), headers);
}
