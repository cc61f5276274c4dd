import { z } from 'zod';

import { auditContextOf } from '../access/audit.ts';
import { ANY_OPERATOR, requirePermission } from '../access/permissions.ts';
import { readRoute, writeRoute, type Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Knex } from '../lib/db.ts';
import { readDayRange, readPage } from '../lib/pagination.ts';
import type { FindProvider } from '../providers/provider.ts';
import { listDiscrepancies } from '../reconciliation/discrepancies.ts';
import { listReconciledDays } from '../reconciliation/runs.ts';
import { bankMoneyRoutes } from './bank-money-routes.ts';
import { presentDifference, presentReconciledDay } from './present.ts';
import * as reconciliationSchema from './reconciliation-schema.ts';
import { requestReconciliation, closeDiscrepancy } from './reconciliation.ts';

export type ReconciliationRouteDeps = { db: Knex; clock: Clock; findProvider: FindProvider };

/** What providers' lists and our books do not agree on, and the money that came to the bank. */
export function reconciliationRoutes(deps: ReconciliationRouteDeps): Route[] {
  return [...queryRoutes(deps), ...decisionRoutes(deps), ...bankMoneyRoutes(deps)];
}

function queryRoutes({ db, clock }: ReconciliationRouteDeps): Route[] {
  return [
    readRoute({
      method: 'GET',
      path: '/api/ops/reconciliation',
      operationId: 'opsListReconciledDays',
      tag: 'Operators',
      summary: "How channels' days compare with the providers' own lists, the latest first",
      description: 'The days default to the last 30, at most 93 apart.',
      auth: ANY_OPERATOR,
      rateLimit: 'list',
      query: reconciliationSchema.DayQuery,
      responses: { 200: z.array(reconciliationSchema.ReconciledDay) },
      handle: async ({ query }) => {
        const { environment, channel } = query;
        const { startDate, endDate } = readDayRange(query, clock());
        const days = await listReconciledDays(db, { startDate, endDate, environment, channel });
        return { message: 'Days retrieved', data: days.map(presentReconciledDay) };
      },
    }),
    readRoute({
      method: 'GET',
      path: '/api/ops/reconciliation/differences',
      operationId: 'opsListDifferences',
      tag: 'Operators',
      summary: "What providers' lists and our books do not agree on, the newest first",
      auth: ANY_OPERATOR,
      rateLimit: 'list',
      query: reconciliationSchema.DifferenceQuery,
      responses: { 200: z.array(reconciliationSchema.Difference) },
      paginated: true,
      handle: async ({ query }) => {
        const { state, environment, channel, kind, day } = query;
        const filter = { open: state && state === 'OPEN', environment, channel, kind, day };
        const { rows, pagination } = await listDiscrepancies(db, filter, readPage(query));
        return { message: 'Differences retrieved', data: rows.map(presentDifference), pagination };
      },
    }),
  ];
}

function decisionRoutes(deps: ReconciliationRouteDeps): Route[] {
  return [
    writeRoute({
      method: 'POST',
      path: '/api/ops/reconciliation/run',
      operationId: 'opsRunReconciliation',
      tag: 'Operators',
      summary: "Compare a day with the providers' lists, again or for the first time",
      auth: requirePermission('reconciliation.run'),
      body: reconciliationSchema.DayToCompare,
      responses: { 202: z.array(reconciliationSchema.ChannelDay) },
      handle: async (input) => {
        const days = await requestReconciliation(auditContextOf(input, deps), input.body, deps);
        return { status: 202, message: 'Asked for', data: days };
      },
    }),
    writeRoute({
      method: 'POST',
      path: '/api/ops/reconciliation/differences/:differenceId/close',
      operationId: 'opsCloseDifference',
      tag: 'Operators',
      summary: 'Close a difference that was looked into; it moves no money',
      auth: requirePermission('reconciliation.close'),
      params: reconciliationSchema.DifferenceParams,
      body: reconciliationSchema.Closing,
      responses: { 200: reconciliationSchema.Difference },
      errors: ['INVALID_STATE'],
      handle: async (input) => {
        const difference = await closeDiscrepancy(auditContextOf(input, deps), { ...input.params, ...input.body });
        return { message: 'Difference closed', data: presentDifference(difference) };
      },
    }),
  ];
}
