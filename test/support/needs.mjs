import { accessSync, constants, existsSync, readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

const PROJECT = resolve(import.meta.dirname, '../..');
const TESTS = join(PROJECT, 'test');
/** These files start the servers or declare their addresses, so they mention all of them. */
const DECLARES = new Set(['stack.ts', 'stack-facts.ts'].map((name) => join(TESTS, 'support', name)));

const texts = new Map();

/** The text of a test file and of all test code that it imports. */
function textOf(file) {
  const known = texts.get(file);
  if (known !== undefined) return known;
  texts.set(file, '');
  const own = DECLARES.has(file) ? '' : readFileSync(file, 'utf8');
  const imported = [...own.matchAll(/from '(\.[^']+)'/g)].map(([, path]) => resolve(dirname(file), path));
  const inTests = imported.filter((path) => path.startsWith(TESTS) && existsSync(path));
  const text = [own, ...inTests.map(textOf)].join('\n');
  texts.set(file, text);
  return text;
}

/** All test files, as absolute paths. */
export function testFiles() {
  return readdirSync(TESTS, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(TESTS, name));
}

/** The shared servers that these files use, detected in their code. */
export function neededServers(files) {
  const mention = (word) => files.some((file) => textOf(file).includes(word));
  return {
    postgres: mention('testStack('),
    temporal: mention('temporalAddress'),
    workflows: mention('workflowBundlePath'),
    program: mention('programFolder'),
  };
}

/** Whether a file starts processes of the program, which have servers of their own. */
export function startsProcesses(file) {
  return /from 'node:child_process'|own-temporal|own-postgres/.test(textOf(file));
}

/** The path of the S3 server that tests of buckets need: where .ci/run installs it, or the first moto_server on PATH. */
export function findMoto() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const folders = [join(cache, 'meskot', 'moto', 'bin'), ...(process.env.PATH ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, 'moto_server')).find(isExecutable);
}

const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/** The path of the browser that tests of web pages need: the first Chromium on PATH, or undefined. */
export const findChromium = () => findProgram(BROWSERS);

/** Whether PATH has Prometheus and its promtool, which the tests of alerts need. */
export function hasPrometheus() {
  return ['prometheus', 'promtool'].every((name) => findProgram([name]));
}

/** The path of the pooler that tests of connections need, or undefined. Debian has it where only root's PATH leads. */
export const findPgBouncer = () => findProgram(['pgbouncer'], ['/usr/sbin']);

function findProgram(names, moreFolders = []) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...moreFolders];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
