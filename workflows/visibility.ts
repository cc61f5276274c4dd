import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import {
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
  type SignalDefinition,
} from '@temporalio/workflow';

import type { AttemptReport, ListedAttempt } from '../activities/webhooks.ts';

const BUSINESS_STATUS = defineSearchAttributeKey('BusinessStatus', 'KEYWORD');
const LAST_HTTP_STATUS = defineSearchAttributeKey('LastHttpStatus', 'INT');

/**
 * What operators filter workflows by. Only a change is upserted: each time is an event, and a write to Temporal's index.
 * @param httpStatus a receiver's; null where there is none.
 */
export function publishStatus(status: string, httpStatus: number | null = null): void {
  const { typedSearchAttributes: current } = workflowInfo();
  const changes: SearchAttributePair[] = [];
  if (current.get(BUSINESS_STATUS) !== status) changes.push({ key: BUSINESS_STATUS, value: status });
  if (httpStatus !== null && current.get(LAST_HTTP_STATUS) !== httpStatus)
    changes.push({ key: LAST_HTTP_STATUS, value: httpStatus });
  if (changes.length > 0) upsertSearchAttributes(changes);
}

/** The status, and one sentence as the workflow's details in Temporal's UI. */
export function publish(status: string, details: string, httpStatus: number | null = null): void {
  publishStatus(status, httpStatus);
  setCurrentDetails(details);
}

/** The outcome of a delivery's attempt in one sentence. */
export function describeAttempt({ kind, status, httpStatus, code, nextAttemptAtMs }: AttemptReport): string {
  if (kind === 'delivered') return `DELIVERED: the receiver returned ${httpStatus ?? '2xx'}`;
  if (kind === 'unsent') return `${status}: nothing was sent`;
  const what = code === 'http_status' ? `HTTP ${httpStatus}` : code;
  const next =
    nextAttemptAtMs === null ? 'no automatic retry is left' : `next attempt ${new Date(nextAttemptAtMs).toISOString()}`;
  return `${status}: last failure ${what}; ${next}`;
}

type Attempts = { retryDelaysSeconds: readonly number[]; lastAttempts: readonly ListedAttempt[] };

/**
 * Markdown: that sentence, the failed attempts of the schedule, and the last attempts. Responses stand in code, so that
 * nothing in them is formatted.
 */
export function describeDelivery(report: AttemptReport, { retryDelaysSeconds, lastAttempts }: Attempts): string {
  const lines = lastAttempts.map(({ atMs, httpStatus, code, answer }) => {
    const at = atMs === undefined ? '' : `${new Date(atMs).toISOString()}: `;
    const response = answer ? ` \`${answer.replaceAll('`', "'")}\`` : '';
    return `- ${at}${httpStatus === null ? code : `HTTP ${httpStatus}`}${response}`;
  });
  const made = `Failed attempts of the schedule: ${report.attemptsMade} of ${retryDelaysSeconds.length + 1}`;
  return [describeAttempt(report), '', made, '', ...lines].join('\n');
}

/** The last status of a workflow: nothing follows. */
export function publishEnd(status: string): void {
  publish(status, `${status}: complete`);
}

/**
 * Waits for a condition, at most this long. The UI has the summary, in its details with the instant at which the wait
 * ends. Returns whether the condition was met in time.
 */
export async function waitFor(isMet: () => boolean, ms: number, summary: string): Promise<boolean> {
  setCurrentDetails(`${summary}, ${new Date(Date.now() + ms).toISOString()}`);
  return condition(isMet, ms, { summary });
}

/** Handles signals that mean "read the row again". Returns a wait for one, at most this long, with its summary. */
export function rereadOn(...signals: readonly (readonly [SignalDefinition, description: string])[]) {
  let isSignalled = false;
  for (const [signal, description] of signals) setHandler(signal, () => void (isSignalled = true), { description });
  return async (ms: number, summary: string): Promise<void> => {
    await waitFor(() => isSignalled, ms, summary);
    isSignalled = false;
  };
}
