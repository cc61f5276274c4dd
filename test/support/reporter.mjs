/**
 * Ends the run with one line that a machine can read: `N passed, N failed`, and `, N skipped` if there are any. With the
 * option `name` that stands before it.
 */
export default class ClosingLineReporter {
  constructor(_globalConfig, { name } = {}) {
    this.prefix = name === undefined ? '' : `${name}: `;
  }

  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = results;
    // A file that could not even be loaded has no tests to count: it counts as one that failed.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests + numTodoTests;
    const line = `${this.prefix}${numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    // After jest's own summary, which is written once all reporters were told.
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
}
