import {
  actionLinks,
  operatorListRoute,
  operatorReadRoute,
  operatorRoute,
  type WorkflowUrl,
} from '../access/operator-route.ts';
import { OptionalReason, Reason } from '../access/operator-schema.ts';
import { requirePermission } from '../access/permissions.ts';
import { UploadedFile } from '../http/body.ts';
import { readRoute, type Route } from '../http/route.ts';
import { BANKS } from '../lib/banks.ts';
import type { Clock } from '../lib/clock.ts';
import { startOfAddisDay } from '../lib/dates.ts';
import type { Database } from '../lib/db.ts';
import { maskDigits } from '../lib/mask.ts';
import { toSantim } from '../lib/money.ts';
import { readDayRange } from '../lib/pagination.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readRequestedBy } from '../merchants/operations.ts';
import { settingRoutes } from '../merchants/setting-routes.ts';
import type { RunInTransaction } from '../outbox/record.ts';
import { importBankFile } from './bank-file.ts';
import * as bank from './bank-results.ts';
import { approveSettlement, rejectSettlement } from './decide.ts';
import { presentLimit, readSettlementLimit, setSettlementLimit } from './limit.ts';
import { presentForOperators } from './present.ts';
import { listSettlements, readSettledBefore, readSettlement, type SettlementRow } from './queries.ts';
import * as schema from './schema.ts';
import type { SettlementStatus } from './states.ts';
import { settlementAudit, type TransitionResult } from './transition.ts';
import { settlementWorkflowId } from './workflow.ts';

type Deps = { db: Database; clock: Clock; runInTransaction: RunInTransaction; workflowUrl: WorkflowUrl };

/** The settlements of all merchants, their way to the bank, and their limits. */
export function settlementOperatorRoutes(deps: Deps): Route[] {
  return [
    ...queryRoutes(deps),
    ...reviewRoutes(),
    ...bankRoutes(),
    ...lateCreditRoutes(),
    bankFileRoute(deps),
    ...limitRoutes(deps),
  ];
}

/** The commands that each status allows. */
const LINKS = {
  REQUESTED: ['approve', 'reject'],
  APPROVED: ['sent', 'failed'],
  PROCESSING: ['credited', 'failed'],
  COMPLETED: ['returned'],
  FAILED: [],
  REJECTED: [],
  CANCELLED: [],
} as const satisfies Record<SettlementStatus, readonly string[]>;

function linksOf({ id, status, lateCredit, lateCreditResolution }: SettlementRow) {
  const isLate = lateCredit !== null && lateCreditResolution === null;
  return actionLinks(`settlements/${id}`, ...(isLate ? ['book-credit', 'dismiss-credit'] : LINKS[status]));
}

function queryRoutes({ db, workflowUrl }: Deps): Route[] {
  const present = (row: SettlementRow) => ({
    ...presentForOperators(row),
    temporalUrl: workflowUrl(settlementWorkflowId(row.id)),
  });
  return [
    operatorListRoute('GET /api/ops/settlements', {
      operationId: 'opsListSettlements',
      cli: {
        name: 'settlements list',
        columns: 'requestedAt settlementId merchantId amount status expectedBy bankReference',
      },
      summary: 'List settlements of all merchants, newest first; account numbers are masked but for four digits',
      description: 'The days default to the last 30, at most 93 apart.',
      query: schema.OperatorListQuery,
      item: schema.OperatorSettlement,
      name: 'Settlements',
      list: async (query, page, at) =>
        listSettlements(db, { ...query, range: readDayRange(query, at), statuses: query.status ?? null }, page),
      present: (row) => present({ ...row, accountNumber: maskDigits(row.accountNumber) }),
    }),
    operatorReadRoute('GET /api/ops/settlements/:settlementId', {
      operationId: 'opsGetSettlement',
      cli: 'settlements get',
      summary: 'Get a settlement for its approval and its transfer, with the unmasked account number',
      permission: 'settlement.sent',
      params: schema.OperatorParams,
      responses: { 200: schema.OperatorSettlementDetail },
      handle: async ({ params }) => {
        const row = await readSettlement(db, params.settlementId);
        const [requested, settledBefore, timeline] = await Promise.all([
          readRequestedBy(db, row),
          readSettledBefore(db, row),
          readTimeline(db, row.id),
        ]);
        const more = { ...requested, bankName: BANKS[row.bankCode], settledBefore, timeline, links: linksOf(row) };
        return { message: 'Settlement retrieved', data: { ...present(row), ...more } };
      },
    }),
  ];
}

