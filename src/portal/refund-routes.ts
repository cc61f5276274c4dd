import { writeRoute, type Route } from '../http/route.ts';
import { toBirr } from '../lib/money.ts';
import { scopeOf } from '../lib/scope.ts';
import { confirmRefund, declineRefund } from '../payments/refunds/confirm.ts';
import type { RefundRow } from '../payments/refunds/queries.ts';
import { presentRefund, Refund, RefundParams } from '../payments/refunds/schema.ts';
import { Decline } from './schema.ts';

/** The decisions of a second person of the merchant about refunds; the policy is that of withdrawals. */
export function refundDecisionRoutes(): Route[] {
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
        const row = await confirmRefund(tx, scopeOf(caller), { ...params, userId: caller.userId, at, notices });
        const message = ['Refund confirmed', ...notices].join('. ');
        return { message, data: presentRefund(row), audit: auditOf(row) };
      },
    }),
    writeRoute('POST /api/portal/refunds/:refundId/decline', {
      ...declared,
      operationId: 'declineRefund',
      audit: 'refund.decline',
      summary: 'Decline a refund that waits for a second person: it fails, and its money is available again',
      body: Decline,
      handle: async ({ tx, caller, params, body, at }) => {
        const row = await declineRefund(tx, scopeOf(caller), { ...params, ...body, at });
        return { message: 'Refund declined', data: presentRefund(row), audit: auditOf(row, body) };
      },
    }),
  ];
}

const auditOf = ({ id: resourceId, reference, amountSantim, requestedBy }: RefundRow, more: object = {}) => ({
  resourceId,
  after: { reference, amount: toBirr(amountSantim), requestedBy, ...more },
});
