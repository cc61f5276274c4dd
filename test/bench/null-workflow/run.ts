import { writeFile } from 'node:fs/promises';

import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker, makeTelemetryFilterString } from '@temporalio/worker';

import { processorMs } from '../cpu.ts';
import { nowMs } from '../numbers.ts';

/*
 * Starts empty workflows eagerly, in the process that runs them: the upper limit of the engine on this machine.
 * Arguments: Temporal's address, the process id of its server, how many, a file for the result.
 */
const [address = '', serverPid, wanted, resultFile = ''] = process.argv.slice(2);
const TASK_QUEUE = 'null';
/** The concurrency of our worker. */
const AT_ONCE = 40;
const WARM_UP = 100;

export type NullWorkflowResult = { perSecond: number; cpuMs: { ours: number; temporal: number } };

const filter = makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' });
Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter, forward: {} } } });
const connection = await NativeConnection.connect({ address });
const client = new Client({ connection });
const worker = await Worker.create({
  connection,
  taskQueue: TASK_QUEUE,
  workflowsPath: new URL('workflow.js', import.meta.url).pathname,
  maxConcurrentWorkflowTaskExecutions: AT_ONCE,
  maxCachedWorkflows: 500,
  reuseV8Context: true,
});

async function runMany(count: number, name: string): Promise<void> {
  let next = 0;
  const runOn = async (): Promise<void> => {
    while (next < count) {
      const workflowId = `${name}-${next++}`;
      await client.workflow.execute('nothing', { taskQueue: TASK_QUEUE, workflowId, requestEagerStart: true });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runOn));
}

await worker.runUntil(async () => {
  await runMany(WARM_UP, 'warm-up');
  const count = Number(wanted);
  const [startMs, temporalMs, own] = [nowMs(), await processorMs([Number(serverPid)]), process.cpuUsage()];
  await runMany(count, 'null');
  const seconds = (nowMs() - startMs) / 1000;
  const { user, system } = process.cpuUsage(own);
  const temporal = (await processorMs([Number(serverPid)])) - temporalMs;
  const result: NullWorkflowResult = {
    perSecond: count / seconds,
    cpuMs: { ours: (user + system) / 1000 / count, temporal: temporal / count },
  };
  await writeFile(resultFile, JSON.stringify(result));
});
await connection.close();
// Runs until it is stopped, like the other processes of the bench.
setInterval(() => {}, 60_000);
