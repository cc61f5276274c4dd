import type { Context } from 'koa';

import { carriesKey, requireRole } from '../../http/auth.ts';
import { isFromOwnPage } from '../../http/forms.ts';
import type { PersonCaller } from '../../http/people.ts';
import type { Identify } from '../../http/pipeline.ts';
import {
  SCOPES,
  SCOPES_BEFORE_VERIFICATION,
  type OperatorCaller,
  type Route,
  type Scope,
  type UserCaller,
} from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { AppError, invalid } from '../../lib/errors.ts';
import type { Environment } from '../../lib/scope.ts';
import { liveRequirementError, type LiveRequirements } from '../authenticate.ts';
import { ROLES, rolesWith, TWO_FACTOR_ROLES, type AnyPermission } from './roles.ts';
import { useSession, type Audience, type Session } from './sessions.ts';

/** How long an entered code counts, for what needs one. */
const STEP_UP_MS = 5 * 60_000;

/** Until when no other code is needed; null: a code is needed. */
export function stepUpUntil({ stepUpAt }: Pick<Session, 'stepUpAt'>, at: Date): Date | null {
  const until = stepUpAt && new Date(stepUpAt.getTime() + STEP_UP_MS);
  return until && until > at ? until : null;
}

/** A listener for people; `url` without a slash at its end. Its cookie is valid at no other one. */
export type Site = { audience: Audience; url: string };

/** The name of a site's cookie. `__Host-`: browsers take it with Secure, without Domain and for all paths only. */
export function sessionCookie({ audience, url }: Site): string {
  return `${url.startsWith('https:') ? '__Host-' : ''}meskot_${audience}`;
}

type Deps = { db: Database; clock: Clock; site: Site };

/** The session of a request's cookie; null without a valid one. A page that refreshes itself does not prolong it. */
export async function sessionOf({ db, clock, site }: Deps, ctx: Context): Promise<Session | null> {
  const token = ctx.cookies.get(sessionCookie(site));
  const isAttended = ctx.get('x-meskot-unattended') === '';
  return token ? useSession(db, { token, audience: site.audience, isAttended }, clock()) : null;
}

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/** Throws INSUFFICIENT_SCOPE for a change that another site has asked for, AUTHENTICATION_REQUIRED without a session. */
async function requireSession(deps: Deps, ctx: Context): Promise<Session> {
  if (!SAFE_METHODS.has(ctx.method) && !isFromOwnPage(ctx, deps.site.url)) {
    throw new AppError('INSUFFICIENT_SCOPE', 'The request was sent from another site.');
  }
  const session = await sessionOf(deps, ctx);
  if (!session) throw new AppError('AUTHENTICATION_REQUIRED', 'You are not signed in, or no longer. Sign in.');
  return session;
}

/**
 * Identifies people by the cookie of the portal or the console; keys and tokens are not read. Two factors are a condition
 * of a session of the console. Throws AUTHENTICATION_REQUIRED, INSUFFICIENT_SCOPE (also for requests of other sites),
 * VALIDATION_ERROR without an environment, MERCHANT_SUSPENDED, KYC_REQUIRED, TWO_FACTOR_REQUIRED, STEP_UP_REQUIRED.
 */
export function createSessionIdentification(deps: Deps): Identify {
  return async (ctx, route) => {
    if (route.auth.by === 'public') return null;
    const session = await requireSession(deps, ctx);
    const now = deps.clock();
    const caller = callerOf(session, { ctx, route, now });
    const isExempt = route.stepUp === 'live' && caller.kind === 'user' && caller.environment === 'sandbox';
    if (route.stepUp && !isExempt) requireStepUp(session, now);
    return caller;
  };
}

/**
 * Identifies operators at the console's listener: by their key where a request carries one, even if it is wrong, or has no
 * cookie; the cookie is not read then. Otherwise by the cookie. A Bearer token that is no key, as a proxy with a login of its
 * own adds it, does not stand in the way of the cookie. Throws the errors of both.
 */
export function createOperatorIdentification(deps: Deps, identifyByKey: Identify): Identify {
  const identifyBySession = createSessionIdentification(deps);
  const cookie = sessionCookie(deps.site);
  return async (ctx, route) => {
    const usesKey = route.auth.by === 'operator' && (carriesKey(ctx) || !ctx.cookies.get(cookie));
    return (usesKey ? identifyByKey : identifyBySession)(ctx, route);
  };
}

