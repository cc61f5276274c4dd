import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { anyFreePort } from '../../src/lib/ports.ts';
import { testStack } from './stack-facts.ts';

/** What Node is given to run `meskot …`: as built for production, which starts in half the time of the sources. */
export function meskot(...args: string[]): string[] {
  const { programFolder } = testStack();
  if (programFolder === undefined) throw new Error('this run has built no program: see test/support/needs.mjs');
  return [join(programFolder, 'dist/src/cli.js'), ...args];
}

/** A process of `meskot`. */
export type Program = {
  metricsUrl: string;
  /** The lines that it has printed. */
  lines: readonly string[];
  /** SIGKILL: no work is finished and no log line is written. */
  kill: () => Promise<void>;
  /** SIGTERM, as an orchestrator sends; resolves with the exit code. */
  terminate: () => Promise<number | null>;
};

const READY_WORDS = {
  api: 'API started',
  worker: 'workflow workers started',
  simulator: 'simulator started',
} as const;

/** What runs `meskot`: Node, and its arguments before the command. */
export type Executable = { node: string; args: (command: string) => string[] };

/** Starts `meskot api`, `worker` or `simulator` in another process, by default of the build; resolves when it serves. */
export async function startProgram(
  command: keyof typeof READY_WORDS,
  settings: Record<string, string>,
  { node, args }: Executable = { node: process.execPath, args: meskot },
): Promise<Program> {
  const { workflowBundlePath } = testStack();
  const [metricsPort, consolePort] = [await anyFreePort(), await anyFreePort()];
  const child = spawn(node, args(command), {
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      ...(workflowBundlePath && { WORKFLOW_BUNDLE_PATH: workflowBundlePath }),
      LOG_LEVEL: 'info',
      CONSOLE_PORT: String(consolePort),
      ...settings,
      METRICS_PORT: String(metricsPort),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = await said(child, READY_WORDS[command]);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    child.kill(signal);
    await once(child, 'exit');
    return child.exitCode;
  };
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  return { metricsUrl, lines, kill: async () => void (await end('SIGKILL')), terminate: () => end('SIGTERM') };
}

/** The lines of its output, which grow on; resolves once one has the words. */
async function said(child: ChildProcess, words: string): Promise<string[]> {
  const { stdout } = child;
  if (!stdout) throw new Error('the program has no output');
  const lines: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: stdout })
      .on('line', (line) => {
        lines.push(line);
        if (line.includes(words)) resolve();
      })
      .on('close', () => reject(new Error(`the program ended before it was ready:\n${lines.join('\n')}`)));
  });
  return lines;
}
