import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * A child process that may outlive this one. `mark` is its start time as the system reports it, which distinguishes it from a later
 * process with the same id. The name is part of the pid files that other checkouts on this machine read.
 */
export type Child = { pid: number; mark: string };

const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 3_000;
const START_ATTEMPTS = 4;

export type ChildOptions = {
  command: string;
  args: string[];
  logFile: string;
  /** Stores its pid and start time for a later run. */
  pidFile: string;
  /** The system user it runs as; this process's unless given. */
  user?: { uid: number; gid: number } | undefined;
};

/** `connect` resolves once the server responds. */
export type ServerOptions = ChildOptions & { name: string; connect: () => Promise<unknown> };

export type Server = { child: Child; stop: () => Promise<void> };

/** Starts a server, after stopping one that a killed process left running. Rejects when it is not ready within 30 s. */
export async function startServer({ name, connect, ...options }: ServerOptions): Promise<Server> {
  await stopOrphan(options.pidFile);
  const deadline = Date.now() + READY_WITHIN_MS;
  let failure: unknown;
  for (let attempt = 1; attempt <= START_ATTEMPTS && Date.now() < deadline; attempt += 1) {
    const child = await startChild(options);
    const stop = (): Promise<void> => stopChild(child, 'SIGINT', STOP_WITHIN_MS);
    while (Date.now() < deadline && (await isAlive(child))) {
      try {
        await connect();
        return { child, stop };
      } catch (error) {
        failure = error;
        await sleep(25);
      }
    }
    await stop();
    // What a killed server still holds, such as PostgreSQL's shared memory, is free soon.
    await sleep(500);
  }
  const log = await readFile(options.logFile, 'utf8').catch(() => '');
  const end = log.trimEnd().split('\n').slice(-5).join('\n');
  throw new Error(`${name} did not start. The end of its log:\n${end}`, { cause: failure });
}

/** Stops the process of a pid file, if it is still alive. */
export async function stopOrphan(pidFile: string): Promise<void> {
  const orphan = await findChild(pidFile);
  if (orphan) await stopChild(orphan, 'SIGINT', STOP_WITHIN_MS);
}

/**
 * Starts a program in a session of its own, so that Ctrl-C does not reach it before our own work is done. Rejects when it
 * cannot be started.
 */
export async function startChild({ command, args, logFile, pidFile, user }: ChildOptions): Promise<Child> {
  const log = openSync(logFile, 'a', 0o600);
  try {
    const spawned = spawn(command, args, { ...user, cwd: '/', detached: true, stdio: ['ignore', log, log] });
    await once(spawned, 'spawn');
    spawned.unref();
    const { pid = 0 } = spawned;
    const child = { pid, mark: (await processStartTime(pid)) ?? 'gone' };
    writePidFile(pidFile, child);
    return child;
  } finally {
    closeSync(log);
  }
}

/** The content of a pid file, if its process is still alive. */
export async function findChild(pidFile: string): Promise<Child | undefined> {
  try {
    const found = JSON.parse(await readFile(pidFile, 'utf8')) as Child;
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
  for (const [name, withinMs] of [
    [signal, graceMs],
    ['SIGKILL', 2_000],
  ] as const) {
    try {
      if (await isAlive(child)) process.kill(child.pid, name);
    } catch {
      // It has ended meanwhile.
    }
    for (const deadline = Date.now() + withinMs; Date.now() < deadline; await sleep(20)) {
      if (!(await isAlive(child))) return;
    }
  }
}

export function writePidFile(path: string, content: Child): void {
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
