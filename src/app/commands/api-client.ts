import { randomUUID } from 'node:crypto';
import { isNativeError } from 'node:util/types';

/** What ends a command: printed as it is, with this exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

export const EXIT = { failed: 1, usage: 2, notAllowed: 3, notFound: 4, unreachable: 5 } as const;

export type Connection = { url: string; key: string };

export type ApiRequest = {
  method: string;
  path: string;
  /** The body, or the query of a GET. */
  fields?: object;
  /** Sent in place of a body. */
  file?: { bytes: Uint8Array<ArrayBuffer>; contentType: string };
  idempotencyKey?: string | undefined;
  /** Named in errors. */
  environment?: string | undefined;
  /** The command that shows the resource, or its usage: the next step where the request was wrong. */
  next: { show?: string | undefined; help: string };
};

export type ApiResponse =
  | { message: string; data: unknown; pagination?: { total: number; page: number; totalPages: number } }
  | { file: Uint8Array };

type ErrorBody = {
  message: string;
  error: { code: string; details: { field: string; issue: string }[] };
  requestId: string;
};

const TIMEOUT_MS = 30_000;

/** Sends a request to the API. Throws CommandError, with the next step, for everything but a success. */
export async function send(connection: Connection, request: ApiRequest): Promise<ApiResponse> {
  const { method, path, fields = {}, file } = request;
  const isWrite = method !== 'GET';
  const url = new URL(connection.url + path);
  for (const [name, value] of Object.entries(isWrite ? {} : fields)) url.searchParams.append(name, String(value));
  const idempotencyKey = request.idempotencyKey ?? randomUUID();
  const headers = {
    'x-api-key': connection.key,
    ...(isWrite && { 'content-type': file?.contentType ?? 'application/json' }),
    ...(method === 'POST' && { 'idempotency-key': idempotencyKey }),
  };
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    ...(isWrite && { body: file?.bytes ?? JSON.stringify(fields) }),
  }).catch((error: unknown) => {
    const repeat = method === 'POST' ? ` To repeat it safely, add --idempotency-key ${idempotencyKey}.` : '';
    throw new CommandError(
      EXIT.unreachable,
      `The API at ${connection.url} does not answer (${reasonOf(error)}).${repeat}\n` +
        'Next: start it with "npm start", run the command in the container of an API, or set MESKOT_URL to the ' +
        "operators' listener of one that runs.",
    );
  });
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  if (response.ok && !isJson) return { file: new Uint8Array(await response.arrayBuffer()) };
  const parsed: unknown = isJson ? await response.json() : undefined;
  if (response.ok) return parsed as ApiResponse;
  throw rejection(connection, request, { status: response.status, body: parsed as Partial<ErrorBody> | undefined });
}

/** Undici's error has its reason in `cause`; a name with two addresses, such as localhost, fails once for each. */
export function reasonOf(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.map(reasonOf).join(', ');
  return error.cause === undefined ? error.message : reasonOf(error.cause);
}

/** A file to send. Throws CommandError. */
export async function readUpload(file: string, contentType: string): Promise<NonNullable<ApiRequest['file']>> {
  const { readFile } = await import('node:fs/promises');
  const bytes = await readFile(file).catch((error: Error) => {
    throw new CommandError(EXIT.usage, `The file cannot be read: ${error.message}.`);
  });
  return { bytes: new Uint8Array(bytes), contentType };
}

/** The fields of a JSON file. Throws CommandError, which repeats nothing of the file. */
export async function readBodyFile(file: string): Promise<object> {
  const { bytes } = await readUpload(file, 'application/json');
  try {
    const fields: unknown = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) return fields;
  } catch {
    // The parser's message quotes the file.
  }
  throw new CommandError(EXIT.usage, `The file must be a JSON object: ${file}.`);
}

function rejection(
  { url }: Connection,
  { method, environment, next }: ApiRequest,
  { status, body }: { status: number; body: Partial<ErrorBody> | undefined },
): CommandError {
  const message = body?.message ?? `${url} has answered ${status}: is it the API?`;
  const details = (body?.error?.details ?? []).filter(({ issue }) => !message.includes(issue));
  const about = [
    `${body?.error?.code ?? 'HTTP'} (${status})`,
    ...(environment === undefined ? [] : [`environment ${environment}`]),
    url,
    ...(body?.requestId === undefined ? [] : [`request ${body.requestId}`]),
  ];
  const lines = [message, ...details.map(({ field, issue }) => `  ${field} ${issue}`), about.join(', ')];
  const isElsewhere = status === 404 && message.startsWith(`There is no ${method} /api/ops/`);
  const step = isElsewhere ? ELSEWHERE : nextStep(status, next);
  return new CommandError(exitCodeOf(status), [...lines, `Next: ${step}`].join('\n'));
}

/** The answer of a listener without the operators' routes, to a request that it has no path for. */
const ELSEWHERE =
  "set MESKOT_URL to the operators' listener (CONSOLE_PORT, 4004). This address serves no operators, unless its API has " +
  'OPERATORS_ON_PUBLIC_API=true.';

function exitCodeOf(status: number): number {
  if (status === 400) return EXIT.usage;
  if (status === 401 || status === 403) return EXIT.notAllowed;
  if (status === 404) return EXIT.notFound;
  return status >= 502 && status <= 504 ? EXIT.unreachable : EXIT.failed;
}

function nextStep(status: number, { show, help }: ApiRequest['next']): string {
  if (status === 401) return 'set MESKOT_OPERATOR_KEY to a valid key of an operator.';
  if (status === 403) return 'use the key of an operator with the role; "meskot operators list" shows the roles.';
  if (status === 404) return 'check the id, and that the API is the right one.';
  if (status === 429 || status >= 500) return 'repeat it in a moment; if it persists, report the request id.';
  if (status === 400 || show === undefined) return `"${help}" shows the options.`;
  return `"${show}" shows the current state.`;
}
