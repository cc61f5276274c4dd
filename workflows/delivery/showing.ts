import { defineSearchAttributeKey } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';

import type { FinishedAttempt } from '../../activities/webhooks.ts';

const BUSINESS_STATUS = defineSearchAttributeKey('BusinessStatus', 'KEYWORD');
const LAST_HTTP_STATUS = defineSearchAttributeKey('LastHttpStatus', 'INT');

/** What operators see of a delivery in the Temporal UI. */
export function showProgress(report: FinishedAttempt): void {
  const httpStatus = report.kind === 'over' ? null : report.httpStatus;
  upsertSearchAttributes([
    { key: BUSINESS_STATUS, value: report.kind === 'delivered' ? 'DELIVERED' : report.status },
    ...(httpStatus === null ? [] : [{ key: LAST_HTTP_STATUS, value: httpStatus }]),
  ]);
  setCurrentDetails(describe(report));
}

/** The same for an end that no attempt brought. */
export function showEnd(status: string, why: string): void {
  upsertSearchAttributes([{ key: BUSINESS_STATUS, value: status }]);
  setCurrentDetails(`${status}: ${why}`);
}

/** One sentence for people. */
export function describe(report: FinishedAttempt): string {
  if (report.kind === 'delivered') return `DELIVERED: the receiver answered ${report.httpStatus ?? '2xx'}`;
  if (report.kind === 'over') return `${report.status}: nothing was sent`;
  const what = report.httpStatus === null ? report.code : `HTTP ${report.httpStatus}`;
  const next =
    report.nextAttemptAtMs === null
      ? 'no automatic retry is left'
      : `next attempt ${new Date(report.nextAttemptAtMs).toISOString()}`;
  return `${report.status}: last failure ${what}; ${next}`;
}
