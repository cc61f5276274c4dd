import { z } from 'zod';

import type { AuditContext, AuditedChange } from '../access/audit.ts';
import { actionLinks, operatorReadRoute, operatorRoute } from '../access/operator-route.ts';
import { OptionalReason, Reason } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import { BANKS, type BankCode } from '../lib/banks.ts';
import type { Clock } from '../lib/clock.ts';
import { isoOrNull } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { toBirr, toSantim } from '../lib/money.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import { scopeOf } from '../lib/scope.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readRequestedBy } from '../merchants/requested-by.ts';
import { presentForOperators } from './present.ts';
import { destinationOf, listApprovals, listCases, listWithdrawals, lockWithdrawal } from './queries.ts';
import { readPaidBefore, readWithdrawal, type WithdrawalRow } from './queries.ts';
import { isResolvable, resolveWithdrawal, type Subject } from './resolve.ts';
import { approveWithdrawal, rejectWithdrawal } from './review.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock };

/** The withdrawals of all merchants, and the decisions about them. */
export function withdrawalOperatorRoutes(deps: Deps): Route[] {
  return [...queryRoutes(deps), ...commandRoutes(deps)];
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
        const { rows, pagination } = await listWithdrawals(db, filter, readPage(query));
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
        data: await readOperatorDetail(db, params.withdrawalId, clock()),
      }),
    }),
  ];
}

type Command<Body extends z.ZodType> = {
  verb: 'approve' | 'reject' | 'resolve';
  operationId: string;
  cli: Route['cli'];
  summary: string;
  description?: string;
  body: Body;
  response?: z.ZodType;
  /** Besides INVALID_STATE. */
  errors?: ErrorCode[];
  run: (context: AuditContext, withdrawalId: string, body: z.output<Body>) => Promise<Outcome>;
};

/** `more`: fields of the response beside the withdrawal; `audited`: more of the audit row; `isNew` false: a repeat. */
type Outcome = { row: WithdrawalRow; message: string; more?: object; audited?: object; isNew?: boolean };

function commandRoute<Body extends z.ZodType>(
  { clock }: Deps,
  { verb, run, response = schema.OperatorWithdrawal, errors = [], ...declared }: Command<Body>,
): Route {
  return operatorRoute(`POST /api/ops/withdrawals/:withdrawalId/${verb}`, {
    ...declared,
    action: `withdrawal.${verb}`,
    clock,
    params: schema.OperatorParams,
    responses: { 200: response },
    errors: ['INVALID_STATE', ...errors],
    run: async (context, { params: { withdrawalId }, body }) => {
      const before = await lockWithdrawal(context.tx.trx, withdrawalId);
      const { row, message, more, audited, isNew = true } = await run(context, withdrawalId, body);
      const { status, stage } = row;
      const audit: AuditedChange = {
        resourceType: 'withdrawal',
        resourceId: withdrawalId,
        ...scopeOf(row),
        before: { status: before.status, stage: before.stage },
        after: { status, stage, amount: toBirr(row.amountSantim), ...audited },
      };
      return { message, data: { ...presentForOperators(row), ...more }, audit: isNew ? audit : null };
    },
  });
}

function commandRoutes(deps: Deps): Route[] {
  return [
    commandRoute(deps, {
      verb: 'approve',
      operationId: 'opsApproveWithdrawal',
      cli: { name: 'withdrawals approve', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Approve a withdrawal under review',
      description:
        'Where two approvals are needed, they must be of two operators. In live, the operator behind the request cannot approve.',
      body: OptionalReason,
      run: async (context, id) => {
        const row = await approveWithdrawal(context.tx, id, context);
        const message = row.stage === 'UNDER_REVIEW' ? 'Approved; another operator must approve it too' : 'Approved';
        return { row, message };
      },
    }),
    commandRoute(deps, {
      verb: 'reject',
      operationId: 'opsRejectWithdrawal',
      cli: { name: 'withdrawals reject', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Reject a withdrawal under review; its money is available again, and the merchant sees the reason',
      body: Reason,
      run: async (context, id, body) => {
        const row = await rejectWithdrawal(context.tx, id, { ...context, ...body });
        return { row, message: 'Rejected' };
      },
    }),
    commandRoute(deps, {
      verb: 'resolve',
      operationId: 'opsResolveWithdrawal',
      cli: { name: 'withdrawals resolve', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Resolve a withdrawal whose outcome is unknown, or whose provider reports another one than is booked',
      description:
        'Check with the provider first. COMPLETED: it was paid; if it had failed, its money is debited again. FAILED: it was not paid, and its money is available to the merchant. A withdrawal that needed two approvals needs two operators with the same resolution. In live, the operator behind the request cannot resolve it.',
      body: schema.WithdrawalResolution,
      response: schema.ResolvedWithdrawal,
      errors: ['INSUFFICIENT_BALANCE'],
      run: async (context, id, { paidAmount, ...body }) => {
        const paidSantim = paidAmount === undefined ? undefined : toSantim(paidAmount);
        const { row, missing, isNew } = await resolveWithdrawal(context.tx, id, { ...body, ...context, paidSantim });
        const { outcome, providerReference } = body;
        const paid = paidAmount === undefined ? {} : { paid: paidAmount };
        return {
          row,
          message: missing > 0 ? 'Recorded; another operator must resolve it in the same way' : 'Resolved',
          more: { othersNeeded: missing },
          audited: { outcome, providerReference, ...paid, othersNeeded: missing },
          isNew,
        };
      },
    }),
  ];
}

/** A withdrawal with everything that its review needs, the unmasked destination too. Throws NOT_FOUND. */
async function readOperatorDetail(db: Database, withdrawalId: string, at: Date) {
  const row = await readWithdrawal(db, withdrawalId);
  const [requested, approvals, cases, before, timeline] = await Promise.all([
    readRequestedBy(db, row),
    listApprovals(db, row.id),
    listCases(db, row.id),
    readPaidBefore(db, row),
    readTimeline(db, row.id),
  ]);
  const { kind: _, ...destination } = destinationOf(row);
  const { count, santim, lastAt, accountNames } = before;
  const bank = row.bankCode === null ? {} : { bankName: BANKS[row.bankCode as BankCode] ?? row.bankCode };
  return {
    ...presentForOperators(row),
    ...requested,
    destination: { ...destination, ...bank },
    approvals: approvals.map(({ operatorId, approvedAt }) => {
      // The audit log has the operator's name and reason.
      const own = requested.decisions.filter((one) => one.operatorId === operatorId);
      const { operatorName = null, reason = null } = own.find(({ action }) => action === 'withdrawal.approve') ?? {};
      return { operatorId, operatorName, at: approvedAt.toISOString(), reason };
    }),
    approvalsMissing: row.stage === 'UNDER_REVIEW' ? Math.max(row.approvalsNeeded - approvals.length, 0) : 0,
    paidBefore: { count, accountNames, amount: toBirr(santim), lastAt: isoOrNull(lastAt) },
    providerCode: row.providerCode,
    lastOutcome: row.lastOutcome,
    submittedAt: isoOrNull(row.submittedAt),
    timeline,
    links: actionLinks(`withdrawals/${row.id}`, ...commandsOf({ row, cases, at })),
  };
}

/** What operators may do with a withdrawal as it is. */
function commandsOf(subject: Subject): string[] {
  const { stage } = subject.row;
  if (stage === 'UNDER_REVIEW') return ['approve', 'reject'];
  if (stage === 'CREATED') return ['reject'];
  return isResolvable(subject) ? ['resolve'] : [];
}
