import { Argument, InvalidArgumentError, Option, type Command } from 'commander';

import { ADMINISTRATION_NOUNS } from './administration-nouns.ts';
import { CommandError, EXIT, send, type ApiRequest, type Connection } from './api-client.ts';
import { MONEY_NOUNS } from './money-nouns.ts';
import { birr, printData, type Terminal } from './print.ts';
import { optionOf, PARAMETER_SAMPLES, type Noun, type OptionUse, type Verb } from './verb.ts';

/** Every noun of the API and its verbs. */
export const NOUNS: Readonly<Record<string, Noun>> = { ...MONEY_NOUNS, ...ADMINISTRATION_NOUNS };

/** An admin to create from the server's shell. */
export type NewAdmin = { name: string; email: string; json?: boolean };

export type VerbDeps = {
  terminal: Terminal;
  connect: () => Promise<Connection>;
  /** Creates an admin in the database: the first one, whom no other operator can create. */
  createAdmin: (admin: NewAdmin) => Promise<void>;
};

type Values = Readonly<Record<string, unknown>>;
/** A verb as it was called: its path's parameters, the file to send, and the options. */
type Call = { noun: string; name: string; verb: Verb; params: Record<string, string>; file?: string; options: Values };

/** Adds `meskot <noun> <verb>` for every verb of the API. */
export function addNouns(program: Command, deps: VerbDeps): void {
  for (const [noun, { about, verbs }] of Object.entries(NOUNS)) {
    const parent = program.command(noun).description(about);
    for (const [name, verb] of Object.entries(verbs)) addVerb(parent, { noun, name, verb }, deps);
  }
}

function addVerb(parent: Command, { noun, name, verb }: Pick<Call, 'noun' | 'name' | 'verb'>, deps: VerbDeps): void {
  const names = parametersOf(verb);
  const command = parent.command(name).description(verb.about);
  for (const one of names) command.addArgument(new Argument(`<${one}>`, `Such as ${PARAMETER_SAMPLES[one]}`));
  if (verb.upload !== undefined) command.argument('<file>', `A file (${verb.upload})`);
  for (const use of optionsOf(verb)) command.addOption(toOption(use));
  if (verb.stalled) command.option('--stalled', 'What is stalled instead');
  if (verb.admin) command.addOption(new Option('--admin', verb.admin).implies({ role: 'admin' }));
  if (isConfirmed(verb)) command.option('--yes', 'Do not ask for confirmation');
  if (verb.call.startsWith('POST')) command.option('--idempotency-key <key>', 'Repeats an earlier request, made once');
  command.option('--json', 'Print the data as JSON');
  command.addHelpText('after', `\nExample:\n  ${exampleOf(noun, name, verb)}`);
  command.action(async () => {
    if (command.opts()['admin'] === true) return deps.createAdmin(command.opts<NewAdmin>());
    const params = Object.fromEntries(names.map((one, index) => [one, command.args[index] ?? '']));
    const file = verb.upload === undefined ? undefined : command.args[names.length];
    await runVerb({ noun, name, verb, params, options: command.opts(), ...(file !== undefined && { file }) }, deps);
  });
}

