/**
 * Ends the run with one machine-readable line: `N passed, N failed`, and `, N skipped` if there are any, prefixed with
 * the option `name`.
 */
export default class ClosingLineReporter {
  constructor(_globalConfig, { name } = {}) {
    this.prefix = name === undefined ? '' : `${name}: `;
  }

  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = results;
    // A file that fails to load has no tests: it counts as one failed test.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests + numTodoTests;
    const line = `${this.prefix}${numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    // Jest's own summary is written after all reporters have run.
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
}
