import { createHash } from 'node:crypto';
import { readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';

/** Bundles the workflows into one script, from source in development and from the build in production. Takes a second or more. */
export async function bundleWorkflows(log: { warn: (message: string) => void }): Promise<{ code: string }> {
  const quiet = (): void => {};
  const warn = (message: string): void => log.warn(message);
  const logger = { log: quiet, trace: quiet, debug: quiet, info: quiet, warn, error: warn };
  const { code } = await bundleWorkflowCode({ workflowsPath: join(WORKFLOWS, `index${EXTENSION}`), logger });
  return { code };
}

/** The same, cached in a folder until a workflow or Temporal's SDK changes, for fast local starts. */
export async function bundleWorkflowsCached(
  folder: string,
  log: { warn: (message: string) => void },
): Promise<WorkflowBundleOption> {
  const codePath = join(folder, 'workflows.js');
  const stamp = `// ${await hashOfSources()}\n`;
  const stored = await readFile(codePath, 'utf8').catch(() => '');
  if (!stored.startsWith(stamp)) {
    const { code } = await bundleWorkflows(log);
    // Two processes may write it at once: each writes a draft, and the last rename wins.
    const draft = `${codePath}.${process.pid}.draft`;
    try {
      await writeFile(draft, stamp + code);
      await rename(draft, codePath);
    } finally {
      await rm(draft, { force: true });
    }
  }
  return { codePath };
}

const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
const SOURCES = fileURLToPath(new URL('..', import.meta.url));
const WORKFLOWS = join(SOURCES, '../workflows');

/** The inputs of a bundle: the workflows, what they import from src (CONTRIBUTING.md), and Temporal's SDK. */
async function hashOfSources(): Promise<string> {
  const hash = createHash('sha256');
  const sdk = createRequire(import.meta.url)('@temporalio/workflow/package.json') as { version: string };
  hash.update(sdk.version);
  for (const folder of [WORKFLOWS, SOURCES]) {
    const names = await readdir(folder, { recursive: true });
    const bundled = names.filter(
      (name) => folder === WORKFLOWS || /(^|\/)(states|money|sandbox-review)\.[jt]s$/.test(name),
    );
    for (const name of bundled.filter((one) => one.endsWith(EXTENSION)).toSorted()) {
      hash.update(name).update(await readFile(join(folder, name)));
    }
  }
  return hash.digest('hex');
}
