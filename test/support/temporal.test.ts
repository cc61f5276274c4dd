import { DefaultLogger, Worker, bundleWorkflowCode } from '@temporalio/worker';

import { HOUR_MS } from '../../src/lib/dates.ts';
import { connectTestTemporal, skipTime, skipTimeOfStarted, type TestTemporal } from './temporal.ts';

const taskQueue = 'sleepers';

describe('skipping time on the test server', () => {
  let temporal: TestTemporal;
  let worker: Worker;
  let running: Promise<void>;

  beforeAll(async () => {
    temporal = await connectTestTemporal();
    const workflowBundle = await bundleWorkflowCode({
      workflowsPath: `${import.meta.dirname}/sleeper-workflow.ts`,
      logger: new DefaultLogger('ERROR'),
    });
    worker = await Worker.create({ connection: temporal.connection, taskQueue, workflowBundle });
    running = worker.run();
  });
  afterAll(async () => {
    worker.shutdown();
    await running;
    await temporal.close();
  });

  test('a workflow that sleeps 14 hours completes at once, and its clock has advanced by 14 hours', async () => {
    const { client } = temporal;
    const handle = await client.workflow.start('sleeper', { taskQueue, workflowId: 'sleeper-through', args: [14] });
    await skipTime(client, handle.workflowId, 14 * HOUR_MS + 1_000);
    const sleptMs = await handle.result();
    expect(sleptMs).toBeGreaterThanOrEqual(14 * HOUR_MS);
    expect(sleptMs).toBeLessThan(14 * HOUR_MS + 60_000);
  });

  test('skipping time ends at the given time, not at the end of the workflow', async () => {
    const { client } = temporal;
    const handle = await client.workflow.start('sleeper', { taskQueue, workflowId: 'sleeper-partly', args: [14] });
    await skipTime(client, handle.workflowId, 13 * HOUR_MS);
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate();
  });

  test('skipping the time of a workflow that does not exist fails', async () => {
    await expect(skipTimeOfStarted(temporal.client, 'nobody', HOUR_MS)).rejects.toThrow(/not found/);
  });
});
