import type { Environment } from '../lib/scope.ts';
import type { OutboxMessage } from '../outbox/record.ts';

/** What `workflows/report.ts` is started with: ids. */
export type ReportInput = { reportId: string; merchantId: string; environment: Environment };

/** One workflow for each report, under this id for life. */
export function reportWorkflowId(reportId: string): string {
  return `report-${reportId}`;
}

/** Has a report made: starts its workflow, which finds what is left to do; one that runs is left alone. */
export function reportMessage({ reportId, merchantId, environment }: ReportInput): OutboxMessage {
  return {
    kind: 'signalWithStart',
    signal: 'ensureRunning',
    workflowType: 'report',
    workflowId: reportWorkflowId(reportId),
    input: { reportId, merchantId, environment },
  };
}
