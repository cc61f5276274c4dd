import type { Context } from 'koa';

import { AppError, type ErrorCode } from '../lib/errors.ts';
import type { Limits } from './limits.ts';
import type { Identify } from './pipeline.ts';
import type { Caller, KeyCaller, MerchantCaller, OperatorCaller, OperatorRole, RouteAuth, Scope } from './route.ts';

/**
 * The cookie of the hosted page with the client token of its session. Browsers send it to the page and with the calls
 * below `/api/checkout/sessions/{sessionId}`, but not to the hooks, which take the header x-client-token.
 */
export const CLIENT_TOKEN_COOKIE = 'meskot_checkout';

export type Authenticators = {
  /**
   * Throws INVALID_API_KEY and the other errors of a merchant's or an operator's key. `scope`: the one the route needs,
   * null for an operator's route.
   */
  authenticateKey: (key: string, ip: string, scope: Scope | null) => Promise<KeyCaller | OperatorCaller>;
  /** Whether the key was valid before, so that it does not count as a guess. */
  isKnownKey: (key: string) => boolean;
  /** null when the token is not this session's, or no longer valid. Takes any text. */
  authenticateClientToken: (sessionId: string, token: string) => Promise<MerchantCaller | null>;
  /** Whether the token was issued for this session, so that it does not count as a guess. */
  isOurToken: (sessionId: string, token: string) => boolean;
  limits: Limits;
};

type KeyAuth = Exclude<RouteAuth, { by: 'public' | 'person' | 'member' }>;

/**
 * Identifies callers by key or client token. Throws AUTHENTICATION_REQUIRED, INVALID_API_KEY, INSUFFICIENT_SCOPE and the
 * errors of the authenticators.
 */
export function createKeyIdentification(authenticators: Authenticators): Identify {
  return async (ctx, { auth, operationId }) => {
    if (auth.by === 'public') return null;
    if (auth.by === 'person' || auth.by === 'member') throw new Error(`${operationId} is for people who sign in`);
    return identifyCaller(ctx, auth, authenticators);
  };
}

async function identifyCaller(ctx: Context, auth: KeyAuth, authenticators: Authenticators): Promise<Caller> {
  try {
    const key = presentedKey(ctx);
    const scope = auth.by === 'operator' ? null : auth.scope;
    if (key !== null) {
      await authenticators.limits.failedAuth.reject(ctx, () => authenticators.isKnownKey(key));
      const caller = await authenticators.authenticateKey(key, ctx.ip, scope);
      ensurePermission(caller, auth);
      return caller;
    }
    if (auth.by === 'key-or-client-token') {
      const caller = await callerOfToken(ctx, authenticators);
      if (caller) return caller;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (auth.by === 'operator' && MERCHANT_KEY_ERRORS.has(error.code)) throw operatorKeyRequired();
    if (error.status !== 401) throw error;
    await authenticators.limits.failedAuth.count(ctx);
    ctx.set('WWW-Authenticate', 'Bearer');
    throw error;
  }
  ctx.set('WWW-Authenticate', 'Bearer');
  throw new AppError('AUTHENTICATION_REQUIRED', HOW_TO[auth.by]);
}

const BY_KEY = 'Send your API key in the header x-api-key, or as Authorization: Bearer <key>';
const HOW_TO = {
  key: `${BY_KEY}.`,
  'key-or-client-token': `${BY_KEY}; or the session's client token in x-client-token.`,
  operator: "Send an operator's key in the header x-api-key, or as Authorization: Bearer <key>.",
};

const BEARER_CHARACTERS_MAX = 4_096;
const KEY_LIKE = /^(?:[a-z]{2}_(?:test|live)|ok)_/;
const KEY_BEARER = /^Bearer +(?:[a-z]{2}_(?:test|live)|ok)_/i;

/** The key of a request, null without one. Beside x-api-key, the Bearer token may be of another service. */
function presentedKey(ctx: Context): string | null {
  const { authorization = '', 'x-api-key': header } = ctx.req.headers;
  // A token of another service may be long; a key never is.
  const bearer = authorization.length > BEARER_CHARACTERS_MAX ? '' : /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (header === undefined) return bearer ?? null;
  const apiKey = String(header);
  if (bearer !== undefined && KEY_LIKE.test(bearer) && bearer !== apiKey) {
    throw new AppError('INVALID_API_KEY', 'x-api-key and Authorization carry different keys. Send one of them.');
  }
  return apiKey;
}

/** Whether a request carries a key, valid or not. */
export function carriesKey(ctx: Context): boolean {
  const { authorization = '', 'x-api-key': header } = ctx.req.headers;
  return header !== undefined || KEY_BEARER.test(authorization);
}

/** Throws INSUFFICIENT_SCOPE. A merchant's key is for merchants' routes only, an operator's key for operators' only. */
function ensurePermission(caller: KeyCaller | OperatorCaller, auth: KeyAuth): void {
  if (auth.by === 'operator') {
    if (caller.kind !== 'operator') throw operatorKeyRequired();
    requireRole(caller, auth.roles);
    return;
  }
  if (caller.kind === 'operator') {
    throw new AppError('INSUFFICIENT_SCOPE', "This needs a merchant's key; this key is an operator's.");
  }
  if (caller.scopes.includes(auth.scope)) return;
  const has = caller.scopes.length === 0 ? 'none' : caller.scopes.join(', ');
  throw new AppError('INSUFFICIENT_SCOPE', `This needs a key with the scope ${auth.scope}; this key has ${has}.`);
}

/** Errors that only a merchant's key can cause. */
const MERCHANT_KEY_ERRORS: ReadonlySet<ErrorCode> = new Set(['MERCHANT_SUSPENDED', 'KYC_REQUIRED']);

function operatorKeyRequired(): AppError {
  return new AppError('INSUFFICIENT_SCOPE', "This needs an operator's key; this key is a merchant's.");
}

/** Throws INSUFFICIENT_SCOPE, which names the roles needed. Admins have every role; every operator is a viewer. */
export function requireRole<Who extends { role: OperatorRole }>(who: Who, roles: readonly OperatorRole[]): Who {
  if (who.role === 'admin' || roles.includes('viewer') || roles.includes(who.role)) return who;
  const needed = [...new Set([...roles, 'admin'])].join(' or ');
  throw new AppError('INSUFFICIENT_SCOPE', `This needs an operator with the role ${needed}; this one is ${who.role}.`);
}

async function callerOfToken(ctx: Context, authenticators: Authenticators): Promise<MerchantCaller | null> {
  const token = ctx.get('x-client-token') || cookieToken(ctx);
  const sessionId: unknown = ctx['params']?.sessionId;
  if (!token || typeof sessionId !== 'string') return null;
  await authenticators.limits.failedAuth.reject(ctx, () => authenticators.isOurToken(sessionId, token));
  const caller = await authenticators.authenticateClientToken(sessionId, token);
  if (caller) return caller;
  throw new AppError('AUTHENTICATION_REQUIRED', 'The client token is not valid for this session, or no longer.');
}

/** The token of the cookie, for requests of our own page only: browsers send it with requests of other sites too. */
function cookieToken(ctx: Context): string | undefined {
  const site = ctx.get('sec-fetch-site');
  const origin = ctx.get('origin');
  const isOwnOrigin = origin === '' || (URL.canParse(origin) && new URL(origin).host === ctx.host);
  const isOwnPage = ['', 'same-origin', 'none'].includes(site) && isOwnOrigin;
  return isOwnPage ? ctx.cookies.get(CLIENT_TOKEN_COOKIE) : undefined;
}
