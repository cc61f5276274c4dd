import { z } from 'zod';

import type { AuditedChange } from '../access/audit.ts';
import { operatorReadRoute, operatorRoute } from '../access/operator-route.ts';
import { OptionalReason, Reason } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';
import { readOperatorDetail } from './operator-detail.ts';
import { presentForOperators } from './present.ts';
import { listAllWithdrawals, lockWithdrawal, type WithdrawalRow } from './queries.ts';
import { resolveWithdrawal } from './resolve.ts';
import { approveWithdrawal, rejectWithdrawal } from './review.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock };

/** The withdrawals of all merchants, and the decisions about them. */
export function withdrawalOperatorRoutes(deps: Deps): Route[] {
  return [...queryRoutes(deps), ...reviewRoutes(deps), resolveRoute(deps)];
}

function queryRoutes({ db, clock }: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/withdrawals', {
      operationId: 'opsListWithdrawals',
      cli: { name: 'withdrawals list', columns: 'requestedAt withdrawalId merchantId amount channel status stage' },
      summary: 'List withdrawals of all merchants, newest first',
      description: 'The days default to the last 30, at most 93 apart.',
      rateLimit: 'list',
      query: schema.OperatorListQuery,
      responses: { 200: z.array(schema.OperatorWithdrawal) },
      paginated: true,
      handle: async ({ query }) => {
        const { merchantId, environment, status, search } = query;
        const range = readDayRange(query, clock());
        const filter = { merchantId, environment, range, statuses: status ?? null, search };
        const { rows, pagination } = await listAllWithdrawals(db, filter, readPage(query));
        return { message: 'Withdrawals retrieved', data: rows.map(presentForOperators), pagination };
      },
    }),
    operatorReadRoute('GET /api/ops/withdrawals/:withdrawalId', {
      operationId: 'opsGetWithdrawal',
      cli: 'withdrawals get',
      summary: 'Get a withdrawal for its review, with the unmasked destination and earlier payouts to it',
      permission: 'withdrawal.approve',
      params: schema.OperatorParams,
      responses: { 200: schema.OperatorWithdrawalDetail },
      handle: async ({ params }) => ({
        message: 'Withdrawal retrieved',
        data: await readOperatorDetail(db, params.withdrawalId),
      }),
    }),
  ];
}

function reviewRoutes({ clock }: Deps): Route[] {
  return [
    operatorRoute('POST /api/ops/withdrawals/:withdrawalId/approve', {
      operationId: 'opsApproveWithdrawal',
      cli: { name: 'withdrawals approve', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Approve a withdrawal under review',
      description:
        'Where two approvals are needed, they must be of two operators. In live, the operator behind the request cannot approve.',
      action: 'withdrawal.approve',
      clock,
      params: schema.OperatorParams,
      body: OptionalReason,
      responses: { 200: schema.OperatorWithdrawal },
      errors: ['INVALID_STATE'],
      run: async (context, { params }) => {
        const before = await lockWithdrawal(context.tx.trx, params.withdrawalId);
        const row = await approveWithdrawal(context.tx, params.withdrawalId, context);
        const message = row.stage === 'UNDER_REVIEW' ? 'Approved; another operator must approve it too' : 'Approved';
        return { message, data: presentForOperators(row), audit: reviewAudit(before, row) };
      },
    }),
    operatorRoute('POST /api/ops/withdrawals/:withdrawalId/reject', {
      operationId: 'opsRejectWithdrawal',
      cli: { name: 'withdrawals reject', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Reject a withdrawal under review; its money is available again, and the merchant sees the reason',
      action: 'withdrawal.reject',
      clock,
      params: schema.OperatorParams,
      body: Reason,
      responses: { 200: schema.OperatorWithdrawal },
      errors: ['INVALID_STATE'],
      run: async (context, { params, body }) => {
        const before = await lockWithdrawal(context.tx.trx, params.withdrawalId);
        const row = await rejectWithdrawal(context.tx, params.withdrawalId, { ...context, ...body });
        return { message: 'Rejected', data: presentForOperators(row), audit: reviewAudit(before, row) };
      },
    }),
  ];
}

function resolveRoute({ clock }: Deps): Route {
  return operatorRoute('POST /api/ops/withdrawals/:withdrawalId/resolve', {
    operationId: 'opsResolveWithdrawal',
    cli: { name: 'withdrawals resolve', confirm: '/api/ops/withdrawals/{withdrawalId}' },
    summary: 'Resolve a withdrawal whose outcome is unknown, or whose provider reports another one than is booked',
    description:
      'Check with the provider first. COMPLETED: it was paid; if it had failed, its money is debited again. FAILED: it was not paid, and its money is available to the merchant. A withdrawal that needed two approvals needs two operators with the same resolution. In live, the operator behind the request cannot resolve it.',
    action: 'withdrawal.resolve',
    clock,
    params: schema.OperatorParams,
    body: schema.WithdrawalResolution,
    responses: { 200: schema.ResolvedWithdrawal },
    errors: ['INVALID_STATE', 'INSUFFICIENT_BALANCE'],
    run: async (context, { params: { withdrawalId }, body: { paidAmount, ...body } }) => {
      const before = await lockWithdrawal(context.tx.trx, withdrawalId);
      const paidSantim = paidAmount === undefined ? undefined : toSantim(paidAmount);
      const resolution = { ...body, ...context, paidSantim };
      const { row, missing, isNew } = await resolveWithdrawal(context.tx, withdrawalId, resolution);
      const { outcome, providerReference } = body;
      const paid = paidAmount === undefined ? {} : { paid: paidAmount };
      const audit: AuditedChange = {
        ...aboutWithdrawal(row),
        before: { status: before.status, stage: before.stage },
        after: { ...afterReview(row), outcome, providerReference, ...paid, othersNeeded: missing },
      };
      return {
        message: missing > 0 ? 'Recorded; another operator must resolve it in the same way' : 'Resolved',
        data: { ...presentForOperators(row), othersNeeded: missing },
        audit: isNew ? audit : null,
      };
    },
  });
}

function aboutWithdrawal(row: WithdrawalRow) {
  return { resourceType: 'withdrawal', resourceId: row.id, ...scopeOf(row) } as const;
}

function afterReview({ status, stage, amountSantim }: WithdrawalRow) {
  return { status, stage, amount: toBirr(amountSantim) };
}

function reviewAudit({ status, stage }: WithdrawalRow, row: WithdrawalRow): AuditedChange {
  return { ...aboutWithdrawal(row), before: { status, stage }, after: afterReview(row) };
}
