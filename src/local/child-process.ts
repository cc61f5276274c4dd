import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * A child process that may outlive this one. `mark` is its start time as the system reports it, which tells it from a later
 * process with the same id. The name is part of the pid files that other checkouts on this machine read.
 */
export type Child = { pid: number; mark: string };

export type ChildOptions<Details> = {
  command: string;
  args: string[];
  logFile: string;
  /** Stores its pid, start time and details for a later run. */
  pidFile: string;
  details: Details;
  /** The system user it runs as; this process's unless given. */
  user?: { uid: number; gid: number } | undefined;
};

/**
 * Starts a program in a session of its own, so that Ctrl-C does not reach it before our own work is done. Rejects when it
 * cannot be started.
 */
export async function startChild<Details extends object>(options: ChildOptions<Details>): Promise<Child & Details> {
  const log = openSync(options.logFile, 'a', 0o600);
  try {
    const child = spawn(options.command, options.args, {
      ...options.user,
      cwd: '/',
      detached: true,
      stdio: ['ignore', log, log],
    });
    await once(child, 'spawn');
    child.unref();
    if (child.pid === undefined) throw new Error(`${options.command} has no process id.`);
    const started = { ...options.details, pid: child.pid, mark: (await processStartTime(child.pid)) ?? 'gone' };
    writePidFile(options.pidFile, started);
    return started;
  } finally {
    closeSync(log);
  }
}

/** The content of a pid file, if its process is still alive. */
export async function findChild<Details extends object>(pidFile: string): Promise<(Child & Details) | undefined> {
  try {
    const found = JSON.parse(await readFile(pidFile, 'utf8')) as Child & Details;
    return (await isAlive(found)) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process lives and is still the same one. */
export async function isAlive(child: Child): Promise<boolean> {
  return (await processStartTime(child.pid)) === child.mark;
}

/** Signals a process to end, and kills it after `graceMs`. */
export async function stopChild(child: Child, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  if (!(await endWith(child, signal, graceMs))) await endWith(child, 'SIGKILL', 2_000);
}

/** Signals a process and waits for its end. True once it has ended. */
async function endWith(child: Child, signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
  try {
    if (await isAlive(child)) process.kill(child.pid, signal);
  } catch {
    // It has ended meanwhile.
  }
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await sleep(20)) {
    if (!(await isAlive(child))) return true;
  }
  return !(await isAlive(child));
}

/** Writes a pid file atomically. */
export function writePidFile(path: string, content: Child & object): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
  renameSync(draft, path);
}

/** When the process began, as the system reports it; undefined when it has ended. */
export async function processStartTime(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return linuxStartTime(pid);
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
    const [state = 'Z', ...began] = stdout.trim().split(/\s+/);
    return state.startsWith('Z') ? undefined : began.join(' ');
  } catch {
    return undefined;
  }
}

function linuxStartTime(pid: number): string | undefined {
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

/** The end of a program's log, for an error about it. */
export async function lastLines(logFile: string): Promise<string> {
  const log = await readFile(logFile, 'utf8').catch(() => '');
  return log.trimEnd().split('\n').slice(-5).join('\n');
}
