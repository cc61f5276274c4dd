import { mkdir } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { compareWith } from './against.ts';
import type { Bench } from './fixture.ts';
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
  endpoint,
  hanging,
  kills,
  payments,
};

/** What --against compares unless steps are named: the cost of each request, payment and event. */
const COMPARED = ['sessions', 'payments', 'bursts'];

const USAGE = `Usage: npm run bench [-- [--only STEP]… [--json] [--short] [--profile FOLDER] [--against COMMIT [--rounds N]]]
Measures this machine against the goals; about half an hour. Progress goes to stderr, results to stdout. What was
measured is printed also when a step fails; the exit code is 1 then.
  --only STEP       only this step, and others that are named the same way: ${Object.keys(STEPS).join(', ')}
  --json            all figures, and the goals with whether they are met
  --short           a few of everything: whether it works, not how fast
  --against COMMIT  measures that commit and this folder in turns, and prints the ratios; unless steps are named, of
                    ${COMPARED.join(', ')}
  --rounds N        how often each is measured then; 3 unless given
  --profile FOLDER  what took the time, by function for each process and by statement for each step
`;

const startedAtMs = Date.now();
const say = (line: string): void => {
  const seconds = Math.round((Date.now() - startedAtMs) / 1000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
};

async function main(): Promise<number> {
  const options = {
    json: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    against: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const only = values.only ?? (values.against === undefined ? Object.keys(STEPS) : COMPARED);
  const rounds = Number(values.rounds);
  if (only.some((step) => !Object.hasOwn(STEPS, step)) || !(Number.isInteger(rounds) && rounds > 0))
    throw new Error(USAGE);
  const steps = Object.keys(STEPS).filter((step) => only.includes(step));
  if (process.platform !== 'linux')
    throw new Error('The bench reads processor times from /proc: it runs on Linux only.');
  if (values.against !== undefined) {
    const comparison = { commit: values.against, steps, rounds, isShort: values.short, say };
    process.stdout.write(await compareWith(comparison));
    return 0;
  }
  const profileFolder = values.profile && resolve(values.profile);
  if (profileFolder) await mkdir(profileFolder, { recursive: true });
  const results: Results = { about: aboutHere(), steps: [], measured: {} };
  const stack = await prepareStack({ say, profileFolder });
  try {
    const isWhole = await runAll({ stack, results, steps, profileFolder, isShort: values.short });
    process.stdout.write(values.json ? jsonOf(results) : textOf(results));
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
