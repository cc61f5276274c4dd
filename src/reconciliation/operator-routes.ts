import { z } from 'zod';

import { operatorListRoute, operatorReadRoute, operatorRoute, type WorkflowUrl } from '../access/operator-route.ts';
import { Reason } from '../access/operator-schema.ts';
import type { Route } from '../http/route.ts';
import type { Clock } from '../lib/clock.ts';
import type { Database } from '../lib/db.ts';
import { toBirr, type Santim } from '../lib/money.ts';
import { readDayRange } from '../lib/pagination.ts';
import type { FindProvider } from '../providers/provider.ts';
import { closeDiscrepancy, listDiscrepancies, type Discrepancy } from './discrepancies.ts';
import { requestRun } from './request.ts';
import { listReconciledDays, type ReconciledDay } from './runs.ts';
import * as schema from './schema.ts';
import type { SideSums } from './states.ts';
import { reconciliationWorkflowId } from './workflow.ts';

type Deps = { db: Database; clock: Clock; findProvider: FindProvider; workflowUrl: WorkflowUrl };

/** The comparison of providers' statements with our ledger, and the discrepancies. */
export function reconciliationOperatorRoutes({ db, clock, findProvider, workflowUrl }: Deps): Route[] {
  return [
    operatorReadRoute('GET /api/ops/reconciliation', {
      operationId: 'opsListReconciledDays',
      cli: { name: 'reconciliation list', columns: 'day channel status isRunning discrepancies owed comparedAt error' },
      summary: "List the days of channels compared with the providers' statements, latest first",
      description: 'The days default to the last 30, at most 93 apart.',
      rateLimit: 'list',
      query: schema.DayQuery,
      responses: { 200: z.array(schema.ReconciledDay) },
      handle: async ({ query, at }) => {
        const { environment, channel } = query;
        const days = await listReconciledDays(db, readDayRange(query, at), { environment, channel });
        return { message: 'Days retrieved', data: days.map((day) => presentDay(day, workflowUrl)) };
      },
    }),
    operatorListRoute('GET /api/ops/reconciliation/discrepancies', {
      operationId: 'opsListDiscrepancies',
      cli: {
        name: 'reconciliation list-discrepancies',
        columns: 'detectedAt discrepancyId channel day kind ours theirs orderId',
      },
      summary: "List the discrepancies between providers' statements and our ledger, newest first",
      query: schema.DiscrepancyQuery,
      item: schema.ListedDiscrepancy,
      names: { db, fields: ['closedBy'] },
      name: 'Discrepancies',
      list: (query, page) => listDiscrepancies(db, query, page),
      present: presentDiscrepancy,
    }),
    operatorRoute('POST /api/ops/reconciliation/run', {
      operationId: 'opsRunReconciliation',
      cli: { name: 'reconciliation run', columns: 'day environment channel' },
      summary: "Compare a day with the providers' statements, again or for the first time",
      action: 'reconciliation.run',
      body: schema.DayToCompare,
      responses: { 202: z.array(schema.ChannelDay) },
      run: async ({ tx }, { body }) => {
        const { day: resourceId, environment } = body;
        const requested = await requestRun(tx, { clock, findProvider }, body);
        const after = { days: requested.map((one) => `${one.environment} ${one.channel}`) };
        const about = { resourceType: 'reconciliation', resourceId, ...(environment && { environment }) } as const;
        return { status: 202, message: 'Requested', data: requested, audit: { ...about, after } };
      },
    }),
    operatorRoute('POST /api/ops/reconciliation/discrepancies/:discrepancyId/close', {
      operationId: 'opsCloseDiscrepancy',
      cli: { name: 'reconciliation close-discrepancy', confirm: true },
      summary: 'Close a discrepancy that was investigated; posts nothing',
      action: 'reconciliation.close',
      params: schema.DiscrepancyParams,
      body: Reason,
      responses: { 200: schema.Discrepancy },
      errors: ['INVALID_STATE'],
      run: async ({ tx, operatorId, at }, { params, body: { reason } }) => {
        const discrepancy = await closeDiscrepancy(tx, params.discrepancyId, { operatorId, reason, at });
        const { id: resourceId, environment, kind, orderId, closedAt } = discrepancy;
        const after = { kind, orderId, closed: true };
        // One that was closed before has another time of closing.
        const isNew = closedAt?.getTime() === at.getTime();
        const audit = isNew ? ({ resourceType: 'discrepancy', resourceId, environment, after } as const) : null;
        return { message: 'Discrepancy closed', data: presentDiscrepancy(discrepancy), audit };
      },
    }),
  ];
}

function presentDiscrepancy(discrepancy: Discrepancy) {
  const { id, account, orderStatus, bookedSantim, listedSantim, listedCurrency } = discrepancy;
  return {
    ...discrepancy,
    discrepancyId: id,
    account: account || null,
    ourStatus: orderStatus,
    ours: birr(bookedSantim),
    theirs: birr(listedSantim),
    theirCurrency: listedCurrency,
  };
}

const birr = (santim: Santim | null) => (santim === null ? null : toBirr(santim));

function presentDay(row: ReconciledDay, workflowUrl: WorkflowUrl) {
  const { listed, booked, clearingSantim } = row;
  return {
    ...row,
    theirs: listed && presentSums(listed),
    ours: booked && presentSums(booked),
    owed: birr(clearingSantim),
    temporalUrl: workflowUrl(reconciliationWorkflowId(row.id)),
  };
}

function presentSums(sums: SideSums) {
  const sum = ({ count, santim }: SideSums['payments']) => ({ count, amount: toBirr(BigInt(santim)) });
  const { payments, payouts, reversals, refunds } = sums;
  return { payments: sum(payments), payouts: sum(payouts), reversals: sum(reversals), refunds: sum(refunds) };
}
