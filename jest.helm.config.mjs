import config from './jest.config.mjs';

/** `npm run test:helm`: the chart, rendered by Helm and checked against the schemas of Kubernetes. Installs both first. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/helm/**/*.test.ts'],
  testPathIgnorePatterns: [],
  // The first installs what the others use.
  maxWorkers: 1,
  reporters: ['default', ['./test/support/reporter.mjs', { name: 'helm' }]],
};
