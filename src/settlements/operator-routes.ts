import { z } from 'zod';

import type { AuditContext } from '../access/audit.ts';
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
import type { ErrorCode } from '../lib/errors.ts';
import { maskDigits } from '../lib/mask.ts';
import { toSantim } from '../lib/money.ts';
import { readDayRange } from '../lib/pagination.ts';
import { readTimeline } from '../lib/timeline.ts';
import { readRequestedBy } from '../merchants/operations.ts';
import { settingRoutes } from '../merchants/setting-routes.ts';
import type { RunInTransaction, UnitOfWork } from '../outbox/record.ts';
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
  return [...queryRoutes(deps), ...COMMANDS, ...bankFileRoutes(deps), ...limitRoutes(deps)];
}

/** The commands, as the last part of their path; `settlement.` and this is their action. */
type SettlementCommand = (typeof LINKS)[SettlementStatus][number] | 'book-credit' | 'dismiss-credit';

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
        columns: 'requestedAt settlementId merchantName amount status expectedBy bankReference',
      },
      summary: 'List settlements of all merchants, newest first; account numbers are masked but for four digits',
      description: 'The days default to the last 30, at most 93 apart.',
      query: schema.OperatorListQuery,
      item: schema.ListedSettlement,
      names: { db, fields: ['merchantId'] },
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
          readRequestedBy(db, row, { approvedBy: row.approvedBy, sentBy: row.sentBy }),
          readSettledBefore(db, row),
          readTimeline(db, row.id),
        ]);
        const more = { ...requested, bankName: BANKS[row.bankCode], settledBefore, timeline, links: linksOf(row) };
        return { message: 'Settlement retrieved', data: { ...present(row), ...more } };
      },
    }),
  ];
}

/** The parts of {@link commandRoute} in which commands differ. `issue`: why nothing is booked, for a 202. */
type Command<Body extends z.ZodType> = Pick<Route, 'operationId' | 'summary' | 'description'> & {
  body: Body;
  responses?: Route['responses'];
  errors?: ErrorCode[];
  run: (tx: UnitOfWork, id: string, command: AuditContext & z.output<Body>) => Promise<TransitionResult>;
  issue?: (settlement: SettlementRow, body: z.output<Body>) => string | null;
};

/** A command by its last part of the path, and its verb in the CLI, which shows the settlement and asks for confirmation. */
function commandRoute<Body extends z.ZodType<object>>(
  name: SettlementCommand,
  verb: string,
  { run, issue = () => null, errors = [], ...command }: Command<Body>,
): Route {
  return operatorRoute(`POST /api/ops/settlements/:settlementId/${name}`, {
    responses: { 200: schema.OperatorSettlement },
    ...command,
    cli: { name: `settlements ${verb}`, confirm: '/api/ops/settlements/{settlementId}' },
    action: `settlement.${name}`,
    params: schema.OperatorParams,
    errors: ['INVALID_STATE', ...errors],
    run: async (context, { params, body }) => {
      const result = await run(context.tx, params.settlementId, { ...context, ...body });
      const { settlement } = result;
      const problem = issue(settlement, body);
      return {
        status: problem === null ? 200 : 202,
        message: problem ?? `Settlement is ${settlement.status}`,
        data: presentForOperators(settlement),
        audit: settlementAudit(result),
      };
    },
  });
}

