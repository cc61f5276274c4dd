import { findOwnRequesters } from '../access/separation-of-duties.ts';
import { changedFields } from '../http/audit.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Database } from '../lib/db.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import { scopeOf } from '../lib/scope.ts';
import { readSecondPersonFrom, setSecondPersonFrom } from '../merchants/operations.ts';
import { confirmPayout, declinePayout } from '../payouts/confirm.ts';
import { listAwaiting } from '../payouts/queries.ts';
import type { RefundRow } from '../payouts/refunds/queries.ts';
import { REFUND } from '../payouts/refunds/refund.ts';
import { presentRefund, Refund, RefundParams } from '../payouts/refunds/schema.ts';
import { presentWithdrawal } from '../payouts/withdrawals/present.ts';
import type { WithdrawalRow } from '../payouts/withdrawals/queries.ts';
import { Withdrawal, WithdrawalParams } from '../payouts/withdrawals/schema.ts';
import { WITHDRAWAL } from '../payouts/withdrawals/withdrawal.ts';
import * as schema from './schema.ts';

/** The withdrawals and refunds that need a second person of the merchant, and from which amount on they do. */
export function secondPersonRoutes({ db }: { db: Database }): Route[] {
  return [...policyRoutes(db), ownRequestsRoute(db), ...withdrawalRoutes(), ...refundRoutes()];
}

/** Of withdrawals, and of refunds, that wait; the newest. */
const WAITING_MAX = 1_000;

function ownRequestsRoute(db: Database): Route {
  return readRoute('GET /api/portal/own-requests', {
    tag: 'Portal',
    // Every member may ask: the ids are of the person's own requests.
    auth: { by: 'member', permission: 'transactions:read' },
    operationId: 'listOwnRequests',
    summary:
      'Which waiting withdrawals and refunds you cannot confirm, because you, or a key that you created, has requested them',
    description: `None in the sandbox, where one person may do both. Of the newest ${WAITING_MAX} that wait of each.`,
    responses: { 200: schema.OwnRequests },
    handle: async ({ caller }) => {
      const message = 'Own requests retrieved';
      if (caller.environment === 'sandbox') return { message, data: { ids: [] } };
      const [withdrawals, refunds] = await Promise.all([
        listAwaiting(db, 'withdrawal', { ...scopeOf(caller), limit: WAITING_MAX }),
        listAwaiting(db, 'refund', { ...scopeOf(caller), limit: WAITING_MAX }),
      ]);
      const waiting = [...withdrawals, ...refunds];
      const requesters = [...new Set(waiting.map(({ requestedBy }) => requestedBy))];
      const own = new Set(await findOwnRequesters(db, caller.userId, requesters));
      const ids = waiting.filter(({ requestedBy }) => own.has(requestedBy)).map(({ id }) => id);
      return { message, data: { ids } };
    },
  });
}

function policyRoutes(db: Database): Route[] {
  return [
    readRoute('GET /api/portal/withdrawal-policy', {
      tag: 'Portal',
      auth: { by: 'member', permission: 'bank:read' },
      operationId: 'getWithdrawalPolicy',
      summary: 'From which amount on a second person confirms a withdrawal',
      responses: { 200: schema.WithdrawalPolicy },
      handle: async ({ caller: { merchantId } }) => {
        const santim = await readSecondPersonFrom(db, merchantId);
        return { message: 'Policy retrieved', data: { secondPersonFrom: santim && toBirr(santim) } };
      },
    }),
    writeRoute('PUT /api/portal/withdrawal-policy', {
      tag: 'Portal',
      auth: { by: 'member', permission: 'security-policy:write' },
      stepUp: 'always',
      operationId: 'setWithdrawalPolicy',
      audit: 'withdrawal-policy.change',
      summary: 'Change from which amount on a second person confirms a withdrawal, in both environments',
      description: 'Applies to later withdrawals: those that wait go on waiting.',
      body: schema.WithdrawalPolicy,
      responses: { 200: schema.WithdrawalPolicy },
      handle: async ({ tx: { trx }, caller: { merchantId }, body }) => {
        const { secondPersonFrom } = body;
        const santim = secondPersonFrom === null ? null : toSantim(secondPersonFrom);
        const before = await readSecondPersonFrom(trx, merchantId);
        await setSecondPersonFrom(trx, merchantId, santim);
        const changed = changedFields({ secondPersonFrom: before && toBirr(before) }, body);
        const audit = changed && { ...changed, environment: null };
        return { message: 'Policy changed', data: body, audit };
      },
    }),
  ];
}

