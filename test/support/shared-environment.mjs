import { TestEnvironment } from 'jest-environment-node';

let shared;

/**
 * One context for all test files of a process, in which packages stay loaded (shared-packages.cjs). Each file finds the
 * environment variables and the globals of Node as if it were the first; globals that were added stay, since packages add
 * some when they are loaded.
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
