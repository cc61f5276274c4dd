// Runs before `npm start` and `npm test`: installs the packages of package-lock.json unless they are there already.
// Plain Node, without packages, since there may be none.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const project = resolve(import.meta.dirname ?? '.', '..');
if (whyInstall() !== undefined) await oneAtATime(installAgainIfStillNeeded);

function installAgainIfStillNeeded() {
  const reason = whyInstall();
  if (reason === undefined) return 0;
  const startedAt = Date.now();
  process.stdout.write(`npm ci: ${reason}\n`);
  const flags = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', flags, { cwd: project, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status === 0) process.stdout.write(`npm ci: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  return status ?? 1;
}

/** Why the installed packages are not those of the lock file; undefined when they are. */
function whyInstall() {
  const installed = readPackages('node_modules/.package-lock.json');
  if (installed === undefined) return 'node_modules is not there yet';
  const wanted = Object.entries(readPackages('package-lock.json') ?? {});
  // An optional package that is missing is one for another system.
  const isWrong = ([path, { version, optional }]) =>
    path !== '' && (installed[path] === undefined ? !optional : installed[path].version !== version);
  const wrong = wanted.find(isWrong);
  return wrong && `${wrong[0]} is not as package-lock.json says`;
}

/** What npm keeps about every package, by its folder; undefined when the file cannot be read. */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(project, file), 'utf8')).packages;
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
    process.exitCode = work();
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
