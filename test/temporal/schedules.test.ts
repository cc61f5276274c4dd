import { randomBytes } from 'node:crypto';

import { ensureSchedules, type Schedule } from '../../src/temporal/schedules.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal.ts';

let temporal: TestTemporal;

beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal.close());

test('a schedule is created once and changed when its definition differs, and stays paused where an operator has paused it', async () => {
  const taskQueuePrefix = `${randomBytes(4).toString('hex')}-`;
  const nightly: Schedule = { workflowType: 'nightlyReconciliation', queue: 'money', hour: 2, summary: 'at two' };
  const ensure = async (schedule: Schedule) =>
    ensureSchedules({
      connection: temporal.client.connection,
      namespace: 'default',
      taskQueuePrefix,
      schedules: [schedule],
    });
  expect(await ensure(nightly)).toEqual(['schedule nightlyReconciliation']);
  expect(await ensure(nightly)).toEqual([]);

  const handle = temporal.client.schedule.getHandle(`${taskQueuePrefix}nightlyReconciliation`);
  await handle.pause('the provider is being repaired');
  const later = { ...nightly, hour: 3, summary: 'an hour later' };
  expect(await ensure(later)).toEqual(['changed schedule nightlyReconciliation']);
  expect(await ensure(later)).toEqual([]);
  const { spec, action, state } = await handle.describe();
  expect(spec.calendars?.map(({ hour, comment }) => [hour[0]?.start, comment])).toEqual([[3, 'an hour later']]);
  expect(action.taskQueue).toBe(`${taskQueuePrefix}money`);
  expect(state).toMatchObject({ paused: true, note: 'the provider is being repaired' });
  await handle.delete();
});
