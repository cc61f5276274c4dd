import { activityInfo } from '@temporalio/activity';

/** What Temporal says of the running activity: when it was scheduled, and when this attempt of it was. */
type Scheduled = { scheduledTimestampMs: number; currentAttemptScheduledTimestampMs: number };

/**
 * Milliseconds since the running activity was scheduled: what it waited while no worker was there, and all its earlier
 * attempts. Added to the workflow's time of business, so that what is booked after an outage does not lie before it.
 */
export function elapsedMs(): number {
  return elapsedBetween(activityInfo(), Date.now());
}

/**
 * The clock knows all of it, unless the workflow lives ahead of it, with time skipped: then Temporal's own times still
 * tell of the attempts. Never below 0.
 */
export function elapsedBetween(scheduled: Scheduled, nowMs: number): number {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = scheduled;
  return Math.max(nowMs - scheduledTimestampMs, currentAttemptScheduledTimestampMs - scheduledTimestampMs, 0);
}
