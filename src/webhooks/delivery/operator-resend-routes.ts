import { operatorReadRoute, operatorRoute } from '../../access/operator-route.ts';
import { OptionalReason } from '../../access/operator-schema.ts';
import type { Route } from '../../http/route.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Database } from '../../lib/db.ts';
import { readDayRangeOfOrder } from '../../lib/pagination.ts';
import { RESEND_JOB_ITEMS_MAX } from '../events/schema.ts';
import { deliveryConditions } from './queries.ts';
import { cancelResendJob, countResendJob, createResendJob, findResendJob } from './resend-jobs.ts';
import * as schema from './schema.ts';

type Deps = {
  db: Database;
  clock: Clock;
  /** The transactions with this order number, of all merchants. */
  findTransactionIds: (checkoutOrderNo: string) => Promise<string[]>;
  /** Of one job. */
  resendsPerSecond: number;
};

const JOB = '/api/ops/webhooks/resend-jobs/:jobId';
const ofOperators = (jobId: string) => ({ jobId, merchantId: null, environment: null });

/** Bulk resends by operators, over all merchants. */
export function operatorResendRoutes(deps: Deps): Route[] {
  const one = { params: schema.ResendJobParams, responses: { 200: schema.OperatorResendJob } };
  return [
    createRoute(deps),
    operatorReadRoute(`GET ${JOB}`, {
      ...one,
      operationId: 'opsGetResendJob',
      cli: 'resend-jobs get',
      summary: "The progress of an operator's bulk resend",
      handle: async ({ params: { jobId } }) => ({
        message: 'Resend job',
        data: await findResendJob(deps.db, ofOperators(jobId)),
      }),
    }),
    operatorRoute(`POST ${JOB}/cancel`, {
      ...one,
      operationId: 'opsCancelResendJob',
      cli: { name: 'resend-jobs cancel', confirm: true },
      summary: "Stop an operator's bulk resend",
      description: 'Resends that were requested already still complete.',
      action: 'delivery.cancel-resend-job',
      body: OptionalReason,
      errors: ['INVALID_STATE'],
      run: async ({ tx }, { params: { jobId } }) => {
        const before = await findResendJob(tx.trx, ofOperators(jobId));
        const data = await cancelResendJob(tx, ofOperators(jobId));
        const change = { before: { status: before.status }, after: { status: data.status, sent: data.sent } };
        const { environment } = data;
        const audit = { resourceType: 'resendJob', resourceId: jobId, environment, ...change } as const;
        return { message: 'Resend job cancelled', data, audit: before.status === data.status ? null : audit };
      },
    }),
  ];
}

function createRoute({ clock, findTransactionIds, resendsPerSecond: ratePerSecond }: Deps): Route {
  return operatorRoute('POST /api/ops/webhooks/deliveries/resend', {
    operationId: 'opsResendDeliveries',
    cli: [
      { name: 'deliveries resend-matching', confirm: true },
      {
        name: 'deliveries count-matching',
        summary: 'Count the webhook deliveries that "resend-matching" would resend',
        body: { dryRun: true },
      },
    ],
    summary: 'Resend all matching webhook deliveries, of all merchants',
    description: `The oldest ${RESEND_JOB_ITEMS_MAX} at most, at a constant rate. Deliveries of inactive subscriptions do not match. With dryRun only their number: 200. The days default as in the list of deliveries.`,
    action: 'delivery.resend-many',
    body: schema.BulkResendBody,
    responses: { 200: schema.OperatorResendCount, 202: schema.CreatedOperatorResendJob },
    errors: ['INVALID_STATE'],
    run: async ({ tx, operatorId, at }, { body }) => {
      const { dryRun, reason = '', status, startDate: _from, endDate: _until, ...filter } = body;
      const { checkoutOrderNo, environment } = filter;
      const resourceIds = checkoutOrderNo === undefined ? null : await findTransactionIds(checkoutOrderNo);
      const range = readDayRangeOfOrder(body, at);
      const selection = {
        ...deliveryConditions({ ...filter, status: [status], range, resourceIds }),
        limit: RESEND_JOB_ITEMS_MAX,
      };
      if (dryRun) {
        const data = { ...(await countResendJob(tx.trx, selection)), ratePerSecond };
        return { status: 200, message: 'Counted; nothing is resent', data, audit: null };
      }
      const owner = { merchantId: null, operatorId, reason, environment };
      const job = await createResendJob({ clock }, tx, { owner, selection });
      const days = range && { startDate: range.startDate, endDate: range.endDate };
      const after = { status, ...filter, ...days, matched: job.matched };
      return {
        status: 202,
        message: job.matched > 0 ? 'Resend job started' : 'No delivery of an active subscription matches',
        data: { ...job, ratePerSecond },
        audit: {
          resourceType: 'resendJob',
          resourceId: job.jobId,
          merchantId: filter.merchantId ?? null,
          environment,
          after,
        },
      };
    },
  });
}
