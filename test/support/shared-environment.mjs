import { TestEnvironment } from 'jest-environment-node';

let shared;

/** Where Jest keeps what its runner calls for each event, and the tests of a file: each file would add its own. */
const isOfRunner = (key) => key === Symbol.for('EVENT_HANDLERS') || key.description === 'JEST_STATE_SYMBOL';

/**
 * One context for all test files of a process, in which packages and the product stay loaded (shared-modules.cjs). Each file
 * finds the environment variables and the globals of Node as if it were the first; globals that were added stay, since
 * packages add some when they are loaded.
 */
export default class SharedEnvironment extends TestEnvironment {
  constructor(config, context) {
    if (shared) return shared;
    super(config, context);
    shared = this;
    this.initialGlobals = Object.getOwnPropertyDescriptors(this.global);
    this.exit = this.global.process.exit;
  }

  async setup() {
    for (const key of Object.getOwnPropertySymbols(this.global).filter(isOfRunner)) delete this.global[key];
    const { env } = this.global.process;
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, process.env);
  }

  async teardown() {
    Object.defineProperties(this.global, this.initialGlobals);
    // Jest wraps it for each file.
    this.global.process.exit = this.exit;
  }
}
