#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Config } from './config.ts';
import type { Write } from './lib/command-line.ts';
import type { Database } from './lib/db.ts';
import { closestMatch } from './lib/suggest.ts';

/** What a command is given: the folder of package.json, and the words after the command's name. */
export type CommandInput = { project: string; args: readonly string[] };

type Command = {
  /** One line for the list of commands. */
  about: string;
  /** What --help prints, where there is more to say: it asks for no database. */
  usage?: () => Promise<string>;
  /** Returns the exit code: 0 done, 1 failed, 2 wrongly asked, 5 the database does not answer. */
  run: (input: CommandInput) => Promise<number>;
};

// Each module is loaded only when its command is asked for.
const commands: Readonly<Record<string, Command>> = {
  start: {
    about: 'run everything on this machine, with a PostgreSQL and a Temporal server of its own',
    run: async ({ project }) => (await import('./local/start.ts')).start(project),
  },
  status: {
    about: 'whether it runs here and how to reach it (--json)',
    run: async ({ project, args }) => (await import('./local/status.ts')).status(project, args),
  },
  reset: {
    about: 'wipe what "start" has kept on this machine',
    run: async ({ project }) => (await import('./local/reset.ts')).reset(project),
  },
  api: {
    about: 'serve the API and the checkout page, until told to stop',
    run: async ({ project }) => (await import('./app/run-process.ts')).serveApi(project),
  },
  worker: {
    about: 'run the workflows, send the webhooks and sweep, until told to stop',
    run: async () => (await import('./app/run-process.ts')).serveWorker(),
  },
  simulator: {
    about: "serve the sandbox's providers, until told to stop",
    run: async () => (await import('./app/run-process.ts')).serveSimulator(),
  },
  seed: {
    about: 'make the demo data of "start" in the database of DATABASE_URL',
    run: async ({ project }) =>
      withExitCode(async () => (await import('./local/seed-command.ts')).seed(project, write)),
  },
  merchants: {
    about: 'create and list merchants (merchants --help)',
    usage: async () => (await import('./app/commands/merchants.ts')).MERCHANTS_USAGE,
    run: manageMerchants,
  },
  keys: {
    about: 'create, list, rotate and revoke API keys (keys --help)',
    usage: async () => (await import('./app/commands/keys.ts')).KEYS_USAGE,
    run: manageKeys,
  },
  ops: {
    about: 'decide what waits for a person, keep holidays and operators (ops --help)',
    usage: async () => (await import('./app/commands/ops-commands.ts')).OPS_USAGE,
    run: manageOperations,
  },
  reconcile: {
    about: "have a day compared with the providers' own lists (reconcile --help)",
    usage: async () => (await import('./app/commands/reconciliation.ts')).RECONCILE_USAGE,
    run: reconcile,
  },
  ledger: {
    about: 'check every journal and balance (ledger verify)',
    usage: async () => (await import('./app/commands/ledger.ts')).LEDGER_USAGE,
    run: manageLedger,
  },
  migrate: {
    about: 'bring the schema of the database in DATABASE_URL up to date, and prepare Temporal',
    run: migrateAll,
  },
  bundle: {
    about: 'write the workflows as one script, which workers load by WORKFLOW_BUNDLE_PATH (bundle FILE)',
    run: bundle,
  },
};

const write: Write = (part, to) => void (to === 'aside' ? process.stderr : process.stdout).write(part);

async function main([name = '--help', ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === 'help') {
    write(helpText());
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command?.usage && args.includes('--help')) {
    write(await command.usage());
    return 0;
  }
  if (command) return command.run({ project: projectFolder(), args });
  const guess = closestMatch(name, Object.keys(commands));
  const hint = guess === undefined ? '"meskot --help" lists the commands' : `did you mean "${guess}"?`;
  process.stderr.write(`There is no command "${name}": ${hint}\n`);
  return 2;
}

