import { auditOf, presentAudit, type AuditedChange } from '../../access/audit.ts';
import {
  actionLinks,
  operatorListRoute,
  operatorReadRoute,
  operatorRoute,
  type WorkflowUrl,
} from '../../access/operator-route.ts';
import { Reason } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database, Queryable } from '../../lib/db.ts';
import { found, type ErrorCode } from '../../lib/errors.ts';
import { readDayRangeOfOrder } from '../../lib/pagination.ts';
import { scopeOf } from '../../lib/scope.ts';
import { listDeliveries, readAttempts, readOperatorDeliveries, type OperatorDeliveryRow } from './queries.ts';
import { cancelDelivery, dismissDeadLetter, requestResend } from './resend.ts';
import * as schema from './schema.ts';
import { resendProblem } from './states.ts';
import { deliveryWorkflowId } from './workflow.ts';

type Deps = {
  db: Database;
  clock: Clock;
  workflowUrl: WorkflowUrl;
  /** The transactions with this order number, of all merchants, and their refunds. */
  findTransactionIds: (checkoutOrderNo: string) => Promise<string[]>;
};

/** The webhook deliveries of all merchants, and what operators do with them. */
export function deliveryOperatorRoutes(deps: Deps): Route[] {
  return [...queryRoutes(deps), ...commandRoutes(deps)];
}

function queryRoutes({ db, workflowUrl, findTransactionIds }: Deps): Route[] {
  return [
    operatorListRoute('GET /api/ops/webhooks/deliveries', {
      operationId: 'opsListDeliveries',
      cli: {
        name: 'deliveries list',
        columns: 'createdAt deliveryId checkoutOrderNo event receiverHost status attempts',
      },
      summary: 'List webhook deliveries of all merchants, newest first',
      description:
        'DEAD_LETTER: all attempts have failed, and no resend has succeeded. DISMISSED: the same, and an operator decided that it needs no resend. The days default to the last 30, at most 93 apart, or to all days with checkoutOrderNo.',
      query: schema.DeliveryQuery,
      item: schema.OperatorDelivery,
      name: 'Deliveries',
      list: async (query, page, at) => {
        const { checkoutOrderNo } = query;
        const resourceIds = checkoutOrderNo === undefined ? null : await findTransactionIds(checkoutOrderNo);
        return listDeliveries(db, { ...query, range: readDayRangeOfOrder(query, at), resourceIds }, page);
      },
      present: (row) => presentDelivery(row, workflowUrl),
    }),
    operatorReadRoute('GET /api/ops/webhooks/deliveries/:deliveryId', {
      operationId: 'opsGetDelivery',
      cli: 'deliveries get',
      summary: 'Get a webhook delivery with its event, its receiver and its attempts',
      params: schema.DeliveryParams,
      responses: { 200: schema.OperatorDeliveryDetail },
      handle: async ({ params: { deliveryId } }) => {
        const row = await readDelivery(db, deliveryId);
        const [decisions, attemptLog] = await Promise.all([auditOf(db, deliveryId), readAttempts(db, deliveryId)]);
        const { subscription: state, description, consecutiveFailures, throttledUntil } = row;
        const data = {
          ...presentDelivery(row, workflowUrl),
          subscription: { state, description, consecutiveFailures, throttledUntil },
          workflowId: deliveryWorkflowId(row.eventId, row.subscriptionId),
          decisions: decisions.map(presentAudit),
          attemptLog,
        };
        return { message: 'Delivery retrieved', data };
      },
    }),
  ];
}

function commandRoutes({ clock, workflowUrl }: Deps): Route[] {
  const declared = {
    params: schema.DeliveryParams,
    responses: { 202: schema.OperatorDelivery },
    errors: ['INVALID_STATE'] as ErrorCode[],
  };
  const resource = '/api/ops/webhooks/deliveries/{deliveryId}';
  const result = async (trx: Queryable, before: OperatorDeliveryRow, message: string) => {
    const after = await readDelivery(trx, before.deliveryId);
    const { event, receiverHost } = after;
    const audit: AuditedChange = {
      resourceType: 'delivery',
      resourceId: after.deliveryId,
      ...scopeOf(after),
      before: { status: before.status, dismissed: before.dismissedAt !== null },
      after: { status: after.status, dismissed: after.dismissedAt !== null, event, receiverHost },
    };
    return { status: 202, message, data: presentDelivery(after, workflowUrl), audit };
  };
  return [
    operatorRoute('POST /api/ops/webhooks/deliveries/:deliveryId/resend', {
      ...declared,
      operationId: 'opsResendDelivery',
      cli: { name: 'deliveries resend', confirm: resource },
      summary: 'Send a webhook delivery once more, now',
      description:
        'Event id and bytes stay the same. Nothing follows if it fails, except the retries that are left of a RETRYING one.',
      action: 'delivery.resend',
      body: schema.ResendBody,
      run: async ({ tx }, { params: { deliveryId }, body }) => {
        const before = await readDelivery(tx.trx, deliveryId);
        await requestResend({ clock }, tx, { scope: null, deliveryIds: [deliveryId], ...body });
        return result(tx.trx, before, 'Resend accepted');
      },
    }),
    operatorRoute('POST /api/ops/webhooks/deliveries/:deliveryId/cancel', {
      ...declared,
      operationId: 'opsCancelDelivery',
      cli: { name: 'deliveries cancel', confirm: resource },
      summary: 'Give up a webhook delivery that is still being tried: it is FAILED, with a dead letter',
      description: 'An attempt that is in flight still counts if it succeeds. A given up delivery can be resent.',
      action: 'delivery.cancel',
      body: Reason,
      run: async ({ tx, at }, { params: { deliveryId } }) => {
        const before = await readDelivery(tx.trx, deliveryId);
        await cancelDelivery(tx, { deliveryId, at });
        return result(tx.trx, before, 'The delivery is given up');
      },
    }),
    operatorRoute('POST /api/ops/webhooks/deliveries/:deliveryId/dismiss', {
      ...declared,
      operationId: 'opsDismissDelivery',
      cli: { name: 'deliveries dismiss', confirm: resource },
      summary: 'Close a dead letter without a resend: it leaves the queue',
      description: 'The delivery stays FAILED, and can be resent. Merchants see no change.',
      action: 'delivery.dismiss',
      body: Reason,
      responses: { 200: schema.OperatorDelivery },
      run: async ({ tx, at }, { params: { deliveryId } }) => {
        const before = await readDelivery(tx.trx, deliveryId);
        await dismissDeadLetter(tx, { deliveryId, at });
        return { ...(await result(tx.trx, before, 'The dead letter is dismissed')), status: 200 };
      },
    }),
  ];
}

async function readDelivery(db: Queryable, deliveryId: string): Promise<OperatorDeliveryRow> {
  return found((await readOperatorDeliveries(db, [deliveryId]))[0], 'delivery');
}

function presentDelivery(row: OperatorDeliveryRow, workflowUrl: WorkflowUrl) {
  const verbs = [
    ...(resendProblem(row, false) === null ? ['resend'] : []),
    ...(row.status === 'PENDING' || row.status === 'RETRYING' ? ['cancel'] : []),
    ...(row.status === 'FAILED' && row.deadLetteredAt !== null && row.dismissedAt === null ? ['dismiss'] : []),
  ];
  return {
    ...row,
    temporalUrl: workflowUrl(deliveryWorkflowId(row.eventId, row.subscriptionId)),
    links: actionLinks(`webhooks/deliveries/${row.deliveryId}`, ...verbs),
  };
}