function callerOf(
  session: Session,
  { ctx, route, now }: { ctx: Context; route: Route; now: Date },
): PersonCaller | UserCaller | OperatorCaller {
  const { auth, operationId } = route;
  const { id: sessionId, userId, audience, merchantId, operatorId, operatorRole: role } = session;
  // The merchant of a person who is no member, or no longer, is nobody's.
  if (auth.by === 'person')
    return { kind: 'person', userId, sessionId, audience, merchantId: session.role && merchantId };
  if (auth.by === 'operator' && operatorId !== null && role !== null) {
    return requireRole({ kind: 'operator', operatorId, role, userId, sessionId } as const, auth.roles);
  }
  if (auth.by === 'operator' || auth.by === 'public')
    throw new Error(`${operationId} is not served at the ${audience}`);
  ensureShownMerchant(session, ctx);
  const caller = userCaller(session, readEnvironment(ctx));
  ensurePermission(caller, permissionOf(auth));
  const scope = auth.by === 'member' ? SCOPES.find((one) => one === auth.permission) : auth.scope;
  const error = scope && caller.environment === 'live' ? whyNotLive(session, scope, now) : null;
  if (error) throw error;
  return caller;
}

const permissionOf = (auth: Extract<Route['auth'], { scope: unknown } | { by: 'member' }>): AnyPermission =>
  auth.by !== 'key-or-client-token' && auth.permission !== undefined ? auth.permission : auth.scope;

/** Throws VALIDATION_ERROR for a page of another merchant than the one that its session has switched to since. */
function ensureShownMerchant({ merchantId }: Session, ctx: Context): void {
  const shown = ctx.get('X-Meskot-Merchant');
  if (shown === '' || shown === merchantId) return;
  throw invalid('X-Meskot-Merchant', 'is not the merchant that you have switched to: reload the page');
}

function readEnvironment(ctx: Context): Environment {
  const value = ctx.get('x-meskot-environment');
  if (value === 'sandbox' || value === 'live') return value;
  const got = value === '' ? 'none' : JSON.stringify(value.slice(0, 40));
  const issue = `must be sandbox or live, got ${got}`;
  throw invalid('X-Meskot-Environment', { issue, code: 'not_an_option', params: { allowed: 'sandbox, live' } });
}

function userCaller({ id, userId, merchantId, merchantStatus, role }: Session, environment: Environment): UserCaller {
  if (merchantId === null || role === null) {
    throw new AppError('INSUFFICIENT_SCOPE', 'You are a member of no merchant, or no longer. Ask for an invitation.');
  }
  if (merchantStatus !== 'ACTIVE') {
    throw new AppError('MERCHANT_SUSPENDED', 'This merchant is suspended. Contact support.');
  }
  return { kind: 'user', merchantId, environment, userId, sessionId: id, role, ...ROLES[role] };
}

/** Throws INSUFFICIENT_SCOPE, which names the roles that may. */
export function ensurePermission({ role, scopes, permissions }: UserCaller, permission: AnyPermission): void {
  if ([...scopes, ...permissions].includes(permission)) return;
  const others = rolesWith(permission).join(' or ');
  throw new AppError(
    'INSUFFICIENT_SCOPE',
    `This needs ${permission}; your role is ${role}. Ask somebody who is ${others}.`,
  );
}

type LiveAccess = LiveRequirements & Pick<Session, 'role' | 'totpEnabledAt' | 'liveUntil'>;

/**
 * Why a session may not use live: as for live keys it needs a verified merchant; and of the person recent use and, in some
 * roles, two factors. null: it may.
 */
export function whyNotLive(session: LiveAccess, scope: Scope, now: Date): AppError | null {
  const error = SCOPES_BEFORE_VERIFICATION.includes(scope) ? null : liveRequirementError(session, 'Live works');
  if (error) return error;
  const { role, totpEnabledAt, liveUntil } = session;
  if (role && TWO_FACTOR_ROLES.includes(role) && totpEnabledAt === null) return twoFactorRequired();
  if (liveUntil > now) return null;
  return new AppError('AUTHENTICATION_REQUIRED', 'You have not used live for 30 minutes. Sign in again.');
}

const twoFactorRequired = (): AppError =>
  new AppError('TWO_FACTOR_REQUIRED', 'This needs two-factor authentication. Turn it on under Security.');

function requireStepUp(session: Session, now: Date): void {
  if (session.totpEnabledAt === null) throw twoFactorRequired();
  if (stepUpUntil(session, now)) return;
  throw new AppError(
    'STEP_UP_REQUIRED',
    'Enter a code of your authenticator app, or use a passkey. Either counts for 5 minutes.',
  );
}
