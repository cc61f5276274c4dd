import { createPaymentActivities } from '../../activities/payments.ts';
import { AppError } from '../../src/lib/errors.ts';
import { newId } from '../../src/lib/ids.ts';

const attemptId = newId('pat');
const report = { final: true, attemptStatus: 'SUCCEEDED', redirectUrl: 'https://pay.example/secret' };

describe.each(['checkAttempt', 'expireAttempt'] as const)('%s', (name) => {
  const run = async (operation: () => Promise<typeof report>, request: object = { attemptId, atMs: 1 }) =>
    createPaymentActivities({ check: operation, expire: operation })[name](request as never);

  test('reports the end only: nothing else of the attempt gets into a history', async () => {
    expect(await run(async () => report)).toEqual({ final: true, attemptStatus: 'SUCCEEDED' });
  });

  test('is not tried again for an attempt that does not exist', async () => {
    const missing = async () => Promise.reject(new AppError('NOT_FOUND', 'No such payment attempt.'));
    await expect(run(missing)).rejects.toMatchObject({ type: 'NOT_FOUND', nonRetryable: true });
  });

  test.each([
    ['no attempt', { atMs: 1 }],
    ['an id of something else', { attemptId: newId('txn'), atMs: 1 }],
    ['no time', { attemptId }],
    ['a time beyond all times', { attemptId, atMs: 1e18 }],
  ])('is not tried again for %s', async (_what, request) => {
    const call = run(async () => report, request);
    await expect(call).rejects.toMatchObject({ type: 'VALIDATION_ERROR', nonRetryable: true });
  });

  test('is tried again when the database was away', async () => {
    const away = async () => Promise.reject(new Error('the database is away'));
    await expect(run(away)).rejects.not.toHaveProperty('nonRetryable');
  });
});
