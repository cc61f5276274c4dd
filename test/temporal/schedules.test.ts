import { randomBytes } from 'node:crypto';

import { readConfig } from '../../src/config.ts';
import { ensureSchedule } from '../../src/temporal/prepare.ts';
import { HOURLY, NIGHTLY } from '../../src/temporal/requirements.ts';
import { connectTestTemporal, type TestTemporal } from '../support/temporal.ts';

let temporal: TestTemporal;

beforeAll(async () => {
  temporal = await connectTestTemporal();
});
afterAll(() => temporal.close());

test('a schedule is created once and changed when its definition differs, and stays paused where an operator has paused it', async () => {
  const taskQueuePrefix = `${randomBytes(4).toString('hex')}-`;
  const { connection } = temporal;
  const config = readConfig({
    DATABASE_URL: 'postgresql://none',
    TEMPORAL_ADDRESS: 'none:7233',
    TASK_QUEUE_PREFIX: taskQueuePrefix,
  });
  const nightly = { ...NIGHTLY, summary: 'at two' };
  const ensure = async (schedule: typeof nightly) => (await ensureSchedule({ config, connection }, schedule)).created;
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

test('the hourly schedule is created once, and begins at the beginning of each hour', async () => {
  const taskQueuePrefix = `${randomBytes(4).toString('hex')}-`;
  const { connection } = temporal;
  const settings = { DATABASE_URL: 'postgresql://none', TEMPORAL_ADDRESS: 'none:7233' };
  const config = readConfig({ ...settings, TASK_QUEUE_PREFIX: taskQueuePrefix });
  expect((await ensureSchedule({ config, connection }, HOURLY)).created).toEqual(['schedule dueReports']);
  expect((await ensureSchedule({ config, connection }, HOURLY)).created).toEqual([]);
  const handle = temporal.client.schedule.getHandle(`${taskQueuePrefix}dueReports`);
  const { info, action } = await handle.describe();
  const [first, second] = info.nextActionTimes.map((at) => at.getTime());
  expect([first! % 3_600_000, second! - first!]).toEqual([0, 3_600_000]);
  expect(action.taskQueue).toBe(`${taskQueuePrefix}reports`);
  await handle.delete();
});
