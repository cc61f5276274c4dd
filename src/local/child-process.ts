import { execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * A process of ours that may outlive us. `mark` is when the system says it began: a number that was given to another
 * process since has another mark, so that we never signal a stranger.
 */
export type Child = { pid: number; mark: string };

export type ChildOptions<Facts> = {
  command: string;
  args: string[];
  /** Where its output goes. */
  logFile: string;
  /** Where its pid and facts are kept for a later run that finds it alive. */
  pidFile: string;
  facts: Facts;
  /** The system user it runs as, when that is not us. */
  user?: { uid: number; gid: number } | undefined;
};

/**
 * Starts a program in a session of its own, so that Ctrl-C reaches only us and we end it when our own work is done.
 * Rejects when it cannot be started.
 */
export async function startChild<Facts extends object>(options: ChildOptions<Facts>): Promise<Child & Facts> {
  const log = openSync(options.logFile, 'a', 0o600);
  try {
    const child = spawn(options.command, options.args, {
      ...options.user,
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    if (child.pid === undefined) throw new Error(`${options.command} has no process id`);
    const started = { ...options.facts, pid: child.pid, mark: (await processMark(child.pid)) ?? 'gone' };
    writePidFile(options.pidFile, started);
    return started;
  } finally {
    closeSync(log);
  }
}

/** What a pid file says, if the process it names is still the one it was. */
export async function findChild<Facts extends object>(pidFile: string): Promise<(Child & Facts) | undefined> {
  try {
    const found = JSON.parse(await readFile(pidFile, 'utf8')) as Child & Facts;
    return (await isAlive(found)) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process is there and still the same one. */
export async function isAlive(child: Child): Promise<boolean> {
  return (await processMark(child.pid)) === child.mark;
}

/** Asks a process to end, and ends it by force when it has not within `graceMs`. */
export async function stopChild(child: Child, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (!(await signalChild(child, signal))) return;
  if (await hasEnded(child, graceMs)) return;
  await signalChild(child, 'SIGKILL');
  await hasEnded(child, 2_000);
}

/** Writes a pid file in one step: a reader sees the old one or the new one. */
export function writePidFile(path: string, content: Child & object): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
  renameSync(draft, path);
}

/** When the process began, as its system tells it; undefined when there is none or it has ended. */
export async function processMark(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return linuxProcessMark(pid);
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
    const [state = 'Z', ...began] = stdout.trim().split(/\s+/);
    return state.startsWith('Z') ? undefined : began.join(' ');
  } catch {
    return undefined;
  }
}

function linuxProcessMark(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may hold anything; the rest is split by spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const began = fields[19];
    return state === 'Z' || state === 'X' ? undefined : began;
  } catch {
    return undefined;
  }
}

async function signalChild(child: Child, signal: NodeJS.Signals): Promise<boolean> {
  if (!(await isAlive(child))) return false;
  try {
    return process.kill(child.pid, signal);
  } catch {
    return false;
  }
}

async function hasEnded(child: Child, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (Date.now() < deadline) {
    if (!(await isAlive(child))) return true;
    await sleep(20);
  }
  return !(await isAlive(child));
}