const COMMANDS: readonly Route[] = [
  commandRoute('approve', 'approve', {
    operationId: 'opsApproveSettlement',
    summary: 'Approve a settlement; in live the operator behind the request cannot',
    body: OptionalReason,
    run: approveSettlement,
  }),
  commandRoute('reject', 'reject', {
    operationId: 'opsRejectSettlement',
    summary: 'Reject a settlement; its money is available again, and the merchant sees the reason',
    body: Reason,
    run: rejectSettlement,
  }),
  commandRoute('sent', 'mark-sent', {
    operationId: 'opsSettlementSent',
    summary: 'Claim a settlement for sending: the operator who gets 200 orders the transfer, all others get 409',
    description: 'In live the operator who approved it cannot send it.',
    body: schema.SettlementSent,
    run: bank.markSent,
  }),
  commandRoute('credited', 'mark-credited', {
    operationId: 'opsSettlementCredited',
    summary: 'Record that the bank has credited a settlement, under its trace id: the settlement is complete',
    description:
      'One that has FAILED remains FAILED: 202, nothing is booked, and it is in the queue (SETTLEMENT_CREDITED_LATE). A trace id is booked once.',
    body: schema.SettlementCredited,
    responses: { 200: schema.OperatorSettlement, 202: schema.OperatorSettlement },
    errors: ['DUPLICATE_REFERENCE'],
    run: async (tx, id, { creditedOn, amount, ...credit }) => {
      const amountSantim = amount === undefined ? undefined : toSantim(amount);
      return bank.markCredited(tx, id, { ...credit, creditedAt: startOfAddisDay(creditedOn), amountSantim });
    },
    issue: (settlement, { bankReference }) => bank.lateCreditIssue(settlement, bankReference),
  }),
  commandRoute('failed', 'mark-failed', {
    operationId: 'opsSettlementFailed',
    summary: 'Record that the bank has not credited a settlement: its money is available again',
    body: schema.SettlementFailed,
    run: bank.markFailed,
  }),
  commandRoute('returned', 'mark-returned', {
    operationId: 'opsSettlementReturned',
    summary: 'Record that the bank has sent back a credited settlement: its money and fee are available again',
    description: 'The settlement is FAILED with returnedAt. bankReference is the trace id of the return.',
    body: schema.SettlementReturned,
    errors: ['DUPLICATE_REFERENCE'],
    run: bank.markReturned,
  }),
  commandRoute('book-credit', 'accept-late-credit', {
    operationId: 'opsBookLateCredit',
    summary: 'Book the credit of a settlement that had failed: completes it and debits its money again',
    body: Reason,
    errors: ['DUPLICATE_REFERENCE', 'INSUFFICIENT_BALANCE'],
    run: bank.bookLateCredit,
  }),
  commandRoute('dismiss-credit', 'dismiss-late-credit', {
    operationId: 'opsDismissLateCredit',
    summary: 'Dismiss the reported credit of a settlement that had failed, because there was none or it was taken back',
    body: Reason,
    run: bank.dismissLateCredit,
  }),
];

const FILE_BYTES_MAX = 1024 * 1024;

const BANK_FILE = {
  tag: 'Operators',
  auth: requirePermission('settlement.credited'),
  body: UploadedFile,
  upload: { types: ['text/csv'], bytesMax: FILE_BYTES_MAX },
  responses: { 200: schema.BankFileReport },
} as const;

function bankFileRoutes(deps: Deps): Route[] {
  const importFile = async (bytes: Buffer, by: { operatorId: string; requestId: string }, isPreview = false) => {
    const data = await importBankFile({ ...deps, isPreview }, { ...by, text: bytes.toString('utf8') });
    const { applied, already, wrong } = data;
    const booked = `${applied.length} ${isPreview ? 'would be booked' : 'booked'}`;
    return { message: `${booked}, ${already.length} were so before, ${wrong.length} are wrong`, data };
  };
  return [
    readRoute('POST /api/ops/settlements/bank-file', {
      ...BANK_FILE,
      operationId: 'opsImportBankFile',
      cli: { name: 'settlements import-bank-file', confirm: true },
      summary: "Import the bank's results from a CSV file: settlementId,result,bankReference,date,reason",
      description:
        "result is credited (with bankReference and date; an amount, if there is the column, must be the settlement's), failed (with reason), or returned: credited and sent back later (with the bankReference of the return, and reason). Each line is booked by itself: an error in one does not affect the others. Importing the same file again changes nothing.",
      handle: async ({ caller: { operatorId }, requestId, body }) => importFile(body.bytes, { operatorId, requestId }),
    }),
    readRoute('POST /api/ops/settlements/bank-file/preview', {
      ...BANK_FILE,
      operationId: 'opsPreviewBankFile',
      cli: { name: 'settlements preview-bank-file' },
      summary: "What importing the bank's file would do, line by line; nothing is booked",
      description: 'A settlement or reference that is in the file twice is wrong in its second line.',
      handle: async ({ caller: { operatorId }, requestId, body }) =>
        importFile(body.bytes, { operatorId, requestId }, true),
    }),
  ];
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