/** What every command declares. The CLI shows the settlement and asks for confirmation. */
const command = (verb: string) => ({
  cli: { name: `settlements ${verb}`, confirm: '/api/ops/settlements/{settlementId}' } as const,
  params: schema.OperatorParams,
  responses: { 200: schema.OperatorSettlement },
  errors: ['INVALID_STATE' as const],
});

/** `issue`: why nothing is booked, for a 202. */
function changed(result: TransitionResult, issue: string | null = null) {
  const { settlement } = result;
  return {
    status: issue === null ? 200 : 202,
    message: issue ?? `Settlement is ${settlement.status}`,
    data: presentForOperators(settlement),
    audit: settlementAudit(result),
  };
}

function reviewRoutes(): Route[] {
  return [
    operatorRoute('POST /api/ops/settlements/:settlementId/approve', {
      ...command('approve'),
      operationId: 'opsApproveSettlement',
      summary: 'Approve a settlement; in live the operator behind the request cannot',
      action: 'settlement.approve',
      body: OptionalReason,
      run: async (context, { params }) => changed(await approveSettlement(context.tx, params.settlementId, context)),
    }),
    operatorRoute('POST /api/ops/settlements/:settlementId/reject', {
      ...command('reject'),
      operationId: 'opsRejectSettlement',
      summary: 'Reject a settlement; its money is available again, and the merchant sees the reason',
      action: 'settlement.reject',
      body: Reason,
      run: async (context, { params, body }) =>
        changed(await rejectSettlement(context.tx, params.settlementId, { ...context, ...body })),
    }),
  ];
}

function bankRoutes(): Route[] {
  return [
    operatorRoute('POST /api/ops/settlements/:settlementId/sent', {
      ...command('mark-sent'),
      operationId: 'opsSettlementSent',
      summary: 'Claim a settlement for sending: the operator who gets 200 orders the transfer, all others get 409',
      description: 'In live the operator who approved it cannot send it.',
      action: 'settlement.sent',
      body: schema.SettlementSent,
      run: async (context, { params, body }) =>
        changed(await bank.markSent(context.tx, params.settlementId, { ...context, ...body })),
    }),
    operatorRoute('POST /api/ops/settlements/:settlementId/credited', {
      ...command('mark-credited'),
      operationId: 'opsSettlementCredited',
      summary: 'Record that the bank has credited a settlement, under its trace id: the settlement is complete',
      description:
        'One that has FAILED remains FAILED: 202, nothing is booked, and it is in the queue (SETTLEMENT_CREDITED_LATE). A trace id is booked once.',
      action: 'settlement.credited',
      body: schema.SettlementCredited,
      responses: { 200: schema.OperatorSettlement, 202: schema.OperatorSettlement },
      errors: ['INVALID_STATE', 'DUPLICATE_REFERENCE'],
      run: async (context, { params, body: { creditedOn, amount, bankReference } }) => {
        const amountSantim = amount === undefined ? undefined : toSantim(amount);
        const credit = { bankReference, creditedAt: startOfAddisDay(creditedOn), amountSantim };
        const result = await bank.markCredited(context.tx, params.settlementId, { ...context, ...credit });
        return changed(result, bank.lateCreditIssue(result.settlement, bankReference));
      },
    }),
    operatorRoute('POST /api/ops/settlements/:settlementId/failed', {
      ...command('mark-failed'),
      operationId: 'opsSettlementFailed',
      summary: 'Record that the bank has not credited a settlement: its money is available again',
      action: 'settlement.failed',
      body: schema.SettlementFailed,
      run: async (context, { params, body }) =>
        changed(await bank.markFailed(context.tx, params.settlementId, { ...context, ...body })),
    }),
    operatorRoute('POST /api/ops/settlements/:settlementId/returned', {
      ...command('mark-returned'),
      operationId: 'opsSettlementReturned',
      summary: 'Record that the bank has sent back a credited settlement: its money and fee are available again',
      description: 'The settlement is FAILED with returnedAt. bankReference is the trace id of the return.',
      action: 'settlement.returned',
      body: schema.SettlementReturned,
      errors: ['INVALID_STATE', 'DUPLICATE_REFERENCE'],
      run: async (context, { params, body }) =>
        changed(await bank.markReturned(context.tx, params.settlementId, { ...context, ...body })),
    }),
  ];
}