async function migrateAll({ project }: CommandInput): Promise<number> {
  const [{ readConfig, environment }, { prepare }] = await Promise.all([
    import('./config.ts'),
    import('./app/commands/migrate.ts'),
  ]);
  const warn = (line: string): void => void process.stderr.write(`${line}\n`);
  return withExitCode(async () => {
    await prepare(readConfig(environment, { usesSecrets: false }), {
      project,
      print: (line) => write(`${line}\n`),
      warn,
    });
    return 0;
  });
}

async function bundle({ args: [file] }: CommandInput): Promise<number> {
  if (file === undefined) {
    process.stderr.write('Which file? Usage: meskot bundle FILE\n');
    return 2;
  }
  const [{ bundleWorkflows }, { writeFile }] = await Promise.all([
    import('./temporal/bundle.ts'),
    import('node:fs/promises'),
  ]);
  const warn = (line: string): void => void process.stderr.write(`${line}\n`);
  await writeFile(file, (await bundleWorkflows({ warn })).code);
  return 0;
}

async function manageMerchants(input: CommandInput): Promise<number> {
  const { runMerchants } = await import('./app/commands/merchants-and-keys.ts');
  return withDatabase(input, async (parts) => runMerchants(input.args, { ...parts, write }));
}

async function manageKeys(input: CommandInput): Promise<number> {
  const { runKeys } = await import('./app/commands/merchants-and-keys.ts');
  return withDatabase(input, async (parts) => runKeys(input.args, { ...parts, write }));
}

async function manageOperations(input: CommandInput): Promise<number> {
  const { runOps } = await import('./app/commands/ops.ts');
  return withDatabase(input, async (parts) => runOps(input.args, { ...parts, write }));
}

async function reconcile(input: CommandInput): Promise<number> {
  const { runReconcile } = await import('./app/commands/reconcile.ts');
  return withDatabase(input, async (parts) => runReconcile(input.args, { ...parts, write }));
}

async function manageLedger(input: CommandInput): Promise<number> {
  const [{ runLedgerCommand }, { ledgerChecks }] = await Promise.all([
    import('./app/commands/ledger.ts'),
    import('./app/ledger-invariants.ts'),
  ]);
  const verify: Work = async ({ db }) => runLedgerCommand(input.args, { db, checks: ledgerChecks, write });
  return withDatabase(input, verify, true);
}

type Work = (parts: { db: Database; config: Config }) => Promise<number>;

/** One connection to the database of DATABASE_URL, or else of the local start. */
async function withDatabase({ project }: CommandInput, work: Work, unlimitedStatements = false): Promise<number> {
  const [{ readConfig }, { withLocalServers }, { openDatabase }] = await Promise.all([
    import('./config.ts'),
    import('./local/settings.ts'),
    import('./lib/db.ts'),
  ]);
  const config = readConfig(await withLocalServers(project));
  const db = openDatabase({ url: config.DATABASE_URL, poolMax: 1, applicationName: 'meskot-cli', unlimitedStatements });
  try {
    return await withExitCode(async () => work({ db, config }));
  } finally {
    await db.destroy();
  }
}

/** Runs what needs the database; one that does not answer is told with the next step, exit code 5. */
async function withExitCode(work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const { isDatabaseUnavailable } = await import('./lib/db.ts');
    if (!isDatabaseUnavailable(error)) throw error;
    process.stderr.write(
      `The database does not answer (${reasonOf(error)}). ` +
        'Run "npm start", which brings its own, or set DATABASE_URL to one that runs.\n',
    );
    return 5;
  }
}

/** A name with two addresses, such as localhost, fails once for each. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return error instanceof Error ? error.message : String(error);
}

function helpText(): string {
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}\n`);
  return `Usage: meskot <command>\n\n${lines.join('')}`;
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

/** A sentence for what was foreseen, the whole trace for a bug. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.constructor === Error ? error.message : (error.stack ?? error.message);
}

const exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${describeError(error)}\n`);
  return 1;
});
// Not left to the event loop: Temporal's client keeps it turning, and a connection that was forgotten would for ever.
process.exit(exitCode);