const parametersOf = ({ call }: Verb): string[] => [...call.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

const isConfirmed = ({ confirm, resource }: Verb): boolean => confirm === true || resource !== undefined;

function optionsOf({ options = [], resource }: Verb): readonly OptionUse[] {
  return resource === undefined ? options : ['environment', ...options];
}

function toOption(use: OptionUse): Option {
  const { name, about, sample, type, choices, required, default: defaultOf } = optionOf(use);
  const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const value = choices ? name : sample.replaceAll('"', '');
  const option = new Option(`${flag} <${value}>`, required ? `${about} (required)` : about);
  option.makeOptionMandatory(required);
  if (choices) option.choices(choices);
  if (type === 'integer') option.argParser(wholeNumber);
  if (type === 'amount') option.argParser(amount);
  if (type === 'list') option.argParser((text) => text.split(',').filter((part) => part !== ''));
  return defaultOf ? option.default(defaultOf()) : option;
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

function amount(text: string): number {
  if (/^\d{1,15}(?:\.\d{1,2})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('It must be an amount such as 99.50.');
}

function exampleOf(noun: string, name: string, verb: Verb): string {
  const required = (verb.options ?? []).map(optionOf).filter((option) => option.required);
  const words = [
    ...parametersOf(verb).map((one) => PARAMETER_SAMPLES[one] ?? one),
    ...(verb.upload === undefined ? [] : ['results.csv']),
    ...required.map((option) => `${toOption(`${option.name}!`).long} ${option.sample}`),
    ...(optionsOf(verb).includes('environment') ? ['--environment live'] : []),
  ];
  return ['meskot', noun, name, ...words].join(' ');
}

async function runVerb(call: Call, { terminal, connect }: VerbDeps): Promise<void> {
  const { verb, options } = call;
  const connection = await connect();
  const request = await requestOf(call);
  if (isConfirmed(verb)) await confirm(call, await describe(call, { connection, request }), terminal);
  const response = await send(connection, request);
  if ('file' in response) return terminal.write(response.file);
  const { message, data, pagination } = response;
  const json = options['json'] === true;
  const rows = isWorkList(data) && !json ? data.items : data;
  if (request.method !== 'GET') terminal.note(message);
  printData(terminal, rows, { json, columns: verb.columns });
  if (pagination && pagination.page < pagination.totalPages) {
    terminal.note(`Page ${pagination.page} of ${pagination.totalPages}, ${pagination.total} in all: add --page.`);
  }
  if (isWorkList(data) && request.environment === 'sandbox') await noteLive(request, { terminal, connection });
}

type WorkList = { items: unknown[] };
const isWorkList = (data: unknown): data is WorkList => typeof data === 'object' && data !== null && 'items' in data;

/** The work queue of the sandbox must not hide that something live needs an operator. */
async function noteLive(
  request: ApiRequest,
  { terminal, connection }: { terminal: Terminal; connection: Connection },
): Promise<void> {
  const query = { ...request.query, environment: 'live', page: '1', limit: '1' };
  const response = await send(connection, { ...request, query });
  const total = 'pagination' in response ? (response.pagination?.total ?? 0) : 0;
  if (total > 0) terminal.note(`This is the sandbox; ${total} more are live: add --environment live.`);
}

/** The request that a verb stands for. */
async function requestOf({ noun, name, verb, params, file, options }: Call): Promise<ApiRequest> {
  const [method = '', path = ''] = (options['stalled'] === true ? (verb.stalled ?? '') : verb.call).split(' ');
  const given = (verb.options ?? []).map((use) => optionOf(use).name).filter((one) => options[one] !== undefined);
  const fields = Object.fromEntries(given.map((one) => [one, options[one]]));
  const show = 'get' in (NOUNS[noun]?.verbs ?? {}) ? `meskot ${noun} get ${Object.values(params)[0]}` : undefined;
  return {
    method,
    path: withParameters(path, params),
    environment: options['environment'] as string | undefined,
    idempotencyKey: options['idempotencyKey'] as string | undefined,
    next: { show, help: `meskot ${noun} ${name} --help` },
    ...(method === 'GET'
      ? { query: Object.fromEntries(Object.entries(fields).map(([one, value]) => [one, String(value)])) }
      : { body: { ...verb.body, ...fields } }),
    ...(file !== undefined && { file: await readUpload(file, verb.upload ?? '') }),
  };
}

function withParameters(path: string, params: Readonly<Record<string, string>>): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

/** A file to send. Throws CommandError. */
export async function readUpload(file: string, contentType: string): Promise<NonNullable<ApiRequest['file']>> {
  const { readFile } = await import('node:fs/promises');
  const bytes = await readFile(file).catch((error: Error) => {
    throw new CommandError(EXIT.usage, `The file cannot be read: ${error.message}.`);
  });
  return { bytes: new Uint8Array(bytes), contentType };
}

/** What is to be confirmed. Throws CommandError if the resource is in another environment than was named. */
async function describe(
  { noun, name, verb, params, options }: Call,
  { connection, request }: { connection: Connection; request: ApiRequest },
): Promise<string> {
  const what = `"${[noun, name, ...Object.values(params)].join(' ')}"`;
  if (verb.resource === undefined) return what;
  const { environment: wanted } = options;
  const { environment, next } = request;
  const path = withParameters(verb.resource, { withdrawalId: String(options['withdrawalId']), ...params });
  const id = Object.values(params).at(-1) ?? path.split('/').at(-1) ?? '';
  const found = await send(connection, { method: 'GET', path, environment, ...(next && { next }) });
  const resource = 'data' in found ? resourceIn(found.data, id) : undefined;
  if (resource?.environment === undefined) {
    throw new CommandError(EXIT.notFound, `${id} was not found at ${path}. Nothing was done.`);
  }
  if (resource.environment !== wanted) {
    const hint = `${id} is ${resource.environment === 'live' ? 'live' : 'in the sandbox'}`;
    throw new CommandError(EXIT.usage, `${hint}: add --environment ${resource.environment}. Nothing was done.`);
  }
  return `${what} (${[resource.environment, sumOf(resource, options['attemptId'])].filter(Boolean).join(', ')})`;
}

/** What is decided about: the received money of the named attempt, or the amount of the resource. */
function sumOf({ amount: ofResource, payments }: Resource, attemptId: unknown): string | undefined {
  const held = payments?.find((payment) => payment.attemptId === attemptId);
  if (held) return held.received === null ? 'nothing received' : `${birr(held.received)} ${held.receivedCurrency}`;
  return ofResource === undefined ? undefined : `${birr(ofResource)} ETB`;
}

type Resource = {
  environment?: string;
  amount?: number;
  payments?: { attemptId: string; received: number | null; receivedCurrency: string | null }[];
};

/** A resource by itself, or the one with this key in a list. */
function resourceIn(data: unknown, id: string): Resource | undefined {
  if (!Array.isArray(data)) return data as Resource;
  return (data as { keyId: string; environment: string }[]).find(({ keyId }) => keyId === id);
}

async function confirm({ options }: Call, what: string, { ask }: Terminal): Promise<void> {
  if (options['yes'] === true) return;
  if (!ask) throw new CommandError(EXIT.usage, `Nothing was done: add --yes to confirm ${what}.`);
  if (!/^y(?:es)?$/i.test((await ask(`Confirm ${what}? [y/N] `)).trim())) {
    throw new CommandError(EXIT.failed, 'Nothing was done.');
  }
}
