import { z } from 'zod';

import { operatorReadRoute, operatorRoute } from '../access/operator-route.ts';
import { Reason } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import { isoOrNull } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { toBirr } from '../lib/money.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import type { FindProvider } from '../providers/provider.ts';
import { closeDiscrepancy, listDiscrepancies, type Discrepancy } from './discrepancies.ts';
import { requestRun } from './request.ts';
import { listReconciledDays, type ReconciledDay } from './runs.ts';
import * as schema from './schema.ts';

type Deps = { db: Database; clock: Clock; findProvider: FindProvider };

/** The comparison of providers' statements with our ledger, and the discrepancies. */
export function reconciliationOperatorRoutes(deps: Deps): Route[] {
  return [...queryRoutes(deps), requestRoute(deps), closeRoute(deps)];
}

function queryRoutes({ db, clock }: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/reconciliation', {
      operationId: 'opsListReconciledDays',
      cli: { name: 'reconciliation list', columns: 'day channel status isRunning differences owed comparedAt error' },
      summary: "List the days of channels compared with the providers' statements, latest first",
      description: 'The days default to the last 30, at most 93 apart.',
      rateLimit: 'list',
      query: schema.DayQuery,
      responses: { 200: z.array(schema.ReconciledDay) },
      handle: async ({ query }) => {
        const { environment, channel } = query;
        const { startDate, endDate } = readDayRange(query, clock());
        const days = await listReconciledDays(db, { startDate, endDate, environment, channel });
        return { message: 'Days retrieved', data: days.map(presentDay) };
      },
    }),
    operatorReadRoute('GET /api/ops/reconciliation/differences', {
      operationId: 'opsListDifferences',
      cli: {
        name: 'reconciliation list-differences',
        columns: 'detectedAt differenceId channel day kind ours theirs orderId',
      },
      summary: "List the differences between providers' statements and our ledger, newest first",
      rateLimit: 'list',
      query: schema.DifferenceQuery,
      responses: { 200: z.array(schema.Difference) },
      paginated: true,
      handle: async ({ query }) => {
        const { state, environment, channel, kind, day } = query;
        const filter = { open: state && state === 'OPEN', environment, channel, kind, day };
        const { rows, pagination } = await listDiscrepancies(db, filter, readPage(query));
        return { message: 'Differences retrieved', data: rows.map(presentDiscrepancy), pagination };
      },
    }),
  ];
}

function requestRoute({ clock, findProvider }: Deps): Route {
  return operatorRoute('POST /api/ops/reconciliation/run', {
    operationId: 'opsRunReconciliation',
    cli: { name: 'reconciliation run', columns: 'day environment channel' },
    summary: "Compare a day with the providers' statements, again or for the first time",
    action: 'reconciliation.run',
    clock,
    body: schema.DayToCompare,
    responses: { 202: z.array(schema.ChannelDay) },
    run: async ({ tx }, { body }) => {
      const requested = await requestRun(tx, { clock, findProvider }, body);
      const audit = {
        resourceType: 'reconciliation',
        resourceId: body.day,
        ...(body.environment && { environment: body.environment }),
        after: { days: requested.map(({ environment, channel }) => `${environment} ${channel}`) },
      } as const;
      return { status: 202, message: 'Requested', data: requested, audit };
    },
  });
}

function closeRoute({ clock }: Deps): Route {
  return operatorRoute('POST /api/ops/reconciliation/differences/:differenceId/close', {
    operationId: 'opsCloseDifference',
    cli: { name: 'reconciliation close-difference', confirm: true },
    summary: 'Close a difference that was investigated; posts nothing',
    action: 'reconciliation.close',
    clock,
    params: schema.DifferenceParams,
    body: Reason,
    responses: { 200: schema.Difference },
    errors: ['INVALID_STATE'],
    run: async ({ tx, operatorId, at }, { params, body: { reason } }) => {
      const difference = await closeDiscrepancy(tx, params.differenceId, { operatorId, reason, at });
      const { id, environment, kind, orderId, closedAt } = difference;
      const audit = {
        resourceType: 'difference',
        resourceId: id,
        environment,
        after: { kind, orderId, closed: true },
      } as const;
      // One that was closed before has another time of closing.
      const isNew = closedAt?.getTime() === at.getTime();
      return { message: 'Difference closed', data: presentDiscrepancy(difference), audit: isNew ? audit : null };
    },
  });
}

function presentDiscrepancy(difference: Discrepancy) {
  const { id, orderStatus, bookedSantim, listedSantim, listedCurrency, detectedAt, closedAt, ...row } = difference;
  return {
    differenceId: id,
    ...row,
    ourStatus: orderStatus,
    ours: bookedSantim === null ? null : toBirr(bookedSantim),
    theirs: listedSantim === null ? null : toBirr(listedSantim),
    theirCurrency: listedCurrency,
    detectedAt: detectedAt.toISOString(),
    closedAt: isoOrNull(closedAt),
  };
}

function presentDay({ listed, booked, clearingSantim, comparedAt, ...row }: ReconciledDay) {
  return {
    ...row,
    theirs: listed && presentSums(listed),
    ours: booked && presentSums(booked),
    owed: clearingSantim === null ? null : toBirr(clearingSantim),
    comparedAt: isoOrNull(comparedAt),
  };
}

function presentSums({ payments, payouts, reversals }: NonNullable<ReconciledDay['listed']>) {
  const sum = ({ count, santim }: typeof payments) => ({ count, amount: toBirr(santim) });
  return { payments: sum(payments), payouts: sum(payouts), reversals: sum(reversals) };
}
