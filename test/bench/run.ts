import { mkdir } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';

import { compareWith } from './against.ts';
import type { Bench } from './fixture.ts';
import { readOptions, usageOf } from './options.ts';
import { forgetStatements, summariseProfiles, writeStatements } from './profile.ts';
import { jsonOf, openSheet, textOf, type Results } from './sheet.ts';
import { prepareStack, type BenchStack } from './stack.ts';
import { bursts } from './steps/bursts.ts';
import { endpoint } from './steps/endpoint.ts';
import { every } from './steps/every.ts';
import { hanging } from './steps/hanging.ts';
import { http } from './steps/http.ts';
import { kills } from './steps/kills.ts';
import { lists } from './steps/lists.ts';
import { million } from './steps/million.ts';
import { payments } from './steps/payments.ts';
import { sessions } from './steps/sessions.ts';
import { starts } from './steps/starts.ts';
import { statements } from './steps/statements.ts';
import { steady } from './steps/steady.ts';

/** The steps in their order; each is independent of the others. */
const STEPS: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  lists,
  million,
  http,
  sessions,
  statements,
  steady,
  bursts,
  every,
  starts,
  endpoint,
  hanging,
  kills,
  payments,
};

const startedAtMs = Date.now();
const say = (line: string): void => {
  const seconds = Math.round((Date.now() - startedAtMs) / 1000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
};

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2), Object.keys(STEPS));
  if (!options) {
    process.stdout.write(usageOf(Object.keys(STEPS)));
    return 0;
  }
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor times from /proc: it runs on Linux only.');
  const { steps, isShort, against } = options;
  if (against) {
    process.stdout.write(await compareWith({ ...against, steps, isShort, say }));
    return 0;
  }
  const profileFolder = options.profileFolder && resolve(options.profileFolder);
  if (profileFolder) await mkdir(profileFolder, { recursive: true });
  const results: Results = { about: aboutHere(), steps: [], measured: {} };
  const stack = await prepareStack({ say, profileFolder });
  try {
    const isWhole = await runAll({ stack, results, steps, profileFolder, isShort });
    process.stdout.write(options.isJson ? jsonOf(results) : textOf(results));
    return isWhole ? 0 : 1;
  } finally {
    say('stopping everything');
    await stack.clear();
  }
}

function aboutHere(): Results['about'] {
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    node: process.version,
    loadBefore: loadavg()[0]?.toFixed(1) ?? '',
  };
}

type Run = {
  stack: BenchStack;
  results: Results;
  steps: string[];
  profileFolder: string | undefined;
  isShort: boolean;
};

/** @returns whether no step failed. */
async function runAll({ stack, results, steps, profileFolder, isShort }: Run): Promise<boolean> {
  let isWhole = true;
  const size = (full: number, short: number): number => (isShort ? short : full);
  for (const step of steps) {
    say(step);
    const sheet = openSheet(results, step);
    if (profileFolder) await forgetStatements(stack.superuserUrl);
    try {
      await STEPS[step]?.({ stack, sheet, say, size, step });
    } catch (error) {
      isWhole = false;
      sheet.fail(error);
      say(`the step failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    }
    if (profileFolder) await writeStatements(stack.superuserUrl, { folder: profileFolder, step });
  }
  if (profileFolder) await summariseProfiles(profileFolder);
  return isWhole;
}

const exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
});
// Exits explicitly: Temporal's client keeps the event loop alive for a while.
process.exit(exitCode);
