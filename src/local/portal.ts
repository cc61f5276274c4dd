import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { environment } from '../config.ts';
import { print, step } from './log.ts';

/** What a failed build has written, in the data folder. */
export const BUILD_LOG_FILE = join('logs', 'portal-build.log');
const BUILD_WITHIN_MS = 180_000;
const HASH_CHARACTERS = 16;
/** The files of `src` whose values, not only types, are part of the pages. */
const SHARED_FILE = /^(?:states|channel|banks|dates)[.]ts$/;

/**
 * The folder of the built pages of people, built in a process of its own unless their sources are unchanged. undefined, with
 * a line on the terminal, where the build fails: the API works without them.
 */
export async function buildPortal(project: string, dataFolder: string): Promise<string | undefined> {
  const builds = join(dataFolder, 'portal');
  return step('Pages', async (describe) => {
    try {
      const folder = join(builds, await hashSources(project));
      if (existsSync(folder)) describe('unchanged');
      else {
        await build(project, folder);
        describe('built');
        const paths = (await readdir(builds)).map((name) => join(builds, name));
        const old = paths.filter((path) => path !== folder && !path.endsWith('.draft'));
        await Promise.all(old.map((path) => rm(path, { recursive: true, force: true })));
      }
      return folder;
    } catch (error) {
      const logFile = join(dataFolder, BUILD_LOG_FILE);
      await mkdir(dirname(logFile), { recursive: true });
      await writeFile(logFile, outputOf(error));
      describe('not built');
      print(`The pages of people could not be built; everything else works. See ${logFile}`);
      return undefined;
    }
  });
}

/** Builds into a draft first, so that a folder with the final name is complete. */
async function build(project: string, folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}.draft`;
  const vite = join(project, 'node_modules/vite/bin/vite.js');
  const where = ['--outDir', draft, '--emptyOutDir', '--logLevel', 'warn'];
  const args = [vite, 'build', join(project, 'portal'), '--mode', 'start', ...where];
  try {
    // Whatever this process is for, and so not React's slow development build.
    const env = { ...environment, NODE_ENV: 'production' };
    await promisify(execFile)(process.execPath, args, { cwd: project, env, timeout: BUILD_WITHIN_MS });
    // Another process may have built the same meanwhile.
    if (!existsSync(folder)) await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function hashSources(project: string): Promise<string> {
  const [pages, shared] = await Promise.all([list(project, 'portal'), list(project, 'src')]);
  const names = [...pages, ...shared.filter((name) => SHARED_FILE.test(name.slice(name.lastIndexOf('/') + 1)))];
  const hash = createHash('sha256');
  for (const name of ['package-lock.json', ...names.toSorted()]) {
    hash.update(`${name}\0`).update(await readFile(join(project, name)));
  }
  return hash.digest('hex').slice(0, HASH_CHARACTERS);
}

async function list(project: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(project, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(project.length + 1));
}

function outputOf(error: unknown): string {
  const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
  return `${stdout}${stderr}` || String(error);
}
