import { z } from 'zod';

import { readRoute, writeRoute, type RouteResult, type Route } from '../http/route.ts';
import { invalidState } from '../lib/errors.ts';
import { toSantim } from '../lib/money.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';
import type { FindProvider } from '../providers/provider.ts';
import { createSession } from './create-session.ts';
import {
  createWaitLimit,
  presentHook,
  reportOutcome,
  waitForFinal,
  type HookDeps,
  type ReportedOutcome,
} from './hooks.ts';
import { awaitProviderResult, startPayment, type Payment } from './pay.ts';
import * as schema from './session-schema.ts';
import { createReadState } from './session-state.ts';
import { findSession, listSessions, presentSession, readSession, sessionKey, type Session } from './session.ts';
import { HELD_MESSAGE, isHeld } from './states.ts';

export type CheckoutDeps = HookDeps & { findProvider: FindProvider; baseUrl: string; pepper: string };

/** Sessions: create, read, expire, pay; and the contract's four hooks. */
export function checkoutRoutes(deps: CheckoutDeps): Route[] {
  return [
    ...sessionRoutes(deps),
    payRoute(deps),
    ...(['success', 'error', 'cancel'] as const).map((claim) => hookRoute(deps, claim)),
    statusRoute(deps),
  ];
}

const SESSION = { tag: 'Checkout', params: schema.SessionParams } as const;
const HOOK = { tag: 'Checkout hooks', params: schema.SessionParams, responses: { 200: schema.HookResponse } } as const;
const STATE_EVERY_MS = 250;
const REFUSALS = ['CHANNEL_DISABLED', 'CHANNEL_NOT_AVAILABLE', 'AMOUNT_BELOW_MINIMUM', 'AMOUNT_ABOVE_MAXIMUM'] as const;

function sessionRoutes(deps: CheckoutDeps): Route[] {
  return [
    writeRoute('POST /api/checkout/sessions', {
      operationId: 'createSession',
      tag: 'Checkout',
      summary: 'Create a checkout session',
      auth: { by: 'key', scope: 'checkout:write' },
      body: schema.NewSession,
      responses: { 201: schema.CreatedSession },
      errors: ['DUPLICATE_REFERENCE', ...REFUSALS],
      handle: async ({ caller, tx, body }) => {
        const wanted = { ...body, amountSantim: toSantim(body.amount) };
        const data = await createSession({ ...deps, tx }, caller, wanted);
        return { status: 201, message: 'Session created', data };
      },
    }),
    readRoute('GET /api/checkout/sessions', {
      operationId: 'listSessions',
      tag: 'Checkout',
      summary: 'Checkout sessions of a range of days, newest first',
      description: 'The days default to the last 30.',
      auth: { by: 'key', scope: 'checkout:read' },
      query: schema.SessionListQuery,
      responses: { 200: z.array(schema.Session) },
      paginated: true,
      handle: async ({ caller, query }) => {
        const range = readDayRange(query, deps.clock());
        const filter = { ...scopeOf(caller), range, statuses: query.status ?? null };
        const { sessions, pagination } = await listSessions(deps.db, filter, readPage(query));
        const link = { ...deps, scopes: caller.scopes };
        const data = sessions.map((session) => presentSession(session, link));
        return { message: 'Sessions retrieved', data, pagination };
      },
    }),
    readRoute('GET /api/checkout/sessions/:sessionId', {
      ...SESSION,
      operationId: 'getSession',
      summary: 'One checkout session',
      auth: { by: 'key', scope: 'checkout:read' },
      responses: { 200: schema.Session },
      handle: async ({ caller, params }) => {
        const session = await readSession(deps, sessionKey(caller, params.sessionId));
        return { message: 'Session retrieved', data: presentSession(session, { ...deps, scopes: caller.scopes }) };
      },
    }),
    readRoute('POST /api/checkout/sessions/:sessionId/expire', {
      ...SESSION,
      operationId: 'expireSession',
      summary: 'Expire a session now',
      description:
        'With a payment in flight the provider is queried first, and a paid session is not expired. Idempotent.',
      auth: { by: 'key', scope: 'checkout:write' },
      responses: { 200: schema.Session },
      errors: ['INVALID_STATE'],
      handle: async ({ caller, params }) => {
        const key = sessionKey(caller, params.sessionId);
        await findSession(deps.db, key);
        await deps.closeUnpaid(params.sessionId, 'EXPIRED');
        const session = await findSession(deps.db, key);
        if (session.status !== 'EXPIRED') throw invalidState(whyNotExpired(session));
        return { message: 'Session expired', data: presentSession(session, { ...deps, scopes: caller.scopes }) };
      },
    }),
  ];
}

function whyNotExpired(session: Session): string {
  if (isHeld(session)) return `The session cannot be expired. ${HELD_MESSAGE}`;
  if (session.status !== 'PROCESSING') return `The session is ${session.status} and cannot be expired.`;
  return 'The session cannot be expired: the provider has not reported its payment as unpaid yet. Repeat the request in a moment.';
}

function payRoute(deps: CheckoutDeps): Route {
  return writeRoute('POST /api/checkout/sessions/:sessionId/pay', {
    ...SESSION,
    operationId: 'paySession',
    summary: 'Start a payment attempt on one channel',
    auth: { by: 'key-or-client-token', scope: 'checkout:write' },
    body: schema.NewPayment,
    responses: { 202: schema.Payment },
    errors: ['INVALID_STATE', ...REFUSALS],
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
    ...HOOK,
    operationId: `claim${claim[0]?.toUpperCase()}${claim.slice(1)}`,
    summary: `Report the outcome ${claim}: queries the provider and returns the current status`,
    auth: { by: 'key-or-client-token', scope: 'checkout:write' },
    body: schema.ClaimBody,
    handle: async ({ caller, params, body }) => {
      const session = await reportOutcome(deps, sessionKey(caller, params.sessionId), { claim, details: body });
      return presentHook(session, claim);
    },
  });
}

function statusRoute(deps: CheckoutDeps): Route {
  const [readState, withinLimit] = [createReadState(deps, STATE_EVERY_MS), createWaitLimit()];
  return readRoute('GET /api/checkout/hooks/status/:sessionId', {
    ...HOOK,
    operationId: 'getSessionStatus',
    summary: 'The status of a session; ?wait=10 waits up to 10 s for its end',
    auth: { by: 'key-or-client-token', scope: 'checkout:read' },
    query: schema.StatusQuery,
    handle: async ({ caller, params, query: { wait }, signal }) => {
      const key = sessionKey(caller, params.sessionId);
      const waited = async () => waitForFinal({ ...deps, readState }, key, { waitSeconds: wait, signal: signal() });
      return presentHook(wait === 0 ? await readSession(deps, key) : await withinLimit(caller, waited), 'status');
    },
  });
}
