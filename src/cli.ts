#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stderr, stdin, stdout } from 'node:process';

import { CommandError, EXIT, reasonOf } from './app/commands/api-client.ts';
import type { NewAdmin } from './app/commands/nouns.ts';
import { printData, type Terminal } from './app/commands/print.ts';
import { addApiCommands, createProgram, runProgram } from './app/commands/program.ts';
import type { Config } from './config.ts';
import type { Database } from './lib/db.ts';
import { connectToApi } from './local/connection.ts';
import { CHANNELS } from './merchants/channels/channel.ts';

// Every command loads its modules when it runs: those on the API need neither a database nor Temporal.

const project = projectFolder();
const terminal: Terminal = {
  write: (text) => void stdout.write(text),
  note: (line) => void stderr.write(`${line}\n`),
  ...(stdout.isTTY && { columns: stdout.columns }),
  ...(stdin.isTTY && stderr.isTTY && { ask }),
};
const program = createProgram(terminal);
const command = (name: string, about: string) => program.command(name).description(about);

async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: stdin, output: stderr });
  return lines.question(question).finally(() => lines.close());
}

/** The nearest folder above this file with a package.json: the same one from source and when built. */
function projectFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error('package.json is missing from the installation');
    folder = dirname(folder);
  }
  return folder;
}

/** An exit code other than 0 ends the command; whatever there was to print is printed. */
async function exitWith(exitCode: Promise<number>): Promise<void> {
  const code = await exitCode;
  if (code !== 0) throw new CommandError(code, '');
}

type Work = (parts: { db: Database; config: Config }) => Promise<void>;

/** One connection to the database of DATABASE_URL, or else of the local start. */
async function withDatabase(work: Work, unlimitedStatements = false): Promise<void> {
  const [{ readConfig }, { withLocalServers }, { openDatabase }] = await Promise.all([
    import('./config.ts'),
    import('./local/settings.ts'),
    import('./lib/db.ts'),
  ]);
  const config = readConfig(await withLocalServers(project));
  const db = openDatabase({ url: config.DATABASE_URL, poolMax: 1, applicationName: 'meskot-cli', unlimitedStatements });
  await reachable(work({ db, config })).finally(() => db.destroy());
}

/** A database that does not answer ends the command with the next step. */
async function reachable<T>(work: Promise<T>): Promise<T> {
  return work.catch(async (error: unknown) => {
    const { DatabaseRefused, isDatabaseUnavailable } = await import('./lib/db-errors.ts');
    if (error instanceof DatabaseRefused) throw new CommandError(EXIT.unreachable, `${error.message} ${error.next}`);
    if (!isDatabaseUnavailable(error)) throw error;
    throw new CommandError(
      EXIT.unreachable,
      `The database does not answer (${reasonOf(error)}). ` +
        'Run "npm start", which brings its own, or set DATABASE_URL to one that runs.',
    );
  });
}

async function createAdmin({ name, email, json = false }: NewAdmin): Promise<void> {
  const { createAdmin: create } = await import('./app/commands/database.ts');
  await withDatabase(async ({ db, config }) => {
    const created = await create({ db, config }, { name, email });
    printData(terminal, created, { json });
  });
}

/** The values of an option that can be repeated, and can have several separated by commas. */
function listed(value: string, before: string[] = []): string[] {
  return [...before, ...value.split(',')];
}

