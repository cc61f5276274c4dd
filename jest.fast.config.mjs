import config from './jest.config.mjs';
import { neededServers, startsProcesses, testFiles } from './test/support/needs.mjs';

const { globalSetup: _servers, globalTeardown: _stop, ...withoutServers } = config;

const isFast = (file) => !neededServers([file]).postgres && !startsProcesses(file);

/** `npm run test:fast`: the files that need neither PostgreSQL nor Temporal. */
export default { ...withoutServers, testMatch: testFiles().filter(isFast) };
