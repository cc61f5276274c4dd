// Runs before `npm start` and `npm test`: installs the packages of package-lock.json unless they are there already.
// Plain Node, without packages, since there may be none.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const project = resolve(import.meta.dirname ?? '.', '..');
const reason = whyInstall();
if (reason !== undefined) {
  const startedAt = Date.now();
  process.stdout.write(`npm ci: ${reason}\n`);
  const flags = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status } = spawnSync('npm', flags, { cwd: project, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
  process.stdout.write(`npm ci: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
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
