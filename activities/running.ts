import { activityInfo, ApplicationFailure } from '@temporalio/activity';

import { AppError } from '../src/lib/errors.ts';

/** When the activity was scheduled, and when its current attempt was, by Temporal's clock. */
type Scheduled = { scheduledTimestampMs: number; currentAttemptScheduledTimestampMs: number };

/**
 * Milliseconds since the running activity was scheduled, including its wait for a worker and its earlier attempts. Added to
 * the workflow's time, so that postings after an outage do not have a time before it.
 */
export function elapsedMs(): number {
  return elapsedBetween(activityInfo(), Date.now());
}

/** Where time was skipped (tests), Temporal's times are ahead of the clock and only the attempts count. Never below 0. */
export function elapsedBetween(scheduled: Scheduled, nowMs: number): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = scheduled;
  return Math.max(nowMs - scheduledTimestampMs, currentAttemptScheduledTimestampMs - scheduledTimestampMs, 0);
}

type Activities = Record<string, (request: never) => Promise<unknown>>;

/** The activities, with no retry after an AppError, which the input causes; all other errors are retried. */
export function withoutUselessRetries<Some extends Activities>(activities: Some): Some {
  const stopAtAppError = (error: unknown): never => {
    if (error instanceof AppError) throw ApplicationFailure.nonRetryable(error.message, error.code);
    throw error;
  };
  const stopping = Object.entries(activities).map(([name, run]) => [
    name,
    async (request: never) => run(request).catch(stopAtAppError),
  ]);
  return Object.fromEntries(stopping) as Some;
}
