import config from './jest.config.mjs';

const { globalSetup: _servers, globalTeardown: _stop, ...withoutServers } = config;

/** `npm run test:compose`: the compose file's installation on a real container engine, which test/compose/prepare.sh brings. */
export default {
  ...withoutServers,
  testMatch: ['<rootDir>/test/compose/**/*.test.ts'],
  testPathIgnorePatterns: [],
  // Each test goes on where the one before has ended.
  bail: 1,
  reporters: ['default', ['./test/support/reporter.mjs', { name: 'compose' }]],
};
