import type { AuditContext, AuditedChange } from '../../access/audit.ts';
import {
  actionLinks,
  operatorListRoute,
  operatorReadRoute,
  operatorRoute,
  type OperatorResult,
  type WorkflowUrl,
} from '../../access/operator-route.ts';
import { OptionalReason, Reason } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import { BANKS, type BankCode } from '../../lib/banks.ts';
import type { Database } from '../../lib/db.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { withoutNulls } from '../../lib/fields.ts';
import { toBirr, toSantim } from '../../lib/money.ts';
import { readDayRange } from '../../lib/pagination.ts';
import { scopeOf } from '../../lib/scope.ts';
import { readTimeline } from '../../lib/timeline.ts';
import { readRequestedBy } from '../../merchants/operations.ts';
import { listCases } from '../cases.ts';
import { isResolvable, resolvePayout, type Subject } from '../resolve.ts';
import { presentForOperators } from './present.ts';
import { listApprovals, listWithdrawals, lockWithdrawal } from './queries.ts';
import { readPaidBefore, readWithdrawal, type WithdrawalRow } from './queries.ts';
import { approveWithdrawal, rejectWithdrawal } from './review.ts';
import * as schema from './schema.ts';
import { UNSENT_STAGES } from './states.ts';
import { WITHDRAWAL } from './withdrawal.ts';
import { withdrawalWorkflowId } from './workflow.ts';

type Deps = { db: Database; workflowUrl: WorkflowUrl };

/** The withdrawals of all merchants, and the decisions about them. */
export function withdrawalOperatorRoutes(deps: Deps): Route[] {
  return [...queryRoutes(deps), ...commandRoutes()];
}

function queryRoutes({ db, workflowUrl }: Deps): Route[] {
  const temporalUrlOf = (withdrawalId: string) => workflowUrl(withdrawalWorkflowId(withdrawalId));
  return [
    operatorListRoute('GET /api/ops/withdrawals', {
      operationId: 'opsListWithdrawals',
      cli: { name: 'withdrawals list', columns: 'requestedAt withdrawalId merchantName amount channel status stage' },
      summary: 'List withdrawals of all merchants, newest first',
      description: 'The days default to the last 30, at most 93 apart.',
      query: schema.OperatorListQuery,
      item: schema.ListedWithdrawal,
      names: { db, fields: ['merchantId'] },
      name: 'Withdrawals',
      list: async (query, page, at) =>
        listWithdrawals(db, { ...query, range: readDayRange(query, at), statuses: query.status ?? null }, page),
      present: (row) => ({ ...presentForOperators(row), temporalUrl: temporalUrlOf(row.id) }),
    }),
    operatorReadRoute('GET /api/ops/withdrawals/:withdrawalId', {
      operationId: 'opsGetWithdrawal',
      cli: 'withdrawals get',
      summary: 'Get a withdrawal for its review, with the unmasked destination and earlier payouts to it',
      permission: 'withdrawal.approve',
      params: schema.OperatorParams,
      responses: { 200: schema.OperatorWithdrawalDetail },
      handle: async ({ params, at }) => ({
        message: 'Withdrawal retrieved',
        data: {
          ...(await readOperatorDetail(db, params.withdrawalId, at)),
          temporalUrl: temporalUrlOf(params.withdrawalId),
        },
      }),
    }),
  ];
}

/** `more`: fields of the response beside the withdrawal; `audited`: more of the audit row; `isNew` false: a repeat. */
type Outcome = { row: WithdrawalRow; message: string; more?: object; audited?: object; isNew?: boolean };

/** The result of a command about one withdrawal, with its audit row. */
async function decide(
  { tx }: AuditContext,
  resourceId: string,
  command: () => Promise<Outcome>,
): Promise<OperatorResult> {
  const before = await lockWithdrawal(tx.trx, resourceId);
  const { row, message, more, audited, isNew = true } = await command();
  const audit: AuditedChange = {
    resourceType: 'withdrawal',
    resourceId,
    ...scopeOf(row),
    before: { status: before.status, stage: before.stage },
    after: { status: row.status, stage: row.stage, amount: toBirr(row.amountSantim), ...audited },
  };
  return { message, data: { ...presentForOperators(row), ...more }, audit: isNew ? audit : null };
}

