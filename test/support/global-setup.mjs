import { tsImport } from 'tsx/esm/api';

import { neededServers, testFiles } from './needs.mjs';

/**
 * Starts the servers that the chosen test files need: none for files of pure functions. Jest loads this outside its own
 * modules, where TypeScript needs tsx. The servers are children of this process.
 */
export default async function globalSetup({ testPathPatterns, rootDir, watch, watchAll, runTestsByPath }) {
  const chosen = testPathPatterns.toExecutor({ rootDir });
  const all = watch || watchAll || runTestsByPath;
  const needed = neededServers(testFiles().filter((file) => all || chosen.isMatch(file)));
  if (!needed.postgres) return;
  const { startTestStack } = await tsImport('./stack.ts', import.meta.url);
  const stack = await startTestStack(needed);
  globalThis.meskotTestStack = stack;
  // An interrupted run has no teardown. The next run removes what a killed run left.
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => void stack.stop().finally(() => process.exit(1)));
  }
}