/** A sentence for what was foreseen, the whole trace for a bug. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.constructor === Error ? error.message : (error.stack ?? error.message);
}

program.commandsGroup('On this machine:');
command('start', 'Run everything on this machine, with its own PostgreSQL and Temporal').action(async () =>
  exitWith((await import('./local/start.ts')).start(project)),
);
command('status', 'Show whether it runs here and how to reach it')
  .option('--json', 'Print it as JSON')
  .action(async (options) => exitWith((await import('./local/commands.ts')).status(project, options)));
command('reset', 'Wipe what "start" has stored on this machine').action(async () =>
  exitWith((await import('./local/commands.ts')).reset(project)),
);
const demo = command('demo', 'The demo data');
demo
  .command('seed')
  .description('Create the demo data in the database of DATABASE_URL')
  .action(async () => reachable((await import('./local/commands.ts')).seed(project, terminal.write)));
demo
  .command('code [email]')
  .description('Print a code that the console asks a demo operator for')
  .action(async (email?: string) => {
    const { nextCode } = await import('./demo/seed/authenticator.ts');
    await withDatabase(async ({ db, config }) => terminal.write(`${await nextCode(db, config, email)}\n`));
  });

program.commandsGroup('On a server:');
command('api', 'Serve the API and the checkout page until a signal').action(async () =>
  exitWith((await import('./app/run-process.ts')).serveApi(project)),
);
command('worker', 'Run the workflows, the webhooks and the periodic jobs until a signal').action(async () =>
  exitWith((await import('./app/run-process.ts')).serveWorker(project)),
);
command('simulator', "Serve the sandbox's providers until a signal").action(async () =>
  exitWith((await import('./app/run-process.ts')).serveSimulator()),
);
command('migrate', 'Update the schema of the database in DATABASE_URL, and prepare Temporal').action(async () => {
  const { readConfig, environment } = await import('./config.ts');
  const { prepare } = await import('./app/commands/database.ts');
  const print = (line: string): void => terminal.write(`${line}\n`);
  await reachable(prepare(readConfig(environment, { usesSecrets: false }), { project, print, warn: terminal.note }));
});
command('doctor', 'Check settings, servers, disks and live providers; exit code 1 if something is wrong')
  .option('--channel <channels>', `Of the channels only these, such as ${CHANNELS[0]}; can be repeated`, listed)
  .option('--json', 'Print the checks as JSON')
  .action(async (options: { channel?: string[]; json?: boolean }) => {
    const [{ doctor }, { environment }, { withLocalServers }] = await Promise.all([
      import('./app/doctor/doctor.ts'),
      import('./config.ts'),
      import('./local/settings.ts'),
    ]);
    // A missing DATABASE_URL is a finding.
    const env = await withLocalServers(project).catch(() => environment);
    await exitWith(doctor({ env, project, terminal }, options));
  });
const workflows = command('workflows', 'The workflows as workers load them');
workflows
  .command('bundle <file>')
  .description('Write the workflows as one script, which WORKFLOW_BUNDLE_PATH names')
  .action(async (file: string) => {
    const { bundleWorkflows } = await import('./temporal/workers.ts');
    await writeFile(file, (await bundleWorkflows({ warn: terminal.note })).code);
  });
workflows
  .command('use-build [build]')
  .description('Give the workflows to the workers of a build, by default of TEMPORAL_WORKER_BUILD_ID')
  .action(async (build?: string) => {
    const [{ readConfig, environment }, { makeCurrent }] = await Promise.all([
      import('./config.ts'),
      import('./app/commands/builds.ts'),
    ]);
    const config = readConfig(environment, { usesSecrets: false });
    terminal.write(`${await makeCurrent(config, build)}\n`);
  });
command('ledger', 'The ledger')
  .command('verify')
  .description('Check every journal and balance; exit code 1 if a check is broken')
  .option('--json', 'Print the checks as JSON')
  .action(async (options: { json?: boolean }) => {
    const { verify } = await import('./app/commands/database.ts');
    const { ledgerChecks: checks } = await import('./app/ledger-invariants.ts');
    await withDatabase(({ db }) => verify({ db, checks, terminal }, options), true);
  });

addApiCommands(program, { project, terminal, connect: async () => connectToApi(project), createAdmin });
// Has no route: it needs every encryption key.
program.commands
  .find((one) => one.name() === 'keys')
  ?.command('reencrypt')
  .description('On a server: encrypt all that is stored by the first of ENCRYPTION_KEYS; it can be repeated')
  .option('--json', 'Print the result as JSON')
  .action(async ({ json = false }: { json?: boolean }) => {
    const { reencryptAll } = await import('./app/commands/database.ts');
    await withDatabase(async (parts) => printData(terminal, await reencryptAll(parts, terminal.note), { json }));
  });

const exitCode = await runProgram(program, process.argv.slice(2), terminal).catch((error: unknown) => {
  terminal.note(describeError(error));
  return 1;
});
// Not left to the event loop: Temporal's client keeps it turning, and a connection that was forgotten would for ever.
process.exit(exitCode);
