import { CommandError, EXIT, readUpload, send, type ApiRequest, type Connection } from './api-client.ts';
import { birr, printData, type Terminal } from './print.ts';
import type { Verb } from './verbs.ts';

type Values = Readonly<Record<string, unknown>>;
/** A verb as it was called: its path's parameters, the file to send, and the options. */
type Call = {
  verb: Verb;
  params: Readonly<Record<string, string>>;
  file: string | undefined;
  options: Values;
  next: ApiRequest['next'];
};

/** Sends the request of a verb, once it is confirmed, and prints the response. Throws CommandError. */
export async function runVerb(
  call: Call,
  { terminal, connect }: { terminal: Terminal; connect: () => Promise<Connection> },
): Promise<void> {
  const { verb, options } = call;
  const connection = await connect();
  const request = await requestOf(call);
  if (verb.confirm) await confirm(call, await describe(call, { connection, request }), terminal);
  const response = await send(connection, request);
  if ('file' in response) return terminal.write(response.file);
  const { message, data, pagination } = response;
  const json = options['json'] === true;
  const rows = isWorkList(data) && !json ? data.items : data;
  if (request.method !== 'GET') terminal.note(message);
  printData(terminal, rows, { json, columns: verb.columns?.split(' ') });
  if (pagination && pagination.page < pagination.totalPages) {
    terminal.note(`Page ${pagination.page} of ${pagination.totalPages}, ${pagination.total} in all: add --page.`);
  }
  if (!isWorkList(data) || request.environment !== 'sandbox') return;
  // The work queue of the sandbox must not hide that something live needs an operator.
  const fields = { ...request.fields, environment: 'live', page: 1, limit: 1 };
  const live = await send(connection, { ...request, fields });
  const total = 'pagination' in live ? (live.pagination?.total ?? 0) : 0;
  if (total > 0) terminal.note(`This is the sandbox; ${total} more are live: add --environment live.`);
}

type WorkList = { items: unknown[] };
const isWorkList = (data: unknown): data is WorkList => typeof data === 'object' && data !== null && 'items' in data;

/** The request that a verb stands for. */
async function requestOf({ verb, params, file, options, next }: Call): Promise<ApiRequest> {
  const { method, path, fields, body, upload } = verb;
  const given = fields.flatMap((field) => {
    const value = options[field.name];
    return value === undefined ? [] : [[field.name, value]];
  });
  return {
    method,
    path: withParameters(path, params),
    fields: { ...body, ...Object.fromEntries(given) },
    environment: options['environment'] as string | undefined,
    idempotencyKey: options['idempotencyKey'] as string | undefined,
    next,
    ...(file !== undefined && upload !== undefined && { file: await readUpload(file, upload) }),
  };
}

function withParameters(path: string, values: Values): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
}

type Resource = {
  environment?: string;
  amount?: number;
  payments?: { attemptId: string; received: number | null; receivedCurrency: string | null }[];
};

/** What is to be confirmed. Throws CommandError if the resource is in another environment than was named. */
async function describe(
  { verb, params, options }: Call,
  { connection, request }: { connection: Connection; request: ApiRequest },
): Promise<string> {
  const what = `"${[verb.name, ...Object.values(params)].join(' ')}"`;
  if (typeof verb.confirm !== 'string') return what;
  const { environment, next } = request;
  const path = withParameters(verb.confirm, { ...options, ...params });
  const id = Object.values(params).at(-1) ?? path.split('/').at(-1) ?? '';
  const found = await send(connection, { method: 'GET', path, environment, next });
  const data = 'data' in found ? found.data : null;
  // Keys are read as the list of their merchant's.
  const resource = (
    Array.isArray(data) ? data.find((one: { keyId: string }) => one.keyId === id) : data
  ) as Resource | null;
  if (!resource?.environment)
    throw new CommandError(EXIT.notFound, `${id} was not found at ${path}. Nothing was done.`);
  if (resource.environment !== environment) {
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

async function confirm({ options }: Call, what: string, { ask }: Terminal): Promise<void> {
  if (options['yes'] === true) return;
  if (!ask) throw new CommandError(EXIT.usage, `Nothing was done: add --yes to confirm ${what}.`);
  if (!/^y(?:es)?$/i.test((await ask(`Confirm ${what}? [y/N] `)).trim())) {
    throw new CommandError(EXIT.failed, 'Nothing was done.');
  }
}
