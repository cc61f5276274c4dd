import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

import config from './jest.config.mjs';

const { globalSetup: _servers, globalTeardown: _stop, ...withoutServers } = config;

const PROJECT = import.meta.dirname;
/** Whoever asks where the test servers are imports this. */
const NEEDS_SERVERS = join(PROJECT, 'test/support/stack-facts.ts');
/** Whole processes of the program bring servers of their own. */
const STARTS_PROCESSES = /from 'node:child_process'|own-temporal|own-postgres/;

const verdicts = new Map();

/** Whether a file or anything of the tests that it imports needs a server. */
function needsServers(file) {
  const known = verdicts.get(file);
  if (known !== undefined) return known;
  verdicts.set(file, file === NEEDS_SERVERS);
  const text = readFileSync(file, 'utf8');
  const imported = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, path]) => resolve(dirname(file), path));
  const inTests = imported.filter((path) => path.startsWith(join(PROJECT, 'test/')) && existsSync(path));
  const verdict = file === NEEDS_SERVERS || STARTS_PROCESSES.test(text) || inTests.some(needsServers);
  verdicts.set(file, verdict);
  return verdict;
}

const tests = readdirSync(join(PROJECT, 'test'), { recursive: true })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join(PROJECT, 'test', name));

/** `npm run test:fast`: the files that need neither PostgreSQL nor Temporal, found by what they import. */
export default { ...withoutServers, testMatch: tests.filter((file) => !needsServers(file)) };
