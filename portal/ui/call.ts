import type { IssueParams } from '../../src/lib/issues.ts';
import { stringifySearch } from './search-params.ts';
import { onSessionEnded } from './session.ts';
import { askForCode } from './step-up.ts';

/** The routes that a web page calls: the data of their success, by endpoint. */
export type RouteTable = Record<`${string} /${string}`, unknown>;

type ParameterOf<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

/** What a call sends. Query parameters without a value are left out. */
export type CallInput<Endpoint> = {
  query?: Readonly<Record<string, string | number | undefined>>;
  /** JSON, or a file that is the body itself. */
  body?: unknown;
  /** Of a call that changes something: the same key for the same wish, so that a repeated call changes nothing more. */
  idempotencyKey?: string;
  signal?: AbortSignal;
} & ([ParameterOf<Endpoint>] extends [never] ? unknown : { params: Readonly<Record<ParameterOf<Endpoint>, string>> });

export type Pagination = { total: number; page: number; limit: number; totalPages: number };
export type CallResult<Data> = { data: Data; message: string; pagination?: Pagination };

/** What is wrong with a field: English words that follow its name, and their code. */
export type FieldIssue = { field: string; issue: string; code: string; params?: IssueParams | undefined };

/** A call that failed: the API's error, or `code` NETWORK without an answer. */
export class CallFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly details: readonly FieldIssue[];
  /** From when on the call may be repeated, in ms; undefined: the API has not said so. */
  readonly retryAt: number | undefined;

  constructor(failure: Pick<CallFailure, 'status' | 'code' | 'requestId' | 'message' | 'details' | 'retryAt'>) {
    super(failure.message);
    this.status = failure.status;
    this.code = failure.code;
    this.requestId = failure.requestId;
    this.details = failure.details;
    this.retryAt = failure.retryAt;
  }

  /** Whether the same call may succeed later. Without an answer, it may have been carried out. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** The address of an endpoint: parameters filled in, with its query. */
export function addressOf(
  endpoint: string,
  { params = {}, query = {} }: { params?: Readonly<Record<string, string>>; query?: CallInput<never>['query'] },
): string {
  const path = endpoint
    .replace(/^\S+ /, '')
    .replaceAll(/:(\w+)/g, (_text, name) => encodeURIComponent(params[name] ?? ''));
  return path + stringifySearch(query);
}

type Envelope = { message?: string; requestId?: string; error?: Partial<Pick<CallFailure, 'code' | 'details'>> } | null;

/** The failure that a response is; null: there was none. */
export function failureOf(response: Response | null, envelope: Envelope): CallFailure {
  const retryAfterSeconds = Number(response?.headers.get('retry-after'));
  return new CallFailure({
    status: response?.status ?? 0,
    code: response === null ? 'NETWORK' : (envelope?.error?.code ?? 'UNEXPECTED'),
    requestId: envelope?.requestId ?? response?.headers.get('x-request-id') ?? null,
    message: envelope?.message ?? '',
    details: envelope?.error?.details ?? [],
    retryAt: retryAfterSeconds > 0 ? Date.now() + retryAfterSeconds * 1_000 : undefined,
  });
}

const ATTENDED_MS = 60_000;

let lastInputAt = Date.now();
for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel']) {
  addEventListener(type, () => (lastInputAt = Date.now()), { capture: true, passive: true });
}

/** Whether the person has used keyboard or pointer within a minute. Else what the page reads is its own refreshing. */
const isAttended = (): boolean => Date.now() - lastInputAt < ATTENDED_MS;

/**
 * The function that calls these routes with the page's cookie and these headers. A call that needs a code of the
 * authenticator app asks for it, and is repeated once it was accepted.
 */
export function createCall<Routes extends RouteTable>(ofEvery: HeadersInit = {}) {
  return async function call<Endpoint extends keyof Routes & string>(
    endpoint: Endpoint,
    input: CallInput<Endpoint>,
  ): Promise<CallResult<Routes[Endpoint]>> {
    const { body, idempotencyKey, signal = null } = input;
    const headers = new Headers(ofEvery);
    if (body !== undefined) headers.set('content-type', body instanceof Blob ? body.type : 'application/json');
    // A page that refreshes itself does not keep an abandoned session open.
    if (!isAttended()) headers.set('x-meskot-unattended', 'true');
    if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
    const method = endpoint.split(' ', 1)[0] ?? 'GET';
    const sent = body instanceof Blob ? body : body === undefined ? null : JSON.stringify(body);
    const response = await fetch(addressOf(endpoint, input), { method, headers, signal, body: sent }).catch((error) => {
      throw signal?.aborted ? error : failureOf(null, null);
    });
    const envelope = await response.json().catch(() => null);
    if (response.ok && envelope !== null) return envelope;
    if (response.status === 401) onSessionEnded();
    const failure = failureOf(response, envelope);
    // The person has switched to another merchant in another tab.
    if (failure.details.some(({ field }) => field === 'X-Meskot-Merchant')) location.reload();
    if (failure.code === 'STEP_UP_REQUIRED' && (await askForCode())) return call(endpoint, input);
    throw failure;
  };
}
