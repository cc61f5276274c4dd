import { extname } from 'node:path';

import type { Command } from 'commander';

import { CommandError, EXIT, readUpload, send } from './api-client.ts';
import type { VerbDeps } from './nouns.ts';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.jpg': 'image/jpeg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
};

/** Adds `meskot request`: any route of the API, for what has no verb of its own. */
export function addRequest(program: Command, { terminal, connect }: VerbDeps): void {
  const command = program
    .command('request')
    .description('Send any request of the API; /docs lists them')
    .argument('<method>', 'Such as GET')
    .argument('<path>', 'Such as /api/ops/queue?kind=KYC')
    .argument('[body]', 'JSON')
    .option('--file <file>', `A file in place of the body (${Object.keys(CONTENT_TYPES).join(', ')})`)
    .option('--idempotency-key <key>', 'Repeats an earlier request, made once')
    .addHelpText('after', `\nExample:\n  meskot request POST /api/ops/merchants '{"name": "Coffee"}'`);
  command.action(async () => {
    const [method = '', target = '', body] = command.args;
    const { file: name, idempotencyKey } = command.opts<{ file?: string; idempotencyKey?: string }>();
    if (!target.startsWith('/api/')) throw new CommandError(EXIT.usage, `The path must begin with /api/: ${target}`);
    const contentType = CONTENT_TYPES[extname(name ?? '').toLowerCase()] ?? 'application/octet-stream';
    const file = name === undefined ? undefined : await readUpload(name, contentType);
    const response = await send(await connect(), {
      method: method.toUpperCase(),
      path: target,
      body: parseBody(body),
      idempotencyKey,
      next: { help: 'meskot request --help' },
      ...(file && { file }),
    });
    if ('file' in response) terminal.write(response.file);
    else terminal.write(`${JSON.stringify(response.data, null, 2)}\n`);
  });
}

function parseBody(text = '{}'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(EXIT.usage, `The body must be JSON, such as '{"reason": "Fraud"}'.`);
  }
}
