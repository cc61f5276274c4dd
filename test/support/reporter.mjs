/** Ends the run with one line that a machine can read: `N passed, N failed`, and `, N skipped` if there are any. */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = results;
    // A file that could not even be loaded has no tests to count: it counts as one that failed.
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests + numTodoTests;
    const line = `${numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    // After jest's own summary, which is written once all reporters were told.
    process.once('exit', () => process.stdout.write(`${line}\n`));
  }
}
