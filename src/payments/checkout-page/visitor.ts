import type { Context } from 'koa';

import { CLIENT_TOKEN_COOKIE } from '../../http/auth.ts';
import { requireOwnPage } from '../../http/forms.ts';
import type { Limits } from '../../http/limits.ts';
import type { MerchantCaller } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import { scopeOf } from '../../lib/scope.ts';
import type { SessionKey, TokenAuthenticator } from '../session.ts';

type VisitorDeps = { baseUrl: string; limits: Limits; tokens: TokenAuthenticator };

/** The authenticated browser: the session it may see, and the token it sent. */
export type Visitor = { caller: MerchantCaller; key: SessionKey; token: string };

/** The visitor with the link's token, or the cookie's. Throws NOT_FOUND, and RATE_LIMITED after too many guesses. */
export async function visitorOf({ limits, tokens }: VisitorDeps, ctx: Context, linkToken?: string): Promise<Visitor> {
  const sessionId = String(ctx['params'].sessionId);
  const token = linkToken ?? ctx.cookies.get(CLIENT_TOKEN_COOKIE);
  if (!token) throw notFound('checkout page');
  // A link that was valid once is not a guess.
  const isOurs = () => tokens.isOurToken(sessionId, token);
  await limits.failedAuth.reject(ctx, isOurs);
  const caller = await tokens.authenticateClientToken(sessionId, token);
  if (caller) return { caller, key: { ...scopeOf(caller), sessionId }, token };
  if (!isOurs()) await limits.failedAuth.count(ctx);
  throw notFound('checkout page');
}

/** The visitor who posted one of our own forms. Throws also INSUFFICIENT_SCOPE. */
export async function formVisitor(deps: VisitorDeps, ctx: Context): Promise<Visitor> {
  requireOwnPage(ctx, deps.baseUrl);
  return visitorOf(deps, ctx);
}

/** The first value of a query parameter. */
export function queryOf(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return Array.isArray(value) ? value[0] : value;
}

/** One cookie for the page, one for the calls below /api/checkout/sessions/{id}; no other path gets it. */
export function setTokenCookie(ctx: Context, baseUrl: string, { key, token }: Visitor): void {
  const flags = `HttpOnly; SameSite=Lax${baseUrl.startsWith('https:') ? '; Secure' : ''}`;
  for (const path of [`/checkout/${key.sessionId}`, `/api/checkout/sessions/${key.sessionId}`]) {
    ctx.append('Set-Cookie', `${CLIENT_TOKEN_COOKIE}=${token}; Path=${path}; ${flags}`);
  }
}