function commandRoutes(): Route[] {
  const declared = { params: schema.OperatorParams, errors: ['INVALID_STATE'] as ErrorCode[] };
  return [
    operatorRoute('POST /api/ops/withdrawals/:withdrawalId/approve', {
      ...declared,
      operationId: 'opsApproveWithdrawal',
      cli: { name: 'withdrawals approve', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Approve a withdrawal under review',
      description:
        'Where two approvals are needed, they must be of two operators. In live, the operator behind the request cannot approve.',
      action: 'withdrawal.approve',
      body: OptionalReason,
      responses: { 200: schema.OperatorWithdrawal },
      run: async (context, { params: { withdrawalId } }) =>
        decide(context, withdrawalId, async () => {
          const row = await approveWithdrawal(context.tx, withdrawalId, context);
          const message = row.stage === 'UNDER_REVIEW' ? 'Approved; another operator must approve it too' : 'Approved';
          return { row, message };
        }),
    }),
    operatorRoute('POST /api/ops/withdrawals/:withdrawalId/reject', {
      ...declared,
      operationId: 'opsRejectWithdrawal',
      cli: { name: 'withdrawals reject', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Reject a withdrawal under review; its money is available again, and the merchant sees the reason',
      action: 'withdrawal.reject',
      body: Reason,
      responses: { 200: schema.OperatorWithdrawal },
      run: async (context, { params: { withdrawalId }, body }) =>
        decide(context, withdrawalId, async () => ({
          row: await rejectWithdrawal(context.tx, withdrawalId, { ...context, ...body }),
          message: 'Rejected',
        })),
    }),
    operatorRoute('POST /api/ops/withdrawals/:withdrawalId/resolve', {
      ...declared,
      operationId: 'opsResolveWithdrawal',
      cli: { name: 'withdrawals resolve', confirm: '/api/ops/withdrawals/{withdrawalId}' },
      summary: 'Resolve a withdrawal whose outcome is unknown, or whose provider reports another one than is booked',
      description:
        'Check with the provider first. COMPLETED: it was paid; if it had failed, its money is debited again. FAILED: it was not paid, and its money is available to the merchant. A withdrawal that needed two approvals needs two operators with the same resolution. In live, the operator behind the request cannot resolve it.',
      action: 'withdrawal.resolve',
      body: schema.WithdrawalResolution,
      responses: { 200: schema.ResolvedWithdrawal },
      errors: [...declared.errors, 'INSUFFICIENT_BALANCE'],
      run: async (context, { params: { withdrawalId }, body: { paidAmount: paid, ...body } }) =>
        decide(context, withdrawalId, async () => {
          const resolution = { ...body, ...context, paidSantim: paid === undefined ? paid : toSantim(paid) };
          const { row, missing, isNew } = await resolvePayout(context.tx, WITHDRAWAL, {
            id: withdrawalId,
            ...resolution,
          });
          const { outcome, providerReference } = body;
          return {
            row,
            message: missing > 0 ? 'Recorded; another operator must resolve it in the same way' : 'Resolved',
            more: { othersNeeded: missing },
            audited: { outcome, providerReference, ...(paid !== undefined && { paid }), othersNeeded: missing },
            isNew,
          };
        }),
    }),
  ];
}

/** A withdrawal with everything that its review needs, the unmasked destination too. Throws NOT_FOUND. */
async function readOperatorDetail(db: Database, withdrawalId: string, at: Date) {
  const row = await readWithdrawal(db, withdrawalId);
  const [requested, approvals, cases, before, timeline] = await Promise.all([
    readRequestedBy(db, row, { confirmedBy: row.confirmedBy }),
    listApprovals(db, row.id),
    listCases(db, row.id),
    readPaidBefore(db, row),
    readTimeline(db, row.id),
  ]);
  const { phone, bankCode, accountNumber, accountName, confirmedAt } = row;
  const { providerCode, lastOutcome, submittedAt } = row;
  const bankName = bankCode && (BANKS[bankCode as BankCode] ?? bankCode);
  return {
    ...presentForOperators(row),
    ...requested,
    confirmedAt,
    destination: withoutNulls({ phone, bankCode, bankName, accountNumber, accountName }),
    approvals: approvals.map(({ operatorId, approvedAt: at }) => {
      // The audit log has the operator's name and reason.
      const own = requested.decisions.filter((one) => one.operatorId === operatorId);
      const { operatorName = null, reason = null } = own.find(({ action }) => action === 'withdrawal.approve') ?? {};
      return { operatorId, operatorName, at, reason };
    }),
    approvalsMissing: row.stage === 'UNDER_REVIEW' ? Math.max(row.approvalsNeeded - approvals.length, 0) : 0,
    paidBefore: { ...before, amount: toBirr(before.santim) },
    providerCode,
    lastOutcome,
    submittedAt,
    timeline,
    links: actionLinks(`withdrawals/${row.id}`, ...commandsOf({ row, cases, at })),
  };
}

/** What operators may do with a withdrawal as it is. */
function commandsOf(subject: Subject<WithdrawalRow>): string[] {
  const { stage } = subject.row;
  if (stage === 'UNDER_REVIEW') return ['approve', 'reject'];
  if (UNSENT_STAGES.includes(stage)) return ['reject'];
  return isResolvable(WITHDRAWAL, subject) ? ['resolve'] : [];
}
