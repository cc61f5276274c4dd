import type { AuditedChange } from '../../access/audit.ts';
import {
  actionLinks,
  operatorListRoute,
  operatorReadRoute,
  operatorRoute,
  type WorkflowUrl,
} from '../../access/operator-route.ts';
import type { Route } from '../../http/route.ts';
import type { Database } from '../../lib/db.ts';
import { toBirr, toSantim } from '../../lib/money.ts';
import { readDayRange } from '../../lib/pagination.ts';
import { scopeOf } from '../../lib/scope.ts';
import { readTimeline } from '../../lib/timeline.ts';
import { readRequestedBy } from '../../merchants/operations.ts';
import { listCases } from '../cases.ts';
import { isResolvable, resolvePayout } from '../resolve.ts';
import { listRefunds, lockRefund, readRefund } from './queries.ts';
import { REFUND } from './refund.ts';
import * as schema from './schema.ts';
import { refundWorkflowId } from './workflow.ts';

type Deps = { db: Database; workflowUrl: WorkflowUrl };

/** The refunds of all merchants, and the decision about one whose outcome is unknown. */
export function refundOperatorRoutes({ db, workflowUrl }: Deps): Route[] {
  const temporalUrlOf = (refundId: string) => workflowUrl(refundWorkflowId(refundId));
  return [
    operatorListRoute('GET /api/ops/refunds', {
      operationId: 'opsListRefunds',
      cli: { name: 'refunds list', columns: 'requestedAt refundId merchantName transactionId amount status stage' },
      summary: 'List refunds of all merchants, newest first',
      description: 'The days default to the last 30, at most 93 apart.',
      query: schema.OperatorListQuery,
      item: schema.ListedRefund,
      names: { db, fields: ['merchantId'] },
      name: 'Refunds',
      list: async (query, page, at) =>
        listRefunds(db, { ...query, range: readDayRange(query, at), statuses: query.status ?? null }, page),
      present: (row) => ({ ...schema.presentForOperators(row), temporalUrl: temporalUrlOf(row.id) }),
    }),
    operatorReadRoute('GET /api/ops/refunds/:refundId', {
      operationId: 'opsGetRefund',
      cli: 'refunds get',
      summary: 'Get a refund with its timeline, and the commands that it allows',
      params: schema.OperatorParams,
      responses: { 200: schema.OperatorRefundDetail },
      handle: async ({ params, at }) => {
        const detail = await readOperatorDetail(db, params.refundId, at);
        return { message: 'Refund retrieved', data: { ...detail, temporalUrl: temporalUrlOf(params.refundId) } };
      },
    }),
    resolveRoute(),
  ];
}

function resolveRoute(): Route {
  return operatorRoute('POST /api/ops/refunds/:refundId/resolve', {
    operationId: 'opsResolveRefund',
    cli: { name: 'refunds resolve', confirm: '/api/ops/refunds/{refundId}' },
    summary: 'Resolve a refund that was not sent, whose outcome is unknown, or that had failed and is reported as paid',
    description:
      'Check with the provider first. COMPLETED: the payer has the money; if it had failed, its money is debited again. FAILED: the payer has none of it, and it is available to the merchant; one that was not sent can only be that. In live, the operator behind the request cannot resolve it.',
    action: 'refund.resolve',
    secondPerson: async ({ tx: { trx } }, { params }) =>
      (await readRefund(trx, params.refundId)).environment === 'live',
    params: schema.OperatorParams,
    body: schema.RefundResolution,
    responses: { 200: schema.OperatorRefund },
    errors: ['INVALID_STATE', 'INSUFFICIENT_BALANCE'],
    run: async (context, { params: { refundId }, body: { paidAmount: paid, ...body } }) => {
      const before = await lockRefund(context.tx.trx, refundId);
      const resolution = { ...body, ...context, paidSantim: paid === undefined ? paid : toSantim(paid) };
      const { row, isNew } = await resolvePayout(context.tx, REFUND, { id: refundId, ...resolution });
      const { outcome, providerReference } = body;
      const found = { outcome, providerReference, ...(paid !== undefined && { paid }) };
      const audit: AuditedChange = {
        resourceType: 'refund',
        resourceId: refundId,
        ...scopeOf(row),
        before: { status: before.status, stage: before.stage },
        after: { status: row.status, stage: row.stage, amount: toBirr(row.amountSantim), ...found },
      };
      return { message: 'Resolved', data: schema.presentForOperators(row), audit: isNew ? audit : null };
    },
  });
}

/** A refund with everything that its resolution needs. Throws NOT_FOUND. */
async function readOperatorDetail(db: Database, refundId: string, at: Date) {
  const row = await readRefund(db, refundId);
  const [requested, cases, timeline] = await Promise.all([
    readRequestedBy(db, row, { confirmedBy: row.confirmedBy }),
    listCases(db, row.id),
    readTimeline(db, row.transactionId),
  ]);
  const { confirmedAt, providerCode, lastOutcome, submittedAt } = row;
  return {
    ...schema.presentForOperators(row),
    ...requested,
    confirmedAt,
    providerCode,
    lastOutcome,
    submittedAt,
    timeline: timeline.filter(({ detail }) => detail['refundId'] === row.id),
    links: actionLinks(`refunds/${row.id}`, ...(isResolvable(REFUND, { row, cases, at }) ? ['resolve'] : [])),
  };
}
