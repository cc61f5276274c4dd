import type { Readable } from 'node:stream';

import type { z } from 'zod';

import type { ErrorCode } from '../lib/errors.ts';
import type { Environment } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { UploadRule } from './body.ts';
import type { MemberRole, MerchantAction, PersonCaller, PersonPermission } from './people.ts';

/** The permissions of keys. Secret keys have all; restricted keys have those they list. */
export const SCOPES = [
  'transactions:read',
  'checkout:read',
  'checkout:write',
  'webhooks:read',
  'webhooks:write',
  'channels:read',
  'channels:write',
  'balance:read',
  'withdrawals:read',
  'withdrawals:write',
  'refunds:read',
  'refunds:write',
  'reports:read',
  'reports:write',
  'settlements:read',
  'settlements:write',
  'bank:write',
  'kyc:write',
  'requests:read',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes of a live key before its merchant is verified: those of the verification itself. */
export const SCOPES_BEFORE_VERIFICATION: readonly Scope[] = ['kyc:write', 'bank:write'];

/** Roles of operators: every role reads; support and finance decide in their areas; admins decide everything. */
export const OPERATOR_ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/**
 * A merchant's key, which determines merchant and environment; a person signed in at the portal, in the merchant of the
 * session and the environment of the header; or a customer's token, for one session.
 */
export type MerchantCaller =
  | { kind: 'key'; merchantId: string; environment: Environment; keyId: string; scopes: readonly Scope[] }
  | {
      kind: 'user';
      merchantId: string;
      environment: Environment;
      userId: string;
      sessionId: string;
      role: MemberRole;
      scopes: readonly Scope[];
      permissions: readonly PersonPermission[];
    }
  | { kind: 'client'; merchantId: string; environment: Environment; sessionId: string };

export type KeyCaller = Extract<MerchantCaller, { kind: 'key' }>;
export type UserCaller = Extract<MerchantCaller, { kind: 'user' }>;

/** A member of the platform's staff, by key or signed in at the console: of no merchant, and in both environments. */
export type OperatorCaller = { kind: 'operator'; operatorId: string; role: OperatorRole } & OperatorCredential;
type OperatorCredential = { keyId: string } | { userId: string; sessionId: string };

export type Caller = MerchantCaller | PersonCaller | OperatorCaller;

/** Who has made a change, for its row: key_…, usr_… or opr_…. */
export function actorOf(caller: KeyCaller | UserCaller | OperatorCaller): string {
  if (caller.kind === 'key') return caller.keyId;
  return caller.kind === 'user' ? caller.userId : caller.operatorId;
}

/** Whether a caller may do what only some roles of people may; other callers are not restricted by it. */
export function hasPermission(caller: Caller, permission: PersonPermission): boolean {
  return caller.kind !== 'user' || caller.permissions.includes(permission);
}

/** `meskot <noun> <verb>` for a route; the fields of its query or body are the options. */
export type CliCommand = {
  /** `withdrawals approve`; `work list --stalled` is that option of `work list`. */
  name: string;
  /** In place of the route's. */
  summary?: string;
  /** In place of all fields; `!` ends a required one. */
  options?: readonly string[];
  /** Fields that the command sets, unless an option does. */
  body?: Readonly<Record<string, string | boolean>>;
  /** The field that is given without the name of an option. */
  argument?: string;
  /** Whether the body is read from a JSON file, so that no secret is on the command line. */
  bodyFile?: true;
  /** Asks for confirmation. With the path of a resource, which is read first: its environment must be `--environment`. */
  confirm?: true | `/api/${string}`;
  /** The columns of a list, separated by spaces. */
  columns?: string;
  /** Whether a list has both environments unless `--environment` is given; otherwise it has the sandbox's rows. */
  bothEnvironments?: true;
};

/** `pagination` of every list. */
export type Pagination = { total: number; page: number; limit: number; totalPages: number; nextCursor: string | null };

/** The result of a handler. The pipeline validates `data` against the route's schema and wraps it in the envelope. */
export type RouteResult<Data> = {
  /** One of the statuses the route declares; 200 unless given. */
  status?: number;
  message: string;
  data: Data;
  pagination?: Pagination;
  /** The details of the row that a route with `audit` adds to the merchant's audit log; null: nothing has changed. */
  audit?: AuditedFields | null;
};

/** What a change was about. Never a secret, and nothing that a role with `audit:read` must not see. */
export type AuditedFields = {
  /** The id in the path unless given. */
  resourceId?: string;
  /** null: the change is of both environments. */
  environment?: null;
  /** The fields that differ. */
  before?: Readonly<Record<string, unknown>>;
  after?: Readonly<Record<string, unknown>>;
};

/** `data` already as JSON text, sent without validation. Tests compare it with its schema. */
export type RawResponse = Omit<RouteResult<never>, 'data'> & { dataJson: string };

/** A file in place of an envelope. `name`: letters, digits, dots and dashes. `isFramed`: a PDF for a frame, not to be saved. */
export type FileResponse = {
  file: {
    name: string;
    contentType: string;
    /** Of a stored file, with the digest in hex; one that is generated while it is sent has neither. */
    stored?: { bytes: number; sha256: string };
    isFramed?: boolean;
    open: () => Promise<Readable>;
  };
};

/** What a handler returns. `events`: server-sent events. */
export type AnyResult = RouteResult<unknown> | RawResponse | FileResponse | { events: Readable };

/**
 * The permitted callers: a merchant's key, or a person whose role has the scope, or the `permission` where one is given;
 * that or the session's own token; a person of the merchant with the permission; a person signed in; an operator;
 * the public. `tokenInBody`: the handler checks a token, and its 401 counts as failed authentication.
 */
export type RouteAuth =
  | { by: 'key'; scope: Scope; permission?: PersonPermission }
  | { by: 'key-or-client-token'; scope: Scope }
  | { by: 'member'; permission: PersonPermission | Scope }
  | { by: 'person' }
  | { by: 'operator'; roles: readonly OperatorRole[] }
  | { by: 'public'; tokenInBody?: true };

type CallerOf<Auth extends RouteAuth> = {
  key: KeyCaller | UserCaller;
  'key-or-client-token': MerchantCaller;
  member: UserCaller;
  person: PersonCaller;
  operator: OperatorCaller;
  public: null;
}[Auth['by']];

export type RouteInput<Auth extends RouteAuth, Params, Query, Body> = {
  requestId: string;
  /** IP address of the caller. */
  address: string;
  /** Aborts when the caller has hung up, or when the process drains and handlers should respond at once. */
  signal: () => AbortSignal;
  /** The time, by the database's clock, at which its handler started. */
  at: Date;
  caller: CallerOf<Auth>;
  params: Params;
  query: Query;
  body: Body;
};

type RouteBase<Auth extends RouteAuth, P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = {
  path: string;
  operationId: string;
  cli?: string | CliCommand | readonly CliCommand[] | undefined;
  /** Its heading in the docs. */
  tag:
    | 'Checkout'
    | 'Checkout hooks'
    | 'Transactions'
    | 'Channels'
    | 'Calendar'
    | 'Balance'
    | 'Withdrawals'
    | 'Refunds'
    | 'Reports'
    | 'Settlements'
    | 'KYC'
    | 'Webhooks'
    | 'Webhook subscriptions'
    | 'Requests'
    | 'Operators'
    | 'Invitations'
    | 'Portal'
    | 'System';
  summary: string;
  description?: string;
  auth: Auth;
  /** Where people have to enter a code of their authenticator app, unless they have in the last 5 minutes; keys do not. */
  stepUp?: 'live' | 'always';
  /**
   * `list`: the lower rate of lists and reports, which paginated routes have anyway; `burst`: the default rate over a
   * longer window; `none`: health checks.
   */
  rateLimit?: 'default' | 'list' | 'burst' | 'none';
  /** Strict objects: an unknown field or query parameter is an error that names it. */
  params?: P;
  query?: Q;
  body?: B;
  /** For a file in place of JSON: `body` is then UploadedFile. */
  upload?: UploadRule;
  /** The schema of `data` by status; z.null() where there is none. */
  responses: Readonly<Record<number, z.ZodType>>;
  /** The content types of a route whose 200 is a file or a stream. */
  fileTypes?: readonly string[];
  /** Error codes of its operation, for the docs; openapi.ts adds those that follow from the rest. */
  errors?: readonly ErrorCode[];
  /** Whether the success envelope carries `pagination`. */
  paginated?: boolean;
};

/** A route that changes nothing, or whose operation manages its own transactions (checks with a provider). */
export type ReadRoute<
  Auth extends RouteAuth,
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
> = RouteBase<Auth, P, Q, B> & {
  method: 'GET' | 'POST';
  handle: (input: RouteInput<Auth, z.output<P>, z.output<Q>, z.output<B>>) => Promise<AnyResult>;
};

/**
 * A route that changes something. The pipeline opens its one transaction, honours `Idempotency-Key` and stores the
 * response in the same transaction.
 */
export type WriteRoute<
  Auth extends RouteAuth,
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
> = RouteBase<Auth, P, Q, B> & {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  write: true;
  /**
   * What its change locks, of the calling merchant in one environment: requests to such routes run one after the other,
   * and wait for their turn before they take a database connection.
   */
  serialize?: 'merchantBalance';
  /** What the merchant's audit log calls the change: its row is written in the same transaction. */
  audit?: MerchantAction;
  handle: (
    input: RouteInput<Auth, z.output<P>, z.output<Q>, z.output<B>> & { tx: UnitOfWork },
  ) => Promise<RouteResult<unknown>>;
  /** Runs outside the transaction; may add a provider's response to the result. A stored response is updated. */
  afterCommit?: (
    response: RouteResult<unknown>,
    input: Omit<RouteInput<Auth, z.output<P>, z.output<Q>, z.output<B>>, 'at'>,
  ) => Promise<RouteResult<unknown>>;
};

/** A route of the table, of any types. */
export type Route =
  | ReadRoute<RouteAuth, z.ZodType, z.ZodType, z.ZodType>
  | WriteRoute<RouteAuth, z.ZodType, z.ZodType, z.ZodType>;

/** Method and path in Koa's style: `GET /api/checkout/sessions/:sessionId`. */
export type Endpoint<Method extends string = Route['method']> = `${Method} /${string}`;

function methodAndPath(endpoint: Endpoint) {
  const [method, path] = endpoint.split(' ');
  return { method, path };
}

/** Declares a route whose handler reads, or manages its own transactions. */
export function readRoute<Auth extends RouteAuth, P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  endpoint: Endpoint<ReadRoute<Auth, P, Q, B>['method']>,
  route: Omit<ReadRoute<Auth, P, Q, B>, 'method' | 'path'>,
): Route {
  return { ...route, ...methodAndPath(endpoint) } as unknown as Route;
}

/** Declares a route whose handler runs inside one transaction. */
export function writeRoute<Auth extends RouteAuth, P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  endpoint: Endpoint,
  route: Omit<WriteRoute<Auth, P, Q, B>, 'method' | 'path' | 'write'>,
): Route {
  return { ...route, ...methodAndPath(endpoint), write: true } as unknown as Route;
}
