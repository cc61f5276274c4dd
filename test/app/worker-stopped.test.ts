import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testStack } from '../support/stack-facts.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A process that does nothing but start a worker and stop it at once; it ends when nothing keeps it. */
function startAndStopWorker(temporalAddress: string) {
  const code = `void (async () => {
    const { readConfig } = await import('./dist/src/config.js');
    const { createLogger } = await import('./dist/src/lib/log.js');
    const { installRuntime } = await import('./dist/src/temporal/runtime.js');
    const { startWorker } = await import('./dist/src/app/worker.js');
    const log = createLogger('silent', 'test');
    await installRuntime(log);
    const [DATABASE_URL, TEMPORAL_ADDRESS, codePath] = process.argv.slice(1);
    const config = readConfig({ DATABASE_URL, TEMPORAL_ADDRESS, TASK_QUEUE_PREFIX: 'stopped-', TASK_QUEUES: 'payments' });
    const worker = startWorker(config, { log, workflowBundle: { codePath } });
    await worker.stop();
    process.stdout.write('stopped');
  })()`;
  const { programFolder, workflowBundlePath: bundle = '' } = testStack();
  const args = ['-e', code, database.url, temporalAddress, bundle];
  return spawn(process.execPath, args, {
    cwd: programFolder,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

describe('a worker that is stopped before it is ready', () => {
  test.each([
    ['Temporal is there', () => testStack().temporalAddress],
    ['Temporal is away', () => '127.0.0.1:1'],
  ])(
    'lets its process end when %s',
    async (_when, address) => {
      const child = startAndStopWorker(address());
      try {
        await once(child.stdout, 'data');
        const kept = setTimeout(() => child.kill('SIGKILL'), 5_000);
        const [exitCode] = await once(child, 'exit');
        clearTimeout(kept);
        expect(exitCode).toBe(0);
      } finally {
        child.kill('SIGKILL');
      }
    },
    40_000,
  );
});
