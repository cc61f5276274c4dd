import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { CliCommand } from '../../http/route.ts';
import { type ApiRequest, CommandError, type Connection, EXIT, readBodyFile, readUpload, send } from './api-client.ts';
import { type Terminal, birr, printData } from './print.ts';

type Values = Readonly<Record<string, unknown>>;
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

async function requestOf({ verb, params, file, options, next }: Call): Promise<ApiRequest> {
  const { method, path, fields, body, upload, bodyFile } = verb;
  const given = fields.map(({ name }) => [name, options[name]]).filter(([, value]) => value !== undefined);
  return {
    method,
    path: withParameters(path, params),
    fields: {
      ...body,
      ...(bodyFile && file !== undefined && (await readBodyFile(file))),
      ...Object.fromEntries(given),
    },
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

/** A field of a query or a body, which is an option. */
export type Field = {
  name: string;
  required?: boolean;
  type?: string;
  enum?: string[];
  description?: string;
  example?: string | number;
};

/** A command on the API: one request to its route. */
export type Verb = CliCommand & {
  method: string;
  path: string;
  summary: string;
  description: string;
  fields: Field[];
  /** The content type of a file that is sent in place of a body. */
  upload: string | undefined;
};

type Property = Omit<Field, 'name' | 'required'>;
type Body = { $ref?: string; properties?: Record<string, Property>; required?: string[] };
type Operation = {
  summary: string;
  description: string;
  'x-cli'?: CliCommand[];
  parameters?: { in: string; name: string; required?: boolean; schema: Property }[];
  requestBody?: { content: Record<string, { schema: Body }> };
};
type Document = { paths: Record<string, Record<string, Operation>>; components: { schemas: Record<string, Body> } };

/** Further parameters of lists, beside `page` and `limit`. */
const NO_OPTIONS = ['pageSize', 'cursor'];

/** The commands of all routes, from docs/openapi.json. `project` is the folder of package.json. */
export function readVerbs(project: string): Verb[] {
  const { paths, components } = JSON.parse(readFileSync(join(project, 'docs/openapi.json'), 'utf8')) as Document;
  const verbs: Verb[] = [];
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { 'x-cli': commands = [], summary, description, ...operation }] of Object.entries(operations)) {
      const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(operation.requestBody?.content ?? {});
      const { $ref = '', ...inline } = schema;
      const { properties = {}, required = [] } = components.schemas[$ref.split('/').at(-1) ?? ''] ?? inline;
      const ofQuery = (operation.parameters ?? []).filter((one) => one.in === 'query');
      const fields: Field[] = [
        ...ofQuery.map(({ schema: property, ...one }) => ({ ...property, ...one })),
        ...Object.entries(properties).map(([name, one]) => ({ ...one, name, required: required.includes(name) })),
      ].filter((field) => field.type !== 'boolean' && !NO_OPTIONS.includes(field.name));
      const upload = ['', 'application/json'].includes(type) ? undefined : type;
      const route = { method: method.toUpperCase(), path, upload };
      for (const command of commands) {
        const chosen = command.options?.flatMap((use) =>
          fields
            .filter(({ name }) => name === use.replace('!', ''))
            .map((one) => ({ ...one, required: use.endsWith('!') })),
        );
        verbs.push({ summary, description, ...command, ...route, fields: chosen ?? fields });
      }
    }
  }
  return verbs;
}