function withdrawalRoutes(): Route[] {
  const declared = {
    tag: 'Portal',
    auth: { by: 'member', permission: 'withdrawals:write' },
    params: WithdrawalParams,
    responses: { 200: Withdrawal },
    errors: ['INVALID_STATE'],
  } as const;
  return [
    writeRoute('POST /api/portal/withdrawals/:withdrawalId/confirm', {
      ...declared,
      stepUp: 'live',
      operationId: 'confirmWithdrawal',
      audit: 'withdrawal.confirm',
      summary: 'Confirm a withdrawal that another person, or a key that another person created, has requested',
      handle: async ({ tx, caller, params, at }) => {
        const notices: string[] = [];
        const waiting = { scope: scopeOf(caller), idOrReference: params.withdrawalId, at };
        const row = await confirmPayout(tx, WITHDRAWAL, { ...waiting, userId: caller.userId, notices });
        const message = ['Withdrawal confirmed', ...notices].join('. ');
        return { message, data: presentWithdrawal(row), audit: auditOf(row) };
      },
    }),
    writeRoute('POST /api/portal/withdrawals/:withdrawalId/decline', {
      ...declared,
      operationId: 'declineWithdrawal',
      audit: 'withdrawal.decline',
      summary: 'Decline a withdrawal that waits for a second person: it is cancelled, and its money is available again',
      body: schema.Decline,
      handle: async ({ tx, caller, params, body, at }) => {
        const row = await declinePayout(tx, WITHDRAWAL, {
          scope: scopeOf(caller),
          idOrReference: params.withdrawalId,
          at,
          ...body,
        });
        return { message: 'Withdrawal declined', data: presentWithdrawal(row), audit: auditOf(row, body) };
      },
    }),
  ];
}

/** The audit row of a decision, with the id of the withdrawal even where the path has the merchant's own. */
const auditOf = ({ id: resourceId, reference, amountSantim, requestedBy }: WithdrawalRow, more: object = {}) => ({
  resourceId,
  after: { requestId: reference, amount: toBirr(amountSantim), requestedBy, ...more },
});

function refundRoutes(): Route[] {
  const declared = {
    tag: 'Portal',
    auth: { by: 'member', permission: 'refunds:write' },
    params: RefundParams,
    responses: { 200: Refund },
    errors: ['INVALID_STATE'],
  } as const;
  return [
    writeRoute('POST /api/portal/refunds/:refundId/confirm', {
      ...declared,
      stepUp: 'live',
      operationId: 'confirmRefund',
      audit: 'refund.confirm',
      summary: 'Confirm a refund that another person, or a key that another person created, has requested',
      handle: async ({ tx, caller, params, at }) => {
        const notices: string[] = [];
        const row = await confirmPayout(tx, REFUND, {
          scope: scopeOf(caller),
          idOrReference: params.refundId,
          at,
          userId: caller.userId,
          notices,
        });
        const message = ['Refund confirmed', ...notices].join('. ');
        return { message, data: presentRefund(row), audit: auditOfRefund(row) };
      },
    }),
    writeRoute('POST /api/portal/refunds/:refundId/decline', {
      ...declared,
      operationId: 'declineRefund',
      audit: 'refund.decline',
      summary: 'Decline a refund that waits for a second person: it fails, and its money is available again',
      body: schema.Decline,
      handle: async ({ tx, caller, params, body, at }) => {
        const row = await declinePayout(tx, REFUND, {
          scope: scopeOf(caller),
          idOrReference: params.refundId,
          at,
          ...body,
        });
        return { message: 'Refund declined', data: presentRefund(row), audit: auditOfRefund(row, body) };
      },
    }),
  ];
}

const auditOfRefund = ({ id: resourceId, reference, amountSantim, requestedBy }: RefundRow, more: object = {}) => ({
  resourceId,
  after: { reference, amount: toBirr(amountSantim), requestedBy, ...more },
});
