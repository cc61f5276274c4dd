import { availableParallelism } from 'node:os';

import { findChromium, findMoto, findPgBouncer, hasPrometheus } from './test/support/needs.mjs';

// Workers inherit it. CI must have one: there the tests of web pages fail without it.
const chromium = (process.env.CHROMIUM ||= findChromium() ?? '');
const excludesBrowser = !chromium && !process.env.CI;
if (excludesBrowser) console.warn('Excludes test/browser: no Chromium on PATH. Install it, or set CHROMIUM.');
// The same for the tests of alerts.
const excludesAlerts = !hasPrometheus() && !process.env.CI;
if (excludesAlerts) console.warn('Excludes test/watching: no prometheus and promtool on PATH (Debian: prometheus).');

const moto = (process.env.MOTO_SERVER ||= findMoto() ?? '');
const excludesBuckets = !moto && !process.env.CI;
if (excludesBuckets) console.warn('Excludes the tests of buckets: no moto_server on PATH (test/README.md).');
// Likewise.
const pgBouncer = (process.env.PGBOUNCER ||= findPgBouncer() ?? '');
const excludesPgBouncer = !pgBouncer && !process.env.CI;
if (excludesPgBouncer) console.warn('Excludes pgbouncer.test.ts: no pgbouncer on PATH. Install it, or set PGBOUNCER.');
const excluded = [
  ...(excludesBrowser ? ['<rootDir>/test/browser/'] : []),
  ...(excludesAlerts ? ['<rootDir>/test/watching/'] : []),
  ...(excludesBuckets ? [String.raw`bucket[\w-]*\.test\.ts$`] : []),
  ...(excludesPgBouncer ? [String.raw`/pgbouncer\.test\.ts$`] : []),
];

/** @type {import('jest').Config} */
export default {
  testEnvironment: './test/support/shared-environment.mjs',
  runtime: './test/support/shared-modules.cjs',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  // They take minutes: npm run test:chaos, test:image, test:compose and test:helm.
  testPathIgnorePatterns: [
    ...['chaos', 'image', 'compose', 'helm'].map((folder) => `<rootDir>/test/${folder}/`),
    ...excluded,
  ],
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2023', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/'],
  // One more than there are cores, because tests wait for Temporal and for timers. More need more connections of PostgreSQL.
  maxWorkers: Math.min(availableParallelism() + 1, 5),
  // Every file leaves some of its modules behind: a heap of gigabytes costs more than a new process.
  workerIdleMemoryLimit: '600MB',
  // Generous: on a busy machine a process alone takes seconds to start. What must be quick says so itself.
  testTimeout: 60_000,
  globalSetup: './test/support/global-setup.mjs',
  globalTeardown: './test/support/global-teardown.mjs',
  reporters: ['default', './test/support/reporter.mjs'],
};
