import config from './jest.config.mjs';

/** `npm run test:image`: the Dockerfile's steps without a container engine, and each command started from their result. */
export default {
  ...config,
  testMatch: ['<rootDir>/test/image/**/*.test.ts'],
  testPathIgnorePatterns: [],
  // A process starts from cold files here, on a busy machine in a minute.
  testTimeout: 180_000,
  reporters: ['default', ['./test/support/reporter.mjs', { name: 'image' }]],
};
