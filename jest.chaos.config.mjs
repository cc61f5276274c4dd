import config from './jest.config.mjs';

/** `npm run test:chaos`: processes killed, servers away, frozen and lost under load, money at random, and all invariants after each. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/chaos/**/*.test.ts'],
  testPathIgnorePatterns: [],
  reporters: ['default', ['./test/support/reporter.mjs', { name: 'chaos' }]],
};
