import { extname } from 'node:path';

import { Command, CommanderError } from 'commander';

import { AppError } from '../../lib/errors.ts';
import { CommandError, EXIT, readUpload, send } from './api-client.ts';
import { addNouns, type VerbDeps } from './nouns.ts';
import type { Terminal } from './print.ts';

const FOOTER = `
Commands on the API take the operator's key of MESKOT_OPERATOR_KEY and the address of the operators' listener
of MESKOT_URL; without these, those of "npm start" in this folder, and in the container of an API its own address.
(EAT) is the time of Addis Ababa, UTC+3.

Exit codes: 0 done, 1 failed or refused by the state of the resource, 2 wrong usage or not confirmed,
3 not allowed, 4 not found, 5 the API or the database does not answer.`;

/** The program without its commands. Its output goes to the terminal, and it never exits by itself. */
export function createProgram({ write, note }: Terminal): Command {
  const program = new Command('meskot').description('Merchant checkout for Ethiopia').addHelpText('after', FOOTER);
  program.exitOverride().showHelpAfterError('Add --help for the options and an example.');
  return program.configureOutput({ writeOut: write, writeErr: (text) => note(text.trimEnd()) });
}

/** Adds the commands on the API: those of its routes, and `meskot request` for what has no verb of its own. */
export function addApiCommands(program: Command, deps: VerbDeps): void {
  program.commandsGroup('On the API, as an operator:');
  addNouns(program, deps);
  addRequest(program, deps);
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.jpg': 'image/jpeg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
};

type RequestOptions = { file?: string; idempotencyKey?: string };

function addRequest(program: Command, { terminal, connect }: VerbDeps): void {
  program
    .command('request')
    .description('Send any request of the API; /docs lists them')
    .argument('<method>', 'Such as GET')
    .argument('<path>', 'Such as /api/ops/queue?kind=KYC')
    .argument('[body]', 'JSON')
    .option('--file <file>', `A file in place of the body (${Object.keys(CONTENT_TYPES).join(', ')})`)
    .option('--idempotency-key <key>', 'Repeats an earlier request, made once')
    .addHelpText('after', `\nExample:\n  meskot request POST /api/ops/merchants '{"name": "Coffee"}'`)
    .action(async (...[method, path, body, options]: [string, string, string | undefined, RequestOptions]) => {
      if (!path.startsWith('/api/')) throw new CommandError(EXIT.usage, `The path must begin with /api/: ${path}`);
      const { file, idempotencyKey } = options;
      const contentType = CONTENT_TYPES[extname(file ?? '').toLowerCase()] ?? 'application/octet-stream';
      const response = await send(await connect(), {
        method: method.toUpperCase(),
        path,
        fields: parseBody(body),
        idempotencyKey,
        next: { help: 'meskot request --help' },
        ...(file !== undefined && { file: await readUpload(file, contentType) }),
      });
      terminal.write('file' in response ? response.file : `${JSON.stringify(response.data, null, 2)}\n`);
    });
}

function parseBody(text = '{}'): object {
  try {
    return JSON.parse(text) as object;
  } catch {
    throw new CommandError(EXIT.usage, `The body must be JSON, such as '{"reason": "Fraud"}'.`);
  }
}

/** Runs the command of these arguments; without a verb it prints the help. Returns the exit code. */
export async function runProgram(program: Command, args: readonly string[], { note }: Terminal): Promise<number> {
  for (const one of [program, ...program.commands]) one.helpCommand(false);
  const named = program.commands.find((one) => one.name() === args[0]);
  const isIncomplete = args.length === 0 || (args.length === 1 && named !== undefined && named.commands.length > 0);
  try {
    await program.parseAsync(isIncomplete ? [...args, '--help'] : args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT.usage;
    if (error instanceof CommandError) {
      if (error.message !== '') note(error.message);
      return error.exitCode;
    }
    if (!(error instanceof AppError)) throw error;
    note(error.message);
    return error.code === 'VALIDATION_ERROR' ? EXIT.usage : EXIT.failed;
  }
}
