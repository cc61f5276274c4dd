import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

import { anyFreePort } from '../../src/local/ports.ts';

export type WorkerProcess = {
  /** As a crash does: nothing is finished, nothing is said. */
  kill: () => Promise<void>;
  /** As an orchestrator does; resolves with the exit code. */
  terminate: () => Promise<number | null>;
};

/** The real `meskot worker` in a process of its own; resolves when its workflows are served. */
export async function startWorkerProcess(settings: Record<string, string>): Promise<WorkerProcess> {
  const project = resolve(import.meta.dirname, '../..');
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli.ts', 'worker'], {
    cwd: project,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      ...settings,
      LOG_LEVEL: 'info',
      METRICS_PORT: String(await anyFreePort()),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await said(child, 'the workflows are served');
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    await once(child, 'exit');
    return child.exitCode;
  };
  return { kill: async () => void (await end('SIGKILL')), terminate: () => end('SIGTERM') };
}

async function said(child: ChildProcess, words: string): Promise<void> {
  if (!child.stdout) throw new Error('the worker has no output');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.includes(words)) {
      child.stdout.resume();
      return;
    }
  }
  throw new Error(`the worker ended before it was ready:\n${lines.join('\n')}`);
}
