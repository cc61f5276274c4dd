import { readRoute, writeRoute, type RouteResult, type Route } from '../http/route.ts';
import { AppError } from '../lib/errors.ts';
import { toSantim } from '../lib/money.ts';
import type { FindProvider } from '../providers/provider.ts';
import { createSession } from './create-session.ts';
import { waitForFinal, reportOutcome, hookMessage, presentHook, type ReportedOutcome, type HookDeps } from './hooks.ts';
import { awaitProviderResult, startPayment, type Payment } from './pay.ts';
import * as schema from './session-schema.ts';
import { findSession, presentSession, readSession, sessionKey, type Session } from './session.ts';
import { HELD_MESSAGE, isHeld } from './states.ts';
import { createSessionWaits } from './waits.ts';

export type CheckoutDeps = HookDeps & { findProvider: FindProvider; baseUrl: string; pepper: string };

/** Sessions: create, read, expire, pay; and the contract's four hooks. */
export function checkoutRoutes(deps: CheckoutDeps): Route[] {
  return [
    createRoute(deps),
    getRoute(deps),
    expireRoute(deps),
    payRoute(deps),
    ...(['success', 'error', 'cancel'] as const).map((claim) => hookRoute(deps, claim)),
    statusRoute(deps),
  ];
}

function createRoute(deps: CheckoutDeps): Route {
  return writeRoute('POST /api/checkout/sessions', {
    operationId: 'createSession',
    tag: 'Checkout',
    summary: 'Create a checkout session',
    auth: { by: 'key', scope: 'checkout:write' },
    body: schema.NewSession,
    responses: { 201: schema.CreatedSession },
    errors: [
      'CHANNEL_DISABLED',
      'CHANNEL_NOT_AVAILABLE',
      'DUPLICATE_REFERENCE',
      'AMOUNT_BELOW_MINIMUM',
      'AMOUNT_ABOVE_MAXIMUM',
    ],
    handle: async ({ caller, tx, body }) => {
      const wanted = { ...body, currency: 'ETB' as const, amountSantim: toSantim(body.amount) };
      const data = await createSession({ ...deps, tx }, caller, wanted);
      return { status: 201, message: 'Session created', data };
    },
  });
}

function getRoute(deps: CheckoutDeps): Route {
  return readRoute('GET /api/checkout/sessions/:sessionId', {
    operationId: 'getSession',
    tag: 'Checkout',
    summary: 'One checkout session',
    auth: { by: 'key', scope: 'checkout:read' },
    params: schema.SessionParams,
    responses: { 200: schema.Session },
    handle: async ({ caller, params }) => {
      const session = await readSession(deps, sessionKey(caller, params.sessionId));
      return { message: 'Session retrieved', data: presentSession(session, { ...deps, scopes: caller.scopes }) };
    },
  });
}

function expireRoute(deps: CheckoutDeps): Route {
  return readRoute('POST /api/checkout/sessions/:sessionId/expire', {
    operationId: 'expireSession',
    tag: 'Checkout',
    summary: 'Expire a session now',
    description:
      'With a payment in flight the provider is queried first, and a paid session is not expired. Idempotent.',
    auth: { by: 'key', scope: 'checkout:write' },
    params: schema.SessionParams,
    responses: { 200: schema.Session },
    errors: ['INVALID_STATE'],
    handle: async ({ caller, params }) => {
      const key = sessionKey(caller, params.sessionId);
      await findSession(deps.db, key);
      const status = await deps.endUnpaid(params.sessionId, 'EXPIRED');
      const session = await findSession(deps.db, key);
      if (status !== 'EXPIRED') throw new AppError('INVALID_STATE', whyNotExpired(session));
      return { message: 'Session expired', data: presentSession(session, { ...deps, scopes: caller.scopes }) };
    },
  });
}

function whyNotExpired(session: Session): string {
  if (isHeld(session)) return `The session cannot be expired. ${HELD_MESSAGE}`;
  if (session.status !== 'PROCESSING') return `The session is ${session.status} and cannot be expired.`;
  return 'The session cannot be expired: the provider has not reported its payment as unpaid yet. Repeat the request in a moment.';
}

function payRoute(deps: CheckoutDeps): Route {
  return writeRoute('POST /api/checkout/sessions/:sessionId/pay', {
    operationId: 'paySession',
    tag: 'Checkout',
    summary: 'Start a payment attempt on one channel',
    auth: { by: 'key-or-client-token', scope: 'checkout:write' },
    params: schema.SessionParams,
    body: schema.NewPayment,
    responses: { 202: schema.Payment },
    errors: [
      'INVALID_STATE',
      'CHANNEL_DISABLED',
      'CHANNEL_NOT_AVAILABLE',
      'AMOUNT_BELOW_MINIMUM',
      'AMOUNT_ABOVE_MAXIMUM',
    ],
    handle: async ({ caller, tx, params, body }) => {
      const data = await startPayment({ ...deps, tx }, sessionKey(caller, params.sessionId), body);
      return { status: 202, message: 'Payment started', data };
    },
    afterCommit: async (response) => {
      const { data, ...rest } = response as RouteResult<Payment>;
      return { ...rest, data: await awaitProviderResult(deps.checkAttempt, data) };
    },
  });
}

function hookRoute(deps: CheckoutDeps, claim: ReportedOutcome): Route {
  return readRoute(`POST /api/checkout/hooks/${claim}/:sessionId`, {
    operationId: `claim${claim[0]?.toUpperCase()}${claim.slice(1)}`,
    tag: 'Checkout hooks',
    summary: `Report the outcome ${claim}: queries the provider and returns the current status`,
    auth: { by: 'key-or-client-token', scope: 'checkout:write' },
    params: schema.SessionParams,
    body: schema.ClaimBody,
    responses: { 200: schema.HookResponse },
    handle: async ({ caller, params, body }) => {
      const session = await reportOutcome(deps, sessionKey(caller, params.sessionId), { claim, details: body });
      return { message: hookMessage(session), data: presentHook(session, claim) };
    },
  });
}

function statusRoute(deps: CheckoutDeps): Route {
  const waits = createSessionWaits(deps);
  return readRoute('GET /api/checkout/hooks/status/:sessionId', {
    operationId: 'getSessionStatus',
    tag: 'Checkout hooks',
    summary: 'The status of a session; ?wait=10 waits up to 10 s for its end',
    auth: { by: 'key-or-client-token', scope: 'checkout:read' },
    params: schema.SessionParams,
    query: schema.StatusQuery,
    responses: { 200: schema.HookResponse },
    handle: async ({ caller, params, query, signal }) => {
      const key = sessionKey(caller, params.sessionId);
      const session =
        query.wait === 0
          ? await readSession(deps, key)
          : await waits.withinLimit(caller, () =>
              waitForFinal({ ...deps, waits }, key, { waitSeconds: query.wait, signal: signal() }),
            );
      return { message: hookMessage(session), data: presentHook(session, 'status') };
    },
  });
}