function lateCreditRoutes(): Route[] {
  return [
    operatorRoute('POST /api/ops/settlements/:settlementId/book-credit', {
      ...command('accept-late-credit'),
      operationId: 'opsBookLateCredit',
      summary: 'Book the credit of a settlement that had failed: completes it and debits its money again',
      action: 'settlement.book-credit',
      body: Reason,
      errors: ['INVALID_STATE', 'DUPLICATE_REFERENCE', 'INSUFFICIENT_BALANCE'],
      run: async (context, { params }) => changed(await bank.bookLateCredit(context.tx, params.settlementId, context)),
    }),
    operatorRoute('POST /api/ops/settlements/:settlementId/dismiss-credit', {
      ...command('dismiss-late-credit'),
      operationId: 'opsDismissLateCredit',
      summary:
        'Dismiss the reported credit of a settlement that had failed, because there was none or it was taken back',
      action: 'settlement.dismiss-credit',
      body: Reason,
      run: async (context, { params, body }) =>
        changed(await bank.dismissLateCredit(context.tx, params.settlementId, { ...context, ...body })),
    }),
  ];
}

const FILE_BYTES_MAX = 1024 * 1024;

function bankFileRoute({ runInTransaction, clock }: Deps): Route {
  return readRoute('POST /api/ops/settlements/bank-file', {
    operationId: 'opsImportBankFile',
    cli: { name: 'settlements import-bank-file', confirm: true },
    tag: 'Operators',
    summary: "Import the bank's results from a CSV file: settlementId,result,bankReference,date,reason",
    description:
      "result is credited (with bankReference and date; an amount, if there is the column, must be the settlement's), failed (with reason), or returned: credited and sent back later (with the bankReference of the return, and reason). Each line is booked by itself: an error in one does not affect the others. Importing the same file again changes nothing.",
    auth: requirePermission('settlement.credited'),
    body: UploadedFile,
    upload: { types: ['text/csv'], bytesMax: FILE_BYTES_MAX },
    responses: { 200: schema.BankFileReport },
    handle: async ({ caller: { operatorId }, requestId, body }) => {
      const text = body.bytes.toString('utf8');
      const report = await importBankFile({ runInTransaction, clock }, { operatorId, requestId, text });
      const { applied, already, wrong } = report;
      const message = `${applied.length} booked, ${already.length} were so before, ${wrong.length} are wrong`;
      return { message, data: report };
    },
  });
}

function limitRoutes(deps: Deps): Route[] {
  return settingRoutes(deps, {
    path: 'settlement-limit',
    name: 'Settlement limit',
    get: { operationId: 'opsGetSettlementLimit', summary: 'Get the lowest and highest amount of a settlement' },
    put: {
      operationId: 'opsChangeSettlementLimit',
      summary: 'Change the lowest and highest amount of a future settlement',
    },
    action: 'merchant.change-settlement-limit',
    body: schema.SettlementLimitChange,
    response: schema.OperatorSettlementLimit,
    read: async (db, { merchantId }) => presentLimit(await readSettlementLimit(db, merchantId)),
    write: (trx, { merchantId }, { min, max }) =>
      setSettlementLimit(trx, { merchantId, minSantim: toSantim(min), maxSantim: toSantim(max) }),
  });
}
