import { createPaymentActivities } from '../../activities/payments.ts';
import { elapsedBetween } from '../../activities/running.ts';
import { AppError } from '../../src/lib/errors.ts';
import { newId } from '../../src/lib/ids.ts';

const attemptId = newId('pat');
const report = { final: true, attemptStatus: 'SUCCEEDED', redirectUrl: 'https://pay.example/secret' };

describe.each(['checkAttempt', 'expireAttempt'] as const)('the payment activity %s', (name) => {
  const run = async (operation: () => Promise<typeof report>) =>
    createPaymentActivities({ check: operation, expire: operation }, () => 0)[name]({ attemptId, atMs: 1 });

  test('returns status and end only: histories contain nothing else of the attempt', async () => {
    expect(await run(async () => report)).toEqual({ final: true, attemptStatus: 'SUCCEEDED' });
  });

  test('passes the time at which it runs, including its wait for a worker and earlier attempts', async () => {
    const times: Date[] = [];
    const operation = async (_: string, at: Date) => {
      times.push(at);
      return report;
    };
    const activities = createPaymentActivities({ check: operation, expire: operation }, () => 3_600_000);
    await activities[name]({ attemptId, atMs: 1_000 });
    expect(times).toEqual([new Date(3_601_000)]);
  });

  test('is not retried for an attempt that does not exist', async () => {
    const missing = async () => Promise.reject(new AppError('NOT_FOUND', 'No such payment attempt.'));
    await expect(run(missing)).rejects.toMatchObject({ type: 'NOT_FOUND', nonRetryable: true });
  });

  test('is retried after an error of the database', async () => {
    const unavailable = async () => Promise.reject(new Error('the database is unavailable'));
    await expect(run(unavailable)).rejects.not.toHaveProperty('nonRetryable');
  });
});

test.each([
  ['has waited for a worker, by the clock', { scheduled: 1_000, attempt: 1_000, now: 61_000 }, 60_000],
  ['was tried before, by the clock', { scheduled: 1_000, attempt: 50_000, now: 61_000 }, 60_000],
  ['was tried before, with time skipped', { scheduled: 900_000, attempt: 910_000, now: 61_000 }, 10_000],
  ['begins at once, with time skipped', { scheduled: 900_000, attempt: 900_000, now: 61_000 }, 0],
])(
  'the elapsed time of an activity that %s counts from its first schedule',
  (_what, { scheduled, attempt, now }, elapsed) => {
    const info = { scheduledTimestampMs: scheduled, currentAttemptScheduledTimestampMs: attempt };
    expect(elapsedBetween(info, now)).toBe(elapsed);
  },
);
