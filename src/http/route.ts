import type { Readable } from 'node:stream';

import type { z } from 'zod';

import type { ErrorCode } from '../lib/errors.ts';
import type { Environment } from '../lib/scope.ts';
import type { UnitOfWork } from '../outbox/record.ts';
import type { UploadRule } from './upload.ts';

/** What a key may be allowed to do. Secret keys have all; restricted keys have those they list. */
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
  'reports:read',
  'reports:write',
  'settlements:read',
  'settlements:write',
  'bank:write',
  'kyc:write',
] as const;
export type Scope = (typeof SCOPES)[number];

/** What a live key may do before its merchant is verified: whatever verification itself takes. */
export const SCOPES_BEFORE_VERIFICATION: readonly Scope[] = ['kyc:write', 'bank:write'];

/**
 * What the platform's own people may do: all of them look; support and finance decide what is theirs; admins decide
 * everything.
 */
export const OPERATOR_ROLES = ['viewer', 'support', 'finance', 'admin'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** A merchant's key, which decides merchant and environment; or a customer's token, which opens one session. */
export type MerchantCaller =
  | { kind: 'key'; merchantId: string; environment: Environment; keyId: string; scopes: readonly Scope[] }
  | { kind: 'client'; merchantId: string; environment: Environment; sessionId: string };

export type KeyCaller = Extract<MerchantCaller, { kind: 'key' }>;

/** One of the platform's own people, by a key of theirs: of no merchant, and in both environments. */
export type OperatorCaller = { kind: 'operator'; operatorId: string; keyId: string; role: OperatorRole };

/** Who a request comes from. */
export type Caller = MerchantCaller | OperatorCaller;

/** `pagination` of every list. */
export type Pagination = { total: number; page: number; limit: number; totalPages: number; nextCursor: string | null };

/** What a handler answers: the guard checks `data` against the route's schema and wraps it in the envelope. */
export type RouteResult<Data> = {
  /** One of the statuses the route declares; 200 unless said. */
  status?: number;
  message: string;
  data: Data;
  pagination?: Pagination;
};

/** `data` already as JSON text, made by PostgreSQL: passed through unparsed. Its schema is held by tests. */
export type RawResponse = Omit<RouteResult<never>, 'data'> & { dataJson: string };

/** A file in place of an envelope. */
export type FileResponse = {
  file: {
    /** Letters, digits, dots and dashes. */
    name: string;
    contentType: string;
    bytes: number;
    /** In hex. */
    sha256: string;
    open: () => Promise<Readable>;
  };
};

/** Who may call: a merchant's key with the scope; the same or the session's own token; an operator; anybody. */
export type RouteAuth =
  | { by: 'key'; scope: Scope }
  | { by: 'key-or-client-token'; scope: Scope }
  | { by: 'operator'; roles: readonly OperatorRole[] }
  | { by: 'nobody' };

export type RequestContext = {
  requestId: string;
  /** Fires when the answer is waited for no longer: the connection is closed, or the process drains and answers at once. */
  signal: () => AbortSignal;
};

type CallerOf<Auth extends RouteAuth> = Auth extends { by: 'key' }
  ? KeyCaller
  : Auth extends { by: 'operator' }
    ? OperatorCaller
    : Auth extends { by: 'nobody' }
      ? null
      : MerchantCaller;

export type RouteInput<Auth extends RouteAuth, Params, Query, Body> = RequestContext & {
  caller: CallerOf<Auth>;
  params: Params;
  query: Query;
  body: Body;
};

type RouteBase<Auth extends RouteAuth, P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = {
  /** Koa style: /api/checkout/sessions/:sessionId */
  path: string;
  operationId: string;
  /** The heading it stands under in the docs. */
  tag:
    | 'Checkout'
    | 'Checkout hooks'
    | 'Transactions'
    | 'Channels'
    | 'Calendar'
    | 'Balance'
    | 'Withdrawals'
    | 'Reports'
    | 'Settlements'
    | 'KYC'
    | 'Webhooks'
    | 'Webhook subscriptions'
    | 'Operators'
    | 'System';
  summary: string;
  description?: string;
  auth: Auth;
  /** Lists and reports have a rate limit of their own; what comes in bursts has the same rate over a longer time; health checks have none. */
  rateLimit?: 'default' | 'list' | 'burst' | 'none';
  /** Strict objects: an unknown field or query parameter is refused by name. */
  params?: P;
  query?: Q;
  body?: B;
  /** It takes a file in place of JSON: `body` is then UploadedFile. */
  upload?: UploadRule;
  /** The schema of `data` by status; z.null() where there is none. */
  responses: Readonly<Record<number, z.ZodType>>;
  /** The content types of a route that answers 200 with a file. */
  fileTypes?: readonly string[];
  /** How its operation may refuse, where that does not follow from the rest (refusals.ts): told in the docs. */
  errors?: readonly ErrorCode[];
  /** Whether the success envelope carries `pagination`. */
  paginated?: boolean;
};

/** A route that changes nothing by itself, or whose operation manages its own changes (checks with a provider). */
export type ReadRoute<
  Auth extends RouteAuth,
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
> = RouteBase<Auth, P, Q, B> & {
  method: 'GET' | 'POST';
  handle: (
    input: RouteInput<Auth, z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<RouteResult<unknown> | RawResponse | FileResponse>;
};

/**
 * A route that changes something: the guard opens the one transaction it happens in, honours `Idempotency-Key`
 * and stores the answer in the same transaction.
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
   * What its change locks until it ends, of the calling merchant in one environment: such routes are answered one after
   * the other, and wait for their turn before they take a database connection.
   */
  serialize?: 'merchantBalance';
  handle: (
    input: RouteInput<Auth, z.output<P>, z.output<Q>, z.output<B>> & { tx: UnitOfWork },
  ) => Promise<RouteResult<unknown>>;
  /** After the commit, outside the transaction: may add to the answer what a provider said. A stored answer is updated with it. */
  finish?: (
    response: RouteResult<unknown>,
    input: RouteInput<Auth, z.output<P>, z.output<Q>, z.output<B>>,
  ) => Promise<RouteResult<unknown>>;
};

/** A route of the table, whatever its types inside. */
export type Route =
  | ReadRoute<RouteAuth, z.ZodType, z.ZodType, z.ZodType>
  | WriteRoute<RouteAuth, z.ZodType, z.ZodType, z.ZodType>;

/** Declares a route whose handler reads, or settles its own changes. */
export function readRoute<Auth extends RouteAuth, P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  route: ReadRoute<Auth, P, Q, B>,
): Route {
  return route as unknown as Route;
}

/** Declares a route whose handler runs inside one transaction. */
export function writeRoute<Auth extends RouteAuth, P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  route: Omit<WriteRoute<Auth, P, Q, B>, 'write'>,
): Route {
  return { ...route, write: true } as unknown as Route;
}
